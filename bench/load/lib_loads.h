// The loads of lib_load: calls of libstoa.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/load/lib_session.h"
#include "bench/load/outcome.h"

namespace stoa::bench {

struct LibOptions {
  std::string url, key_file;
  std::string load;
  std::string tag = "0";
  unsigned connections = 2;  // channels, and threads
  unsigned inflight = 16;    // of each thread: in one call, or in its ring
  std::uint64_t count = 0;   // operations of all threads at most; 0: as many as `seconds` allows
  std::uint64_t files = 10'000;
  std::uint64_t bytes = std::uint64_t{256} << 20;
  double seconds = 4;
  std::uint64_t seed = 1;
  std::vector<int> server_pids;
};

// What is between Outcome::begin() and end() is measured.
using LibLoad = void (*)(const LibOptions& options, const LibSession& session, Outcome& outcome);

// Attributes of files by name, which the library asks the server for: in calls of `inflight` files, or by a ring.
void stat_by_name(const LibOptions& options, const LibSession& session, Outcome& outcome);
void stat_by_ring(const LibOptions& options, const LibSession& session, Outcome& outcome);
// Whole files of 4 KiB by name: by a ring, or in calls of `inflight` files.
void read_by_ring(const LibOptions& options, const LibSession& session, Outcome& outcome);
void read_by_name(const LibOptions& options, const LibSession& session, Outcome& outcome);
// New files of 4 KiB, durable, in calls of `inflight` files.
void create_durably(const LibOptions& options, const LibSession& session, Outcome& outcome);
// One file, 1 MiB at a time, by one thread; the writes end with fsync. The file that is read is made before.
void write_file(const LibOptions& options, const LibSession& session, Outcome& outcome);
void read_file(const LibOptions& options, const LibSession& session, Outcome& outcome);

}  // namespace stoa::bench
