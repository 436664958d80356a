// ACLs as text: accepted input prints to text that parses to the same ACL.
#include "base/assert.h"
#include "core/api/acl_text.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace stoa;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const core::FindIdentity find = [](std::string_view name, bool group) -> std::optional<std::uint32_t> {
    return name == (group ? "staff" : "ann") ? std::optional<std::uint32_t>(7) : std::nullopt;
  };
  const auto parsed = core::parse_acl(text, find);
  if (!parsed) {
    STOA_ASSERT(parsed.error().code == Errc::kInvalid && parsed.error().cause != Cause::kNone);
    return 0;
  }
  STOA_ASSERT(parsed->acl.entries.size() <= core::kAclEntriesMax);
  const auto again = core::parse_acl(core::print_acl(parsed->acl), find);
  STOA_ASSERT(again && again->acl == parsed->acl);
  return 0;
}
