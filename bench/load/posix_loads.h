// The loads of posix_load: system calls on files below one directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/load/outcome.h"

namespace stoa::bench {

struct PosixOptions {
  std::string directory;
  std::string load;
  std::string tag = "0";
  std::string tree;  // below `directory`, of ls-l and walk
  unsigned threads = 4;
  std::uint64_t count = 0;  // operations of all threads at most; 0: as many as `seconds` allows
  std::uint64_t files = 10'000;
  std::uint64_t bytes = std::uint64_t{256} << 20;  // of all data files together
  double seconds = 4;
  std::uint64_t seed = 1;
  std::vector<int> server_pids, client_pids;

  // The share of a thread.
  std::uint64_t count_each() const { return count / threads; }
  std::uint64_t files_each() const { return files / threads; }
  std::uint64_t bytes_each() const { return bytes / threads; }
};

struct PosixLoad {
  // Makes what the load needs unless it is there, and goes through all of it once, so that the server has it in memory.
  void (*prepare)(const PosixOptions& options);
  // Runs it; what is between Outcome::begin() and end() is measured. Ends the program when what it needs is missing.
  void (*run)(const PosixOptions& options, Outcome& outcome);
};

// Fresh files of 4 KiB, each thread in a directory of its own; `durable`: with fsync.
void create_files(const PosixOptions& options, Outcome& outcome, bool durable);
// Of fresh empty files.
void unlink_files(const PosixOptions& options, Outcome& outcome);
// Of `files` files of 4 KiB, each once, in mixed order; cold or warm by what was done before.
void prepare_small_files(const PosixOptions& options);
void stat_files(const PosixOptions& options, Outcome& outcome);
void open_read_close(const PosixOptions& options, Outcome& outcome);

// Data files: one for each thread.
void prepare_data(const PosixOptions& options);
void write_sequentially(const PosixOptions& options, Outcome& outcome);  // fresh files, with an fsync at their end
void read_sequentially(const PosixOptions& options, Outcome& outcome);
void read_directly(const PosixOptions& options, Outcome& outcome);  // O_DIRECT, 4 KiB at random
void write_durably(const PosixOptions& options, Outcome& outcome);  // 4 KiB at random, then fdatasync
void read_mapped(const PosixOptions& options, Outcome& outcome);    // each page of a mapping once, in mixed order
void write_mapped(const PosixOptions& options, Outcome& outcome);   // a page at random, then msync

// One thread; one operation is a file. `files` in all must be found.
void list_long(const PosixOptions& options, Outcome& outcome);  // as ls -l of each directory in the tree
void walk(const PosixOptions& options, Outcome& outcome);       // the tree, with the attributes of all
void walk_once(const PosixOptions& options);

}  // namespace stoa::bench
