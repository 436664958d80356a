// RocksDB's own log, as lines of ours. Its files would need a disk that has room, and a database that cannot open one
// does not start.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace stoa::kv {

std::shared_ptr<rocksdb::Logger> info_log();

}  // namespace stoa::kv
