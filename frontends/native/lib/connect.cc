// Beginning and end of a session.
#include <cstdlib>
#include <cstring>

#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/handles.h"

namespace stoa::native::lib {
namespace {

constexpr std::uint32_t kChannels = 2;  // large reads and writes do not wait behind each other
constexpr std::uint32_t kChannelsMax = 16;
constexpr std::uint64_t kBudgetLeast = 16u << 20;  // a few of the largest messages

Result<std::string> from_environment(const char* given, const char* variable) {
  if (given == nullptr) given = std::getenv(variable);
  if (given == nullptr) return fail(Errc::kInvalid, std::string("neither the option nor ") + variable + " is set");
  return std::string(given);
}

Result<LibraryOptions> to_library(const stoa_options& options) {
  if (options.spare != 0 || options.channels > kChannelsMax) return fail(Errc::kInvalid, "channels: 1 to 16");
  const std::uint64_t budget = options.budget_bytes == 0 ? CachedClientOptions::kBudgetBytes : options.budget_bytes;
  if (budget < kBudgetLeast) return fail(Errc::kInvalid, "budget_bytes: 0, or 16 MiB and more");
  STOA_TRY(url, from_environment(options.url, "STOA_NATIVE_URL"));
  if (options.security > STOA_KERBEROS || options.spare2 != 0)
    return fail(Errc::kInvalid, "security: 0 or STOA_KERBEROS");
  const bool kerberos = options.security == STOA_KERBEROS;
  if (kerberos && options.key_file != nullptr)
    return fail(Errc::kInvalid, "a key file and STOA_KERBEROS exclude each other");
  std::string key_file;
  if (!kerberos) {
    STOA_TRY(named, from_environment(options.key_file, "STOA_NATIVE_KEY_FILE"));
    key_file = std::move(named);
  }
  return LibraryOptions{.url = url,
                        .key_file = key_file,
                        .channels = options.channels == 0 ? kChannels : options.channels,
                        .soft = std::chrono::milliseconds(options.soft_ms),
                        .kerberos = kerberos,
                        .budget_bytes = budget};
}

void tell(const stoa_options& options, const Error& error) {
  if (options.why == nullptr || options.why_bytes == 0) return;
  const std::string text = error.detail.empty() ? describe(error) : error.detail;
  options.why[text.copy(options.why, options.why_bytes - 1)] = '\0';
}

}  // namespace
}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int stoa_connect(const stoa_options* options, stoa_fs** fs) {
  return c_status([&]() -> Status {
    // Later versions append members: what an older program has not, is zero.
    stoa_options wanted{};
    if (options->size < offsetof(stoa_options, budget_bytes) + sizeof options->budget_bytes)
      return fail(Errc::kInvalid);
    std::memcpy(&wanted, options, std::min<std::size_t>(options->size, sizeof wanted));
    auto made = [&]() -> Result<std::unique_ptr<stoa_fs>> {
      if (options->size > sizeof wanted) return fail(Errc::kInvalid, "stoa_options.size is of a newer library");
      STOA_TRY(library, to_library(wanted));
      STOA_TRY(session, LibraryFileSystem::connect(library));
      return std::make_unique<stoa_fs>(std::move(library), std::move(session));
    }();
    if (!made) {
      tell(wanted, made.error());
      return fail(made.error());
    }
    *fs = made->release();
    return {};
  });
}

int stoa_disconnect(stoa_fs* fs) {
  return c_status([&]() -> Status {
    const std::unique_ptr<stoa_fs> ends(fs);
    LibraryFileSystem* const session = fs->session_here();
    return session == nullptr ? Status{} : session->storage().commit_everything().first;
  });
}
