#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "backends/kv/rocksdb/rocks_kv.h"

namespace stoa::kv {
namespace {

using core::Family;

class LogFilesTest : public ::testing::Test {
 protected:
  LogFilesTest() {
    std::string pattern = (std::filesystem::current_path() / "stoa-log-files-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    open();
  }
  ~LogFilesTest() override {
    kv_.reset();
    std::filesystem::remove_all(folder_);
  }
  void open() {
    kv_.reset();
    // So small that the logs change every now and then.
    auto opened =
        open_rocks({.path = folder_, .create = true, .write_buffer_bytes = 1u << 20, .zeroed_log_bytes = 1u << 20});
    ASSERT_TRUE(opened) << describe(opened.error());
    kv_ = std::move(*opened);
  }
  // 64 values of 16 KiB, durable.
  Status write_round(int round) {
    for (int i = 0; i < 64; ++i) {
      core::WriteBatch batch;
      batch.put(Family::kInode, std::to_string(round * 64 + i),
                std::string(16u << 10, static_cast<char>('a' + round % 26)));
      const core::WriteBatch* const batches[] = {&batch};
      STOA_CHECK_OK(kv_->apply(batches));
      STOA_CHECK_OK(kv_->sync());
    }
    return {};
  }
  void expect_rounds(int rounds) {
    for (int i = 0; i < rounds * 64; ++i) {
      std::string value;
      const auto found = kv_->get(Family::kInode, std::to_string(i), &value);
      ASSERT_TRUE(found && *found) << i;
      ASSERT_EQ(value, std::string(16u << 10, static_cast<char>('a' + i / 64 % 26))) << i;
    }
  }
  std::string folder_;
  std::unique_ptr<core::KvStore> kv_;
};

TEST_F(LogFilesTest, LogsGoRoundAndNothingIsLost) {
  for (int round = 0; round < 12; ++round) ASSERT_TRUE(write_round(round));
  expect_rounds(12);
  open();
  expect_rounds(12);
}

TEST_F(LogFilesTest, ASpareFileThatSomebodyRemovedIsNotMissed) {
  for (int round = 0; round < 12; ++round) {
    std::filesystem::remove(folder_ + "/SPARE");
    std::filesystem::remove(folder_ + "/SPARE.new");
    const Status written = write_round(round);
    ASSERT_TRUE(written) << describe(written.error());
  }
  open();
  expect_rounds(12);
}

}  // namespace
}  // namespace stoa::kv
