#include "backends/blob/local/identity.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>

namespace stoa::blob_local {
namespace {

constexpr const char* kFileName = "identity";
constexpr const char* kMagic = "stoa-blobs";
constexpr const char* kEarlyMagic = "stoa-blob-directory";  // development versions before 0.1.0
constexpr int kFormat = 1;
constexpr std::size_t kSmallFileBytesMax = 16384;  // two paths

Status write_all(int fd, const std::string& content) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t put = ::write(fd, content.data() + done, content.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno(errno, "write");
    done += static_cast<std::size_t>(put);
  }
  if (::fsync(fd) != 0) return fail_errno(errno, "sync");
  return {};
}

std::ostream& operator<<(std::ostream& out, const core::Generation& generation) {
  return out << generation.number << ' ' << generation.nonce << ' ' << generation.seconds;
}

std::optional<core::Generation> parse_generation(const std::string& text) {
  std::istringstream in(text);
  core::Generation generation;
  in >> generation.number >> generation.nonce >> generation.seconds;
  return in ? std::optional(generation) : std::nullopt;
}

}  // namespace

Status write_small_file(const std::string& directory, const std::string& name, const std::string& content) {
  const std::string path = directory + "/" + name;
  const std::string fresh = path + ".new";
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail_errno(errno, "create " + fresh);
  const Status written = write_all(fd, content);
  ::close(fd);
  if (!written) return fail(Error{written.error().code, written.error().sys_errno, fresh});
  if (::rename(fresh.c_str(), path.c_str()) != 0) return fail_errno(errno, "rename " + fresh);
  const int folder = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return fail_errno(errno, "open " + directory);
  const int synced = ::fsync(folder);
  const int error = errno;
  ::close(folder);
  if (synced != 0) return fail_errno(error, "sync " + directory);
  return {};
}

Result<std::optional<std::string>> read_small_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return std::optional<std::string>{};
    return fail_errno(errno, "open " + path);
  }
  std::array<char, kSmallFileBytesMax> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  const int error = errno;
  ::close(fd);
  if (got < 0) return fail_errno(error, "read " + path);
  return std::optional<std::string>(std::string(buffer.data(), static_cast<std::size_t>(got)));
}

// Golden in identity_test:
//   stoa-blobs 1 STORE INDEX COUNT
//   volume ID
//   generation NUMBER NONCE SECONDS
//   next NUMBER NONCE SECONDS               (only while it is being raised)
//   home PATH
//   place PATH
Result<std::optional<Identity>> read_identity(const std::string& directory) {
  const std::string path = directory + "/" + kFileName;
  STOA_TRY(content, read_small_file(path));
  if (!content) return std::optional<Identity>{};
  std::istringstream in(*content);
  std::string line;
  std::getline(in, line);
  std::istringstream head(line);
  std::string magic;
  int format = 0;
  Identity identity;
  head >> magic >> format >> identity.store >> identity.index >> identity.count;
  const auto unreadable = [&] { return fail(Cause::kBlobIdentityDamaged, path); };
  if (magic == kEarlyMagic) {
    return fail(Cause::kBlobEarly, directory);
  }
  if (!head || magic != kMagic) return unreadable();
  if (format > kFormat) return fail(Cause::kBlobFormatNewer, directory);
  bool has_generation = false;
  while (std::getline(in, line)) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string rest = space < line.size() ? line.substr(space + 1) : std::string();
    if (word == "volume") identity.volume = rest;
    if (word == "home") identity.home = rest;
    if (word == "place") identity.place = rest;
    if (word != "generation" && word != "next") continue;
    const auto generation = parse_generation(rest);
    if (!generation) return unreadable();
    if (word == "next") {
      identity.next = generation;
    } else {
      identity.generation = *generation;
      has_generation = true;
    }
  }
  if (!has_generation) return unreadable();
  return std::optional<Identity>(identity);
}

Status write_identity(const std::string& directory, const Identity& identity) {
  std::ostringstream out;
  out << kMagic << ' ' << kFormat << ' ' << identity.store << ' ' << identity.index << ' ' << identity.count << '\n'
      << "volume " << identity.volume << '\n'
      << "generation " << identity.generation << '\n';
  if (identity.next) out << "next " << *identity.next << '\n';
  // They are hints: a path that does not fit on a line is left out.
  for (const auto& [word, path] : {std::pair("home", &identity.home), std::pair("place", &identity.place)}) {
    if (!path->empty() && path->find('\n') == std::string::npos) out << word << ' ' << *path << '\n';
  }
  return write_small_file(directory, kFileName, out.str());
}

std::string new_store_name() {
  std::array<unsigned char, 16> bytes{};
  // getrandom(2) of up to 256 bytes neither fails nor comes short once the pool is ready.
  while (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (const unsigned char byte : bytes) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

}  // namespace stoa::blob_local
