#include "core/commit/queued_changes.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/kv/keys.h"

namespace stoa::core {
namespace {

using Found = QueuedChanges::Found;

struct Unit {
  explicit Unit(std::initializer_list<std::pair<std::string_view, std::string_view>> changes)
      : batch(batch_of(changes)), part(batch) {}
  static WriteBatch batch_of(std::initializer_list<std::pair<std::string_view, std::string_view>> changes) {
    WriteBatch made;
    for (const auto& [key, value] : changes) made.put(Family::kEntry, key, value);
    return made;
  }
  WriteBatch batch;
  QueuedChanges::Part part;
};

std::string find(const QueuedChanges& queued, std::string_view key) {
  std::string value = "untouched";
  const Found found = queued.find(Family::kEntry, key, &value);
  return found == Found::kNothing ? "nothing" : value;
}

TEST(QueuedChangesTest, TheNewestValueStaysWhenAnOlderOneIsWritten) {
  QueuedChanges queued;
  Unit first{{"k", "1"}, {"other", "1"}}, second{{"k", "2"}}, third{{"k", "3"}};
  queued.add(first.part, 1);
  EXPECT_EQ(find(queued, "k"), "1");
  queued.add(second.part, 2);
  queued.add(third.part, 3);
  EXPECT_EQ(find(queued, "k"), "3");
  queued.remove(first.part);
  queued.remove(second.part);
  EXPECT_EQ(find(queued, "k"), "3");
  EXPECT_EQ(find(queued, "other"), "nothing");
  queued.remove(third.part);
  EXPECT_EQ(find(queued, "k"), "nothing");
  EXPECT_TRUE(queued.between(Family::kEntry, {}, {}).changes.empty());
}

TEST(QueuedChangesTest, WhatALaterUnitOfTheGroupChangesIsSuperseded) {
  QueuedChanges queued;
  Unit first{{"a", "1"}, {"b", "1"}}, second{{"b", "2"}, {"b", "twice"}}, third{{"a", "3"}};
  queued.add(first.part, 1);
  queued.add(second.part, 2);
  queued.add(third.part, 3);
  EXPECT_FALSE(first.part.is_superseded(0, 2)) << "the third is of another group";
  EXPECT_TRUE(first.part.is_superseded(0, 3));
  EXPECT_TRUE(first.part.is_superseded(1, 2));
  EXPECT_TRUE(second.part.is_superseded(0, 2));
  EXPECT_FALSE(second.part.is_superseded(1, 3));
  EXPECT_EQ(find(queued, "b"), "twice");
}

TEST(QueuedChangesTest, ARemovalIsFoundAsOne) {
  QueuedChanges queued;
  Unit made{{"k", "1"}};
  WriteBatch removal;
  removal.remove(Family::kEntry, "k");
  QueuedChanges::Part part(removal);
  queued.add(made.part, 1);
  queued.add(part, 2);
  EXPECT_EQ(find(queued, "k"), "untouched");
  const auto range = queued.between(Family::kEntry, {}, {});
  ASSERT_EQ(range.changes.size(), 1U);
  EXPECT_EQ(range.changes[0].value, std::nullopt);
  EXPECT_EQ(range.newest, 2U);
}

TEST(QueuedChangesTest, ABatchMayBeMoved) {
  QueuedChanges queued;
  Unit made{{"k", "v"}};
  queued.add(made.part, 1);
  const WriteBatch moved = std::move(made.batch);
  made.batch = {};
  EXPECT_EQ(find(queued, "k"), "v");
  QueuedChanges::Part part = std::move(made.part);
  queued.remove(part);
  EXPECT_EQ(find(queued, "k"), "nothing");
}

// The length of a value follows from its key, so a torn one would show.
TEST(QueuedChangesTest, ReadersBesideChangesSeeWholeValues) {
  QueuedChanges queued;
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        for (int k = 0; k < 8; ++k) {
          const std::string found = find(queued, "key" + std::to_string(k));
          ASSERT_TRUE(found == "nothing" || found == std::string(20, static_cast<char>('a' + k))) << found;
        }
        const auto range = queued.between(Family::kEntry, {}, {});
        for (const auto& change : range.changes) ASSERT_EQ(change.value->size(), 20U);
      }
    });
  }
  for (std::uint64_t unit = 1; unit <= 4000; ++unit) {
    const auto k = unit % 8;
    const std::string key = "key" + std::to_string(k), value(20, static_cast<char>('a' + k));
    Unit made{{key, value}}, again{{key, value}};
    queued.add(made.part, 2 * unit);
    queued.add(again.part, 2 * unit + 1);
    queued.remove(made.part);
    queued.remove(again.part);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace stoa::core
