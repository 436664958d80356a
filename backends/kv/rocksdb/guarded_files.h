// File system for RocksDB that makes room before each write (disk_reserve.h). So a full disk never fails a flush, a
// log or the manifest, and fails a compaction before it takes the space that those need.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "backends/kv/rocksdb/disk_reserve.h"

namespace stoa::kv {

// `reserve` must outlive it.
std::shared_ptr<rocksdb::FileSystem> guarded_files(const std::shared_ptr<rocksdb::FileSystem>& host,
                                                   DiskReserve& reserve);

}  // namespace stoa::kv
