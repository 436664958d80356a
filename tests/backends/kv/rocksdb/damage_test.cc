// Unreadable keys are skipped, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "backends/kv/rocksdb/rocks_kv.h"
#include "core/kv/damaged_walk.h"
#include "core/kv/keys.h"

namespace stoa::kv {
namespace {

using core::Family;
using core::KeyGap;

constexpr std::uint64_t kRecords = 3000;

class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    std::string name = (std::filesystem::temp_directory_path() / "stoa-damage-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    fill();
    pristine_ = folder_ + "-pristine";
    std::filesystem::copy(folder_, pristine_, std::filesystem::copy_options::recursive);
  }
  ~DamageTest() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::remove_all(pristine_);
  }

  static std::string key(std::uint64_t i) {
    return core::keys::id_name(core::FileId{i * 3 + 7}, "a name of some length");
  }

  // Does not compress.
  static std::string value(std::uint64_t i) {
    std::string bytes;
    for (std::uint64_t state = i * 2654435761u + 1; bytes.size() < 100;
         state = state * 6364136223846793005u + 1442695040888963407u) {
      bytes += static_cast<char>(state >> 56);
    }
    return bytes;
  }

  // In files: a log that is replayed is written out.
  void fill() {
    for (int round = 0; round < 3; ++round) {
      auto kv = open_rocks({.path = folder_, .create = true});
      ASSERT_TRUE(kv) << describe(kv.error());
      core::WriteBatch batch;
      if (round < 2) {
        for (std::uint64_t i = static_cast<std::uint64_t>(round); i < kRecords; i += 2)
          batch.put(Family::kEntry, key(i), value(i));
      }
      const core::WriteBatch* const batches[] = {&batch};
      ASSERT_TRUE((*kv)->apply(batches));
      ASSERT_TRUE((*kv)->sync());
    }
  }
  void restore() {
    std::filesystem::remove_all(folder_);
    std::filesystem::copy(pristine_, folder_, std::filesystem::copy_options::recursive);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".sst" && entry.file_size() > 20000) found.push_back(entry.path().string());
    }
    std::ranges::sort(found);
    return found;
  }
  static void flip(const std::string& path, std::uint64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get() ^ 0x40);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
  }

  struct Walked {
    std::uint64_t read = 0, unread = 0;
    std::vector<KeyGap> gaps;
  };
  // Every record is read, or lies in a gap; none twice, none out of order.
  static Walked walk(core::KvStore& kv) {
    Walked walked;
    std::set<std::string> seen;
    const auto it = kv.scan(Family::kEntry, {}, {});
    std::string last;
    for (;;) {
      for (; it->valid(); it->next()) {
        EXPECT_GT(std::string(it->key()), last);
        last = it->key();
        seen.insert(last);
      }
      if (it->status()) break;
      const auto gap = core::skip_damage(*it, last);
      EXPECT_TRUE(gap);
      if (!gap) break;
      walked.gaps.push_back(*gap);
      if (gap->to.empty()) break;
    }
    walked.read = seen.size();
    for (std::uint64_t i = 0; i < kRecords; ++i) {
      if (seen.contains(key(i))) continue;
      ++walked.unread;
      const bool in_gap = std::ranges::any_of(
          walked.gaps, [&](const auto& gap) { return key(i) >= gap.from && (gap.to.empty() || key(i) < gap.to); });
      EXPECT_TRUE(in_gap) << i;
    }
    return walked;
  }
  Walked open_and_walk(bool* opened_whole = nullptr) {
    auto kv = open_rocks({.path = folder_});
    if (opened_whole != nullptr) *opened_whole = kv.has_value();
    if (!kv) kv = open_rocks({.path = folder_, .damaged = true});
    EXPECT_TRUE(kv) << describe(kv.error());
    return kv ? walk(**kv) : Walked{};
  }

  std::string folder_, pristine_;
};

TEST_F(DamageTest, OneDamagedBlockCostsItsOwnRecordsOnly) {
  ASSERT_GE(files().size(), 2u);
  flip(files()[0], 30000);
  const Walked walked = open_and_walk();
  ASSERT_EQ(walked.gaps.size(), 1u);
  EXPECT_GT(walked.unread, 0u);
  EXPECT_LT(walked.unread, 400u);  // a block has 8 KiB, and the other file is as dense
}

TEST_F(DamageTest, TwoDamagedBlocksAreTwoGaps) {
  flip(files()[0], 10000);
  flip(files()[0], 90000);
  const Walked walked = open_and_walk();
  EXPECT_EQ(walked.gaps.size(), 2u);
  EXPECT_LT(walked.unread, 800u);
}

TEST_F(DamageTest, WhereverAByteIsFlippedTheWalkComesToItsEnd) {
  const std::vector<std::string> all = files();
  for (const std::string& path : all) {
    const std::uint64_t size = std::filesystem::file_size(path);
    // The tail, where index, filter, properties and footer are, byte by byte in smaller steps.
    for (std::uint64_t at = 0; at < size; at += at + 4096 < size ? 6007 : 97) {
      restore();
      flip(path, at);
      const Walked walked = open_and_walk();
      EXPECT_EQ(walked.read + walked.unread, kRecords) << path << " at " << at;
    }
  }
}

TEST_F(DamageTest, OfAMissingOrShortFileTheOthersAreRead) {
  bool whole = true;
  std::filesystem::remove(files()[0]);
  Walked walked = open_and_walk(&whole);
  EXPECT_FALSE(whole);
  EXPECT_FALSE(walked.gaps.empty());
  EXPECT_EQ(walked.read + walked.unread, kRecords);
  restore();
  std::filesystem::resize_file(files()[1], 50000);
  walked = open_and_walk(&whole);
  EXPECT_FALSE(whole);
  EXPECT_EQ(walked.read + walked.unread, kRecords);
}

TEST_F(DamageTest, WhatIsWholeHasNoGap) {
  auto kv = open_rocks({.path = folder_});
  ASSERT_TRUE(kv);
  const auto it = (*kv)->scan(Family::kEntry, {}, {});
  EXPECT_FALSE(core::skip_damage(*it, {}));
  EXPECT_EQ(walk(**kv).read, kRecords);
}

}  // namespace
}  // namespace stoa::kv
