// Inode records of many files at once: the same by a scan of the store and by single look-ups.
#include "core/inode/load_inodes.h"

#include <gtest/gtest.h>

#include <map>

#include "backends/kv/memory/memory_kv.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {

struct Stored {
  Stored() {
    WriteBatch batch;
    for (const std::uint64_t id : {10u, 11u, 12u, 14u, 15u, 1000u, 70'000u}) {
      Inode inode;
      inode.id = FileId{id};
      inode.size = id;
      batch.put(Family::kInode, keys::id_key(inode.id), inode.encode());
    }
    const WriteBatch* const batches[] = {&batch};
    EXPECT_TRUE(kv.apply(batches));
  }
  // By place in `ids`: the size of the node found there.
  std::map<std::size_t, std::uint64_t> load(std::vector<std::uint64_t> numbers) {
    std::vector<FileId> ids;
    for (const std::uint64_t number : numbers) ids.push_back(FileId{number});
    std::map<std::size_t, std::uint64_t> found;
    EXPECT_TRUE(load_inodes(kv, ids, [&](std::size_t i, const Inode& inode) -> Status {
      EXPECT_EQ(inode.id, ids[i]);
      EXPECT_TRUE(found.emplace(i, inode.size).second);
      return {};
    }));
    return found;
  }
  kv::MemoryKv kv;
};

using Found = std::map<std::size_t, std::uint64_t>;

TEST(LoadInodes, NoneAndOne) {
  Stored stored;
  EXPECT_EQ(stored.load({}), Found{});
  EXPECT_EQ(stored.load({14}), (Found{{0, 14}}));
  EXPECT_EQ(stored.load({13}), Found{});
}

TEST(LoadInodes, CloseTogetherInAnyOrderWithGapsAndTwice) {
  Stored stored;
  EXPECT_EQ(stored.load({15, 10, 13, 12, 10}), (Found{{0, 15}, {1, 10}, {3, 12}, {4, 10}}));
  EXPECT_EQ(stored.load({9, 16}), Found{});
}

TEST(LoadInodes, FarApart) {
  Stored stored;
  EXPECT_EQ(stored.load({70'000, 10, 500, 1000}), (Found{{0, 70'000}, {1, 10}, {3, 1000}}));
}

TEST(LoadInodes, DamageIsToldBothWays) {
  Stored stored;
  WriteBatch batch;
  batch.put(Family::kInode, keys::id_key(FileId{11}), "x");
  const WriteBatch* const batches[] = {&batch};
  ASSERT_TRUE(stored.kv.apply(batches));
  const auto nothing = [](std::size_t, const Inode&) -> Status { return {}; };
  const FileId close[] = {FileId{10}, FileId{11}}, far[] = {FileId{11}, FileId{70'000}},
               beside[] = {FileId{10}, FileId{12}};
  EXPECT_EQ(load_inodes(stored.kv, close, nothing).error().code, Errc::kCorrupt);
  EXPECT_EQ(load_inodes(stored.kv, far, nothing).error().code, Errc::kCorrupt);
  EXPECT_TRUE(load_inodes(stored.kv, beside, nothing)) << "nobody asked for the damaged one";
}

}  // namespace
}  // namespace stoa::core
