#include "backends/kv/rocksdb/family_options.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/kv/number.h"

namespace stoa::kv {

using core::Family;

namespace {

// WriteBatch::add(): reads see the sum, and flushes and compactions write it in place of its parts.
class AddNumbers final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& added, std::string* sum,
             rocksdb::Logger*) const override {
    const auto base = existing != nullptr ? std::optional<std::string_view>(existing->ToStringView()) : std::nullopt;
    auto both = core::add_numbers(base, added.ToStringView());
    if (!both) return false;
    *sum = *std::move(both);
    return true;
  }
  const char* Name() const override { return "stoa.add_numbers"; }
};

}  // namespace

rocksdb::ColumnFamilyOptions family_options(Family family, const RocksOptions& options, const SpacePlan& plan,
                                            const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions cf;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.cache_index_and_filter_blocks = true;  // the cache's bound is the bound of all of it
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  // In parts: whole filters of large files are megabytes, push each other out of the cache, and are then read for each
  // get.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.pin_top_level_index_and_filter = true;
  table.block_size = 8192;
  cf.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  cf.compression = rocksdb::kLZ4Compression;
  cf.write_buffer_size = plan.write_buffer();
  cf.max_bytes_for_level_base = plan.level_base();
  cf.target_file_size_base = plan.table();
  cf.max_compaction_bytes = plan.compaction();
  // For each family, before its first write: together they must stay far below RocksDB's limit for a flush.
  cf.arena_block_size = std::min<std::size_t>(1u << 20, cf.write_buffer_size / 16);
  cf.level_compaction_dynamic_level_bytes = true;
  cf.memtable_whole_key_filtering = true;
  cf.memtable_prefix_bloom_size_ratio = 0.02;
  // A scan must not crawl over tombstones: files full of them are compacted soon.
  cf.table_properties_collector_factories.push_back(rocksdb::NewCompactOnDeletionCollectorFactory(4096, 2048));
  switch (family) {
    case Family::kBlob:
      cf.merge_operator = std::make_shared<AddNumbers>();
      break;
    case Family::kInline:
      // Content is written to a blob file once instead of moving through the levels.
      cf.enable_blob_files = true;
      cf.min_blob_size = 512;
      cf.blob_file_size = plan.table();
      cf.target_file_size_base = plan.table() / 16;  // names many times as much content, which a compaction may move
      cf.enable_blob_garbage_collection = true;
      cf.blob_garbage_collection_age_cutoff = 0.5;
      cf.blob_garbage_collection_force_threshold = 0.5;
      cf.compression = rocksdb::kNoCompression;
      break;
    case Family::kJournal:
      cf.compaction_style = rocksdb::kCompactionStyleFIFO;
      cf.compaction_options_fifo.max_table_files_size = std::min(options.journal_bytes_max, plan.journal());
      cf.table_properties_collector_factories.clear();
      cf.level_compaction_dynamic_level_bytes = false;
      break;
    default:
      break;
  }
  return cf;
}

}  // namespace stoa::kv
