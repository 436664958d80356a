// Options of RocksDB for each family.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/options.h>

#include <memory>

#include "backends/kv/rocksdb/rocks_kv.h"
#include "backends/kv/rocksdb/space_plan.h"
#include "core/kv/kv_store.h"

namespace stoa::kv {

rocksdb::ColumnFamilyOptions family_options(core::Family family, const RocksOptions& options, const SpacePlan& plan,
                                            const std::shared_ptr<rocksdb::Cache>& cache);

}  // namespace stoa::kv
