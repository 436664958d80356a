#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "bench/load/block_stamp.h"
#include "bench/load/die.h"
#include "bench/load/posix_files.h"

namespace stoa::bench {
namespace {

std::string small_files(const PosixOptions& options) {
  return "prep-small-" + std::to_string(options.files) + "-" + std::to_string(options.threads);
}

Tried read_small_file(const std::string& path) {
  std::array<char, kSmallBytes> data;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed_call("open");
  const ssize_t got = ::read(fd, data.data(), data.size());
  const Tried wrong = got < 0 ? failed_call("read") : Tried{};
  if (::close(fd) != 0) return failed_call("close");
  if (got < 0) return wrong;
  if (got != static_cast<ssize_t>(data.size())) return std::unexpected("short read");
  if (!is_stamped(data.data(), data.size(), 0)) return std::unexpected("wrong bytes");
  return Finished{.bytes = data.size()};
}

// Each small file once, in an order of each thread.
void once_each(const PosixOptions& options, Outcome& outcome, Tried (*call)(const std::string& path)) {
  const std::string name = small_files(options);
  (void)is_prepared(options, name, true);
  std::vector<std::vector<std::uint32_t>> orders;
  for (unsigned thread = 0; thread < options.threads; ++thread) {
    orders.push_back(shuffled(options.files_each(), options.seed + thread));
  }
  outcome.begin();
  run_threads(
      {.threads = options.threads, .calls = options.files_each()},
      [&](unsigned thread, std::uint64_t index) {
        return call(thread_directory(options, name, thread) + "/" + small_file_name(orders[thread][index]));
      },
      outcome);
  outcome.end();
}

}  // namespace

void create_files(const PosixOptions& options, Outcome& outcome, bool durable) {
  const std::string name = run_name(options);
  make_directories(options, name);
  outcome.begin();
  run_threads(
      {.threads = options.threads, .calls = options.count_each(), .seconds = options.seconds},
      [&](unsigned thread, std::uint64_t index) {
        return write_small_file(thread_directory(options, name, thread) + "/" + small_file_name(index), durable);
      },
      outcome);
  outcome.end();
}

void unlink_files(const PosixOptions& options, Outcome& outcome) {
  const std::string name = run_name(options);
  make_directories(options, name);
  const ThreadPlan plan{.threads = options.threads, .calls = options.count_each()};
  const auto path = [&](unsigned thread, std::uint64_t index) {
    return thread_directory(options, name, thread) + "/" + small_file_name(index);
  };
  Outcome made;
  run_threads(
      plan,
      [&](unsigned thread, std::uint64_t index) -> Tried {
        if (!OpenedFile(path(thread, index), O_WRONLY | O_CREAT | O_EXCL).is_open()) return failed_call("open");
        return Finished{};
      },
      made);
  must_succeed(made, "files to unlink");
  outcome.begin();
  run_threads(
      plan,
      [&](unsigned thread, std::uint64_t index) -> Tried {
        if (::unlink(path(thread, index).c_str()) != 0) return failed_call("unlink");
        return Finished{};
      },
      outcome);
  outcome.end();
}

void prepare_small_files(const PosixOptions& options) {
  const std::string name = small_files(options);
  Outcome outcome;
  if (!is_prepared(options, name, false)) {
    make_directories(options, name);
    run_threads(
        {.threads = options.threads, .calls = options.files_each()},
        [&](unsigned thread, std::uint64_t index) {
          return write_small_file(thread_directory(options, name, thread) + "/" + small_file_name(index), false);
        },
        outcome);
    must_succeed(outcome, "small files");
    set_prepared(options, name);
  }
  open_read_close(options, outcome);
  must_succeed(outcome, "reading small files");
}

void stat_files(const PosixOptions& options, Outcome& outcome) {
  once_each(options, outcome, [](const std::string& path) -> Tried {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return failed_call("stat");
    if (found.st_size != static_cast<off_t>(kSmallBytes)) return std::unexpected("wrong size");
    return Finished{};
  });
}

void open_read_close(const PosixOptions& options, Outcome& outcome) {
  once_each(options, outcome, read_small_file);
}

}  // namespace stoa::bench
