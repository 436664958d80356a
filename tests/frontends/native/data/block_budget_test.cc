#include "frontends/native/data/block_budget.h"

#include <gtest/gtest.h>

namespace stoa::native::data {
namespace {

class Budget : public testing::Test {
 protected:
  // A file with a block of 100 bytes that has come.
  std::shared_ptr<BufferedFile> file_with_block() {
    auto file = std::make_shared<BufferedFile>(core::FileId{++last});
    const auto block = file->blocks.begin({0, 100}, 1, budget.bytes()).at(0);
    block->arrived(make_large_array(100), 0);
    budget.arrived(file, block);
    return file;
  }
  static void use_up(BufferedFile& file) {
    std::uint64_t gap = 0;
    file.blocks.find(0, 1, &gap)->used_up = true;
  }
  BlockBudget budget{1000};
  std::uint64_t last = 0;
};

TEST_F(Budget, WhatWaitsForItsReaderMakesNoRoom) {
  const auto one = file_with_block();
  EXPECT_TRUE(budget.make_room(900));
  EXPECT_FALSE(budget.make_room(901));
  EXPECT_FALSE(budget.make_room(100, 199));
  EXPECT_FALSE(one->blocks.empty());
}

TEST_F(Budget, WhatWasReadMakesRoom) {
  const auto one = file_with_block();
  use_up(*one);
  EXPECT_TRUE(budget.make_room(900));
  EXPECT_FALSE(one->blocks.empty()) << "as long as there is some";
  EXPECT_TRUE(budget.make_room(1000));
  EXPECT_TRUE(one->blocks.empty());
  EXPECT_EQ(budget.bytes(), 0u);
}

TEST_F(Budget, WhenThereIsTooMuchTheOldestGo) {
  std::vector<std::shared_ptr<BufferedFile>> files;
  for (int i = 0; i < 12; ++i) files.push_back(file_with_block());
  EXPECT_EQ(budget.bytes(), 1000u);
  EXPECT_TRUE(files[1]->blocks.empty());
  EXPECT_FALSE(files[2]->blocks.empty());
}

TEST_F(Budget, FilesThatAreGoneCountNothing) {
  file_with_block();
  EXPECT_EQ(budget.bytes(), 0u);
  EXPECT_TRUE(budget.make_room(1000));
}

}  // namespace
}  // namespace stoa::native::data
