#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "bench/load/block_stamp.h"
#include "bench/load/die.h"
#include "bench/load/posix_files.h"

namespace stoa::bench {
namespace {

using Memory = std::unique_ptr<char, decltype([](char* memory) { std::free(memory); })>;

Memory aligned_memory(std::size_t bytes) {
  Memory memory(static_cast<char*>(std::aligned_alloc(kStampEvery, bytes)));
  if (!memory) die("no memory");
  std::memset(memory.get(), 'x', bytes);
  return memory;
}

// What each thread has: its file, and memory for one piece.
struct Seat {
  OpenedFile file;
  Memory memory;
};

std::vector<Seat> seats(const PosixOptions& options, const std::string& name, int flags, std::size_t piece) {
  std::vector<Seat> made;
  for (unsigned thread = 0; thread < options.threads; ++thread) {
    const std::string path = thread_directory(options, name, thread) + "/data";
    made.push_back({.file = OpenedFile(path, flags), .memory = aligned_memory(piece)});
    if (!made.back().file.is_open()) die("open " + path + ": " + std::strerror(errno));
  }
  return made;
}

std::string data_files(const PosixOptions& options) {
  return "prep-data-" + std::to_string(options.bytes) + "-" + std::to_string(options.threads);
}

std::vector<Seat> prepared_seats(const PosixOptions& options, int flags, std::size_t piece) {
  (void)is_prepared(options, data_files(options), true);
  return seats(options, data_files(options), flags, piece);
}

Tried write_piece(const Seat& seat, std::size_t bytes, std::uint64_t offset) {
  stamp(seat.memory.get(), bytes, offset);
  const ssize_t put = ::pwrite(seat.file.fd(), seat.memory.get(), bytes, static_cast<off_t>(offset));
  if (put < 0) return failed_call("pwrite");
  if (put != static_cast<ssize_t>(bytes)) return std::unexpected("short write");
  return Finished{.bytes = bytes};
}

Tried read_piece(const Seat& seat, std::size_t bytes, std::uint64_t offset) {
  const ssize_t got = ::pread(seat.file.fd(), seat.memory.get(), bytes, static_cast<off_t>(offset));
  if (got < 0) return failed_call("pread");
  if (got != static_cast<ssize_t>(bytes)) return std::unexpected("short read");
  if (!is_stamped(seat.memory.get(), bytes, offset)) return std::unexpected("wrong bytes");
  return Finished{.bytes = bytes};
}

void write_whole(const PosixOptions& options, const std::string& name, Outcome& outcome) {
  const auto seat = seats(options, name, O_WRONLY | O_CREAT | O_EXCL, kLargeBytes);
  const std::uint64_t pieces = options.bytes_each() / kLargeBytes;
  outcome.begin();
  run_threads(
      {.threads = options.threads, .calls = pieces},
      [&](unsigned thread, std::uint64_t index) {
        Tried tried = write_piece(seat[thread], kLargeBytes, index * kLargeBytes);
        if (tried && index + 1 == pieces && ::fsync(seat[thread].file.fd()) != 0) tried = failed_call("fsync");
        return tried;
      },
      outcome);
  outcome.end();
}

// A 4 KiB block of the thread's file, by seed, thread and index.
std::uint64_t random_offset(const PosixOptions& options, unsigned thread, std::uint64_t index) {
  const std::uint64_t blocks = options.bytes_each() / kSmallBytes;
  return mix(options.seed + (std::uint64_t{thread} << 40) + index) % blocks * kSmallBytes;
}

ThreadPlan random_plan(const PosixOptions& options) {
  return {.threads = options.threads, .calls = options.count_each(), .seconds = options.seconds};
}

class Mapping {
 public:
  Mapping(const Seat& seat, std::uint64_t bytes, int protection)
      : bytes_(bytes), at_(::mmap(nullptr, bytes, protection, MAP_SHARED, seat.file.fd(), 0)) {
    if (at_ == MAP_FAILED) die(std::string("mmap: ") + std::strerror(errno));
  }
  ~Mapping() {
    if (at_ != MAP_FAILED) ::munmap(at_, bytes_);
  }
  Mapping(Mapping&& other) noexcept : bytes_(other.bytes_), at_(std::exchange(other.at_, MAP_FAILED)) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  char* at(std::uint64_t offset) const { return static_cast<char*>(at_) + offset; }

 private:
  std::uint64_t bytes_;
  void* at_;
};

std::vector<Mapping> mappings(const PosixOptions& options, const std::vector<Seat>& seats, int protection) {
  std::vector<Mapping> made;
  for (const Seat& seat : seats) made.emplace_back(seat, options.bytes_each(), protection);
  return made;
}

}  // namespace

void prepare_data(const PosixOptions& options) {
  const std::string name = data_files(options);
  Outcome outcome;
  if (!is_prepared(options, name, false)) {
    make_directories(options, name);
    write_whole(options, name, outcome);
    must_succeed(outcome, "data files");
    set_prepared(options, name);
  }
  read_sequentially(options, outcome);
  must_succeed(outcome, "reading data files");
}

void write_sequentially(const PosixOptions& options, Outcome& outcome) {
  const std::string name = run_name(options);
  make_directories(options, name);
  write_whole(options, name, outcome);
}

void read_sequentially(const PosixOptions& options, Outcome& outcome) {
  const auto seat = prepared_seats(options, O_RDONLY, kLargeBytes);
  outcome.begin();
  run_threads(
      {.threads = options.threads, .calls = options.bytes_each() / kLargeBytes},
      [&](unsigned thread, std::uint64_t index) { return read_piece(seat[thread], kLargeBytes, index * kLargeBytes); },
      outcome);
  outcome.end();
}

void read_directly(const PosixOptions& options, Outcome& outcome) {
  const auto seat = prepared_seats(options, O_RDONLY | O_DIRECT, kSmallBytes);
  outcome.begin();
  run_threads(
      random_plan(options),
      [&](unsigned thread, std::uint64_t index) {
        return read_piece(seat[thread], kSmallBytes, random_offset(options, thread, index));
      },
      outcome);
  outcome.end();
}

void write_durably(const PosixOptions& options, Outcome& outcome) {
  const auto seat = prepared_seats(options, O_RDWR, kSmallBytes);
  outcome.begin();
  run_threads(
      random_plan(options),
      [&](unsigned thread, std::uint64_t index) {
        Tried tried = write_piece(seat[thread], kSmallBytes, random_offset(options, thread, index));
        if (tried && ::fdatasync(seat[thread].file.fd()) != 0) tried = failed_call("fdatasync");
        return tried;
      },
      outcome);
  outcome.end();
}

void read_mapped(const PosixOptions& options, Outcome& outcome) {
  const auto seat = prepared_seats(options, O_RDONLY, kSmallBytes);
  const auto mapping = mappings(options, seat, PROT_READ);
  const std::uint64_t pages = options.bytes_each() / kSmallBytes;
  std::vector<std::vector<std::uint32_t>> orders;
  for (unsigned thread = 0; thread < options.threads; ++thread)
    orders.push_back(shuffled(pages, options.seed + thread));
  outcome.begin();
  run_threads(
      {.threads = options.threads, .calls = pages},
      [&](unsigned thread, std::uint64_t index) -> Tried {
        const std::uint64_t offset = orders[thread][index] * std::uint64_t{kSmallBytes};
        if (!is_stamped(mapping[thread].at(offset), kSmallBytes, offset)) return std::unexpected("wrong bytes");
        return Finished{.bytes = kSmallBytes};
      },
      outcome);
  outcome.end();
}

void write_mapped(const PosixOptions& options, Outcome& outcome) {
  const auto seat = prepared_seats(options, O_RDWR, kSmallBytes);
  const auto mapping = mappings(options, seat, PROT_READ | PROT_WRITE);
  outcome.begin();
  run_threads(
      random_plan(options),
      [&](unsigned thread, std::uint64_t index) -> Tried {
        const std::uint64_t offset = random_offset(options, thread, index);
        char* const page = mapping[thread].at(offset);
        stamp(page, kSmallBytes, offset);
        if (::msync(page, kSmallBytes, MS_SYNC) != 0) return failed_call("msync");
        return Finished{.bytes = kSmallBytes};
      },
      outcome);
  outcome.end();
}

}  // namespace stoa::bench
