#include "bench/load/posix_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>

#include "bench/load/block_stamp.h"
#include "bench/load/die.h"

namespace stoa::bench {

OpenedFile::OpenedFile(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}

OpenedFile::~OpenedFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::unexpected<std::string> failed_call(const char* call) {
  return std::unexpected(std::string(call) + ": " + std::strerror(errno));
}

std::string thread_directory(const PosixOptions& options, const std::string& name, unsigned thread) {
  return options.directory + "/" + name + "/t" + std::to_string(thread);
}

void make_directories(const PosixOptions& options, const std::string& name) {
  const std::string above = options.directory + "/" + name;
  if (::mkdir(above.c_str(), 0755) != 0) die("mkdir " + above + ": " + std::strerror(errno));
  for (unsigned thread = 0; thread < options.threads; ++thread) {
    const std::string path = thread_directory(options, name, thread);
    if (::mkdir(path.c_str(), 0755) != 0) die("mkdir " + path + ": " + std::strerror(errno));
  }
}

std::string run_name(const PosixOptions& options) {
  return "run-" + options.load + "-" + options.tag;
}

bool is_prepared(const PosixOptions& options, const std::string& name, bool must) {
  const std::string mark = options.directory + "/" + name + "-done";
  if (::access(mark.c_str(), F_OK) == 0) return true;
  if (must) die(name + " is not prepared (--prepare)");
  return false;
}

void set_prepared(const PosixOptions& options, const std::string& name) {
  const std::string mark = options.directory + "/" + name + "-done";
  if (::mkdir(mark.c_str(), 0755) != 0) die("mkdir " + mark + ": " + std::strerror(errno));
}

Tried write_small_file(const std::string& path, bool durable) {
  alignas(kStampEvery) static thread_local std::array<char, kSmallBytes> data{};
  stamp(data.data(), data.size(), 0);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return failed_call("open");
  const bool written = ::write(fd, data.data(), data.size()) == static_cast<ssize_t>(data.size());
  const bool synced = written && (!durable || ::fsync(fd) == 0);
  const Tried wrong = synced ? Tried{} : failed_call(written ? "fsync" : "write");
  if (::close(fd) != 0 && synced) return failed_call("close");
  if (!synced) return wrong;
  return Finished{.bytes = data.size()};
}

std::vector<std::uint32_t> shuffled(std::uint64_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

void must_succeed(const Outcome& outcome, const std::string& what) {
  if (outcome.errors() > 0) die("preparing failed (" + what + "): " + outcome.first_error());
}

}  // namespace stoa::bench
