// Numbers that are added to, on both engines.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "backends/kv/memory/memory_kv.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "core/kv/number.h"

namespace stoa::kv {
namespace {

using core::Family;

struct MemoryTwin {
  static std::unique_ptr<core::KvStore> open(const std::string&) { return std::make_unique<MemoryKv>(); }
  static constexpr bool kOnDisk = false;
};
struct Rocks {
  static std::unique_ptr<core::KvStore> open(const std::string& folder) {
    auto kv = open_rocks({.path = folder, .create = true});
    if (!kv) ADD_FAILURE() << describe(kv.error());
    return std::move(*kv);
  }
  static constexpr bool kOnDisk = true;
};

template <class Engine>
class NumberTest : public ::testing::Test {
 protected:
  NumberTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoa-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    kv_ = Engine::open(folder_);
  }
  ~NumberTest() override {
    kv_.reset();
    std::filesystem::remove_all(folder_);
  }
  void reopen() {
    if (!Engine::kOnDisk) return;
    ASSERT_TRUE(kv_->sync());
    kv_.reset();
    kv_ = Engine::open(folder_);
  }
  void apply(const core::WriteBatch& batch) {
    const core::WriteBatch* const batches[] = {&batch};
    ASSERT_TRUE(kv_->apply(batches));
  }
  void add(std::string_view key, std::int64_t delta) {
    core::WriteBatch batch;
    batch.add(Family::kBlob, key, delta);
    apply(batch);
  }
  std::optional<std::int64_t> number(core::KvReader& from, std::string_view key) {
    std::string value;
    const auto found = from.get(Family::kBlob, key, &value);
    EXPECT_TRUE(found);
    if (!*found) return std::nullopt;
    const auto number = core::decode_number(value);
    EXPECT_TRUE(number);
    return *number;
  }

  std::string folder_;
  std::unique_ptr<core::KvStore> kv_;
};

using BothEngines = ::testing::Types<MemoryTwin, Rocks>;
TYPED_TEST_SUITE(NumberTest, BothEngines);

TYPED_TEST(NumberTest, WhatIsAddedIsSummedUp) {
  this->add("a", 1);
  EXPECT_EQ(this->number(*this->kv_, "a"), 1);
  this->add("a", 1);
  this->add("a", -2);
  EXPECT_EQ(this->number(*this->kv_, "a"), 0);
  this->add("a", 300);
  this->add("b", -5);
  EXPECT_EQ(this->number(*this->kv_, "a"), 300);
  EXPECT_EQ(this->number(*this->kv_, "b"), -5);
  EXPECT_EQ(this->number(*this->kv_, "none"), std::nullopt);
}

TYPED_TEST(NumberTest, TheOrderOfABatchCounts) {
  core::WriteBatch batch;
  batch.put(Family::kBlob, "put", core::encode_number(40));
  batch.add(Family::kBlob, "put", 2);
  batch.add(Family::kBlob, "removed", 2);
  batch.remove(Family::kBlob, "removed");
  batch.add(Family::kBlob, "anew", 7);
  batch.remove(Family::kBlob, "anew");
  batch.add(Family::kBlob, "anew", 1);
  this->apply(batch);
  EXPECT_EQ(this->number(*this->kv_, "put"), 42);
  EXPECT_EQ(this->number(*this->kv_, "removed"), std::nullopt);
  EXPECT_EQ(this->number(*this->kv_, "anew"), 1);
}

TYPED_TEST(NumberTest, ReadersOfThePastSeeThePast) {
  this->add("a", 1);
  const auto before = this->kv_->snapshot();
  this->add("a", 1);
  EXPECT_EQ(this->number(*before, "a"), 1);
  EXPECT_EQ(this->number(*this->kv_, "a"), 2);
  const auto it = this->kv_->scan(Family::kBlob, {}, {});
  ASSERT_TRUE(it->valid());
  EXPECT_EQ(it->value(), core::encode_number(2));
}

// A start writes the log as tables, which folds the parts.
TYPED_TEST(NumberTest, SumsSurviveStarts) {
  for (int round = 1; round <= 4; ++round) {
    for (int i = 0; i < 10; ++i) {
      this->add("a", 1);
      this->add("b", i % 2 == 0 ? 3 : -3);
    }
    this->reopen();
    EXPECT_EQ(this->number(*this->kv_, "a"), 10 * round);
    EXPECT_EQ(this->number(*this->kv_, "b"), 0);
  }
  core::WriteBatch removal;
  removal.remove(Family::kBlob, "a");
  this->apply(removal);
  this->add("a", 1);
  this->reopen();
  EXPECT_EQ(this->number(*this->kv_, "a"), 1);
}

}  // namespace
}  // namespace stoa::kv
