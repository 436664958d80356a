#include "appliance/cli/mount_option_list.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace stoa::cli {
namespace {

using native::mount::MountOptions;

constexpr std::uint32_t kSoftMost = 24 * 60 * 60;

// No file system is told of these. Programs with set-user-id bits and device nodes never have an effect on a mount.
constexpr std::array<std::string_view, 13> kOfMount = {"defaults", "auto",   "noauto", "nofail", "_netdev",
                                                       "user",     "users",  "nouser", "owner",  "group",
                                                       "async",    "nosuid", "nodev"};

bool of_mount(std::string_view word) {
  return std::ranges::find(kOfMount, word) != kOfMount.end() || word.starts_with("x-") || word.starts_with("X-") ||
         word.starts_with("user=") || word.starts_with("comment=");
}

Status set_path(std::string_view name, std::string_view value, std::string& to) {
  if (value.empty())
    return fail(Errc::kInvalid, "the option " + std::string(name) + " needs a file: " + std::string(name) + "=FILE");
  to = value;
  return {};
}

Status set_soft(std::string_view value, MountOptions& options) {
  std::uint32_t seconds = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (failed != std::errc{} || end != value.data() + value.size() || seconds == 0 || seconds > kSoftMost) {
    return fail(Errc::kInvalid, "the option soft needs seconds, 1 to " + std::to_string(kSoftMost) + ", as in soft=30");
  }
  options.soft = std::chrono::seconds(seconds);
  return {};
}

Status set_security(std::string_view value, MountOptions& options) {
  if (value != "krb5") {
    return fail(Errc::kInvalid, "there is no security '" + std::string(value) +
                                    "' for a mount; sec=krb5 logs in by Kerberos, with tls beside it what is sent is "
                                    "protected, too, and without it a key file is used");
  }
  options.kerberos = true;
  return {};
}

// TCP is what there is, so both mean the same.
Status check_transport(std::string_view value) {
  if (value == "auto" || value == "tcp") return {};
  return fail(Errc::kInvalid,
              "there is no transport '" + std::string(value) + "'; there are: transport=auto, transport=tcp");
}

// False: there is no such option.
Result<bool> set_option(std::string_view word, MountOptions& options) {
  const std::size_t equals = word.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    if (name == "key")
      STOA_CHECK_OK(set_path(name, value, options.key_file));
    else if (name == "ca")
      STOA_CHECK_OK(set_path(name, value, options.ca_file));
    else if (name == "sec")
      STOA_CHECK_OK(set_security(value, options));
    else if (name == "transport")
      STOA_CHECK_OK(check_transport(value));
    else if (name == "soft")
      STOA_CHECK_OK(set_soft(value, options));
    else
      return of_mount(word);
    return true;
  }
  if (word == "ro" || word == "rw")
    options.read_only = word == "ro";
  else if (word == "noexec" || word == "exec")
    options.no_programs = word == "noexec";
  else if (word == "tls")
    options.tls = native::TlsWish::kRequired;
  else if (word == "notls")
    options.tls = native::TlsWish::kOff;
  else
    return of_mount(word);
  return true;
}

}  // namespace

Status read_mount_options(std::string_view list, bool sloppy, MountOptions& options) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (word.empty()) continue;
    STOA_TRY(known, set_option(word, options));
    if (!known && !sloppy) {
      return fail(Errc::kInvalid, "there is no option '" + std::string(word) +
                                      "' for a mount; there are: ro, noexec, nosuid, nodev, key=FILE, ca=FILE, "
                                      "sec=krb5, tls, notls, transport=auto|tcp, soft=SECONDS");
    }
  }
  if (options.tls == native::TlsWish::kOff && !options.ca_file.empty()) {
    return fail(Errc::kInvalid, "the options notls and ca exclude each other");
  }
  if (options.kerberos && !options.key_file.empty())
    return fail(Errc::kInvalid, "the options sec=krb5 and key exclude each other");
  return {};
}

}  // namespace stoa::cli
