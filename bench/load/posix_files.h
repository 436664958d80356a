// Files of the loads of posix_load. Those that are made while timed lie under "run-LOAD-TAG", prepared ones under
// "prep-...".
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "bench/load/file_names.h"
#include "bench/load/posix_loads.h"
#include "bench/load/threads.h"

namespace stoa::bench {

inline constexpr std::size_t kSmallBytes = 4096;
inline constexpr std::size_t kLargeBytes = 1 << 20;

// An open file, closed at its end.
class OpenedFile {
 public:
  OpenedFile(const std::string& path, int flags);
  ~OpenedFile();
  OpenedFile(OpenedFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

// "write: No space left on device", by errno.
std::unexpected<std::string> failed_call(const char* call);

// DIRECTORY/NAME/tTHREAD
std::string thread_directory(const PosixOptions& options, const std::string& name, unsigned thread);
// Makes these of all threads; ends the program if one is there.
void make_directories(const PosixOptions& options, const std::string& name);
std::string run_name(const PosixOptions& options);

// Whether what has this name is whole; ends the program unless `must` is false.
bool is_prepared(const PosixOptions& options, const std::string& name, bool must);
void set_prepared(const PosixOptions& options, const std::string& name);

// A fresh file with stamped content (block_stamp.h).
Tried write_small_file(const std::string& path, bool durable);
// 0 to count - 1 in an order that the seed chooses.
std::vector<std::uint32_t> shuffled(std::uint64_t count, std::uint64_t seed);
// Ends the program when a load that prepares has failed.
void must_succeed(const Outcome& outcome, const std::string& what);

}  // namespace stoa::bench
