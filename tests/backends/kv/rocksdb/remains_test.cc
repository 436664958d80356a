// Tombstones must not slow down scans for ever.
#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "backends/kv/rocksdb/rocks_kv.h"
#include "core/kv/keys.h"

namespace stoa::kv {
namespace {

using core::Family;

class TombstonesTest : public ::testing::Test {
 protected:
  TombstonesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoa-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    auto opened = open_rocks({.path = folder_ + "/meta", .create = true});
    if (!opened) ADD_FAILURE() << describe(opened.error());
    kv_ = std::move(*opened);
  }
  ~TombstonesTest() override {
    kv_.reset();
    std::filesystem::remove_all(folder_);
  }

  template <class Add>
  void apply_for(std::uint64_t keys, Add add) {
    core::WriteBatch batch;
    for (std::uint64_t i = 0; i < keys; ++i) {
      add(batch, core::keys::be64(i));
      if (batch.ops().size() < 1000 && i + 1 < keys) continue;
      const core::WriteBatch* const batches[] = {&batch};
      ASSERT_TRUE(kv_->apply(batches));
      batch.clear();
    }
  }
  void put(std::uint64_t keys) {
    apply_for(keys, [](core::WriteBatch& batch, const std::string& key) { batch.put(Family::kEntry, key, "value"); });
  }
  void remove(std::uint64_t keys) {
    apply_for(keys, [](core::WriteBatch& batch, const std::string& key) { batch.remove(Family::kEntry, key); });
  }
  // The number of tombstones that a scan of the empty family skips.
  std::uint64_t walk_nothing() {
    const auto& counters = *rocksdb::get_perf_context();
    const std::uint64_t before = counters.internal_delete_skipped_count;
    const auto it = kv_->scan(Family::kEntry, {}, {});
    EXPECT_FALSE(it->valid());
    EXPECT_TRUE(it->status());
    return counters.internal_delete_skipped_count - before;
  }

  // The flush and the compaction run beside us; tombstones of the very last write stay until there is another one.
  void walk_until_cleared() {
    while (walk_nothing() > 0) {
      core::WriteBatch other;
      other.put(Family::kConfig, "other", "value");
      const core::WriteBatch* const batches[] = {&other};
      ASSERT_TRUE(kv_->apply(batches));
    }
  }

  std::string folder_;
  std::unique_ptr<core::KvStore> kv_;
};

TEST_F(TombstonesTest, AWalkOverManyHasThemCleared) {
  put(50'000);
  remove(50'000);
  EXPECT_GE(walk_nothing(), 50'000U);
  walk_until_cleared();
}

TEST_F(TombstonesTest, SoItIsWhenWhatWasRemovedIsInTables) {
  put(50'000);
  kv_.reset();  // the next start replays the log into tables
  auto opened = open_rocks({.path = folder_ + "/meta"});
  ASSERT_TRUE(opened) << describe(opened.error());
  kv_ = std::move(*opened);
  remove(50'000);
  EXPECT_GE(walk_nothing(), 50'000U);
  walk_until_cleared();
}

TEST_F(TombstonesTest, AFewAreLeftToTheNextFlush) {
  put(1000);
  remove(1000);
  EXPECT_EQ(walk_nothing(), 1000U);
  EXPECT_EQ(walk_nothing(), 1000U);
}

TEST_F(TombstonesTest, AWalkThatAsksForItGoesOnAsOfItsBeginning) {
  put(50'000);
  remove(40'000);
  const auto it = kv_->scan(Family::kEntry, {}, {});
  remove(50'000);
  std::uint64_t seen = 40'000;
  for (; it->valid(); it->next()) EXPECT_EQ(it->key(), core::keys::be64(seen++));
  EXPECT_TRUE(it->status());
  EXPECT_EQ(seen, 50'000U);
}

}  // namespace
}  // namespace stoa::kv
