#include "frontends/native/client/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

namespace stoa::native {
namespace {

constexpr std::size_t kKeyFileBytesMax = 4096;

}  // namespace

Result<ClientKey> read_key_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_errno(errno, "the key file " + path + " cannot be opened");
  struct stat status{};
  std::string text(kKeyFileBytesMax + 1, '\0');
  const bool known = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const ssize_t n = known ? read(fd, text.data(), text.size()) : -1;
  close(fd);
  if (n < 0 || static_cast<std::size_t>(n) > kKeyFileBytesMax)
    return fail(Errc::kInvalid, "the key file " + path + " is no small file");
  if ((status.st_mode & 077) != 0)
    return fail(Errc::kAccess, "the key file " + path + " may be read by others; chmod 600 mends that");
  text.resize(static_cast<std::size_t>(n));

  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string kind, more;
    ClientKey key;
    words >> kind >> key.key >> key.secret;
    if (key.secret.empty() || words >> more || (kind != "user" && kind != "host")) break;
    key.kind = kind == "host" ? KeyKind::kHost : KeyKind::kUser;
    return key;
  }
  return fail(Errc::kInvalid, "the key file " + path + " has no line \"user KEY SECRET\" or \"host KEY SECRET\"");
}

}  // namespace stoa::native
