// Metadata on RocksDB.
#pragma once

#include <memory>
#include <string>

#include "core/kv/kv_store.h"

namespace stoa::kv {

struct RocksOptions {
  std::string path;
  bool create = false;   // make the database when there is none
  bool damaged = false;  // read only, and with files that are missing or cannot be opened: reading their keys is an
                         // error
  std::uint64_t block_cache_bytes = 64u << 20;
  std::uint64_t write_buffer_bytes = 64u << 20;  // all families together
  std::uint64_t zeroed_log_bytes = 0;            // bytes of each log file that are zeroed ahead (log_files.h); 0: none
  std::uint64_t journal_bytes_max = 256u << 20;  // the oldest records beyond it are dropped
  bool reserve = false;  // reserve space on the disk for writes that must succeed (disk_reserve.h)
};

// Errors: kNotFound for no database at `path`; kBusy: another process has it open; kIo, kCorrupt.
Result<std::unique_ptr<core::KvStore>> open_rocks(const RocksOptions& options);

}  // namespace stoa::kv
