// Concurrent deletes, overwrites, restores and purges; under thread sanitizer.
#include <atomic>
#include <thread>

#include "tests/core/recycle/recycle_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class RecycleConcurrencyTest : public RecycleTest<Engine> {};
TYPED_TEST_SUITE(RecycleConcurrencyTest, Engines);

TYPED_TEST(RecycleConcurrencyTest, UsageIsExactInTheEnd) {
  constexpr int kRounds = 60;
  const FileId a = *this->mkdir(this->team_, "a");
  const FileId b = *this->mkdir(kRootId, "b");
  this->set_policy({.dir = b, .counted = false});
  std::vector<std::thread> threads;
  std::atomic<int> running{4};
  for (std::uint32_t uid : {0u, 1000u}) {
    for (const FileId dir : {a, b}) {
      threads.emplace_back([this, uid, dir, &running] {
        const OpContext ctx = this->as(uid);
        for (int i = 0; i < kRounds; ++i) {
          const std::string name = std::to_string(uid) + "-" + std::to_string(i % 5);
          (void)this->ns().mkdir(ctx, {.parent = dir, .name = name + "d", .set = {.mode = 0777}});
          (void)this->ns().put_key(
              {}, {.root = dir, .key = "k", .bytes = std::as_bytes(std::span(std::string_view(name)))});
          const auto made = this->ns().create(ctx, {.parent = dir, .name = name});
          if (made) {
            const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(std::string_view(name)))};
            (void)this->ns().write(ctx, {made->attr.id, 0, pieces});
          }
          (void)this->ns().unlink(ctx, {dir, name});
          (void)this->ns().rmdir(ctx, {dir, name + "d"});
        }
        --running;
      });
    }
  }
  threads.emplace_back([this, &running] {
    while (running > 0) {
      const auto all = this->ns().list_recycled({}, {.dir = kRootId});
      if (!all) continue;
      for (std::size_t i = 0; i < all->items.size(); i += 3) (void)this->ns().restore({}, {all->items[i].item});
    }
  });
  threads.emplace_back([this, a, b, &running] {
    for (bool counted = false; running > 0; counted = !counted) {
      (void)this->ns().purge({}, {.dir = a});
      (void)this->volume_->registry().set_recycle({.dir = b, .bytes_max = 50, .counted = counted});
      (void)this->volume_->run_purge(wall_now());
      (void)this->ns().rename({}, {this->team_, "a", kRootId, "a"});
      (void)this->ns().rename({}, {kRootId, "a", this->team_, "a"});
      (void)this->volume_->run_gc();
    }
  });
  for (std::thread& thread : threads) thread.join();
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
}

// All threads remove, fill and restore the same few directories, while they get limits and are read.
TYPED_TEST(RecycleConcurrencyTest, DirectoriesGoAndComeBack) {
  constexpr int kRounds = 80;
  static constexpr std::int64_t kFilesMax = 60;
  this->options_.cached_inodes_max = 50;  // so that nodes come and go, too
  this->reopen();
  const FileId a = *this->mkdir(this->team_, "a");
  const FileId b = *this->mkdir(kRootId, "b");
  this->set_policy({.dir = b, .counted = false});
  ASSERT_TRUE(this->ns().set_quota({}, {this->team_, {.files = std::uint64_t{kFilesMax}}}));
  ASSERT_TRUE(this->ns().count_owners({}, {b, true}));
  std::vector<std::thread> threads;
  constexpr std::uint32_t kWorkers = 4;
  std::atomic<std::uint32_t> running{kWorkers};
  for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([this, a, b, worker, &running] {
      const OpContext ctx = this->as(worker < 2 ? 0 : 1000);
      for (int i = 0; i < kRounds; ++i) {
        const FileId parent = (static_cast<std::uint32_t>(i) + worker) % 2 == 0 ? a : b;
        const std::string name = "d" + std::to_string(i % 3);
        (void)this->ns().mkdir(ctx, {.parent = parent, .name = name, .set = {.mode = 0777}});
        const FileId dir = this->find(parent, name).value_or(parent);
        const auto made = this->ns().create(ctx, {.parent = dir, .name = "f"});
        if (made) {
          const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(std::string_view(name)))};
          (void)this->ns().write(ctx, {made->attr.id, 0, pieces});
          if (i % 4 == 0)
            (void)this->ns().link(ctx, {made->attr.id, parent == a ? b : a, "l" + std::to_string(worker)});
        }
        if (i % 7 == 0) (void)this->ns().set_quota({}, {dir, {.files = 5}});
        if (i % 9 == 0) (void)this->ns().set_quota({}, {dir, {}});
        (void)this->ns().unlink(ctx, {dir, "f"});
        (void)this->ns().unlink(ctx, {parent == a ? b : a, "l" + std::to_string(worker)});
        if (i % 5 == 0) {
          (void)this->ns().mkdir(ctx, {.parent = parent, .name = "from", .set = {.mode = 0777}});
          (void)this->ns().rename(ctx, {parent, "from", i % 2 == 0 ? a : b, name});
        } else {
          (void)this->ns().rmdir(ctx, {parent, name});
        }
      }
      --running;
    });
  }
  threads.emplace_back([this, &running] {
    while (running > 0) {
      const auto all = this->ns().list_recycled({}, {.dir = kRootId});
      if (!all) continue;
      for (std::size_t i = 0; i < all->items.size(); i += 2) (void)this->ns().restore({}, {all->items[i].item});
    }
  });
  threads.emplace_back([this, a, b, &running] {
    for (bool on = false; running > 0; on = !on) {
      (void)this->ns().purge({}, {.dir = a});
      (void)this->volume_->registry().set_recycle({.dir = b, .bytes_max = 50, .counted = on});
      (void)this->volume_->run_purge(wall_now());
      (void)this->ns().rename({}, {this->team_, "a", kRootId, "a"});
      (void)this->ns().count_owners({}, {b, on});
      (void)this->volume_->run_owner_count(100);
      (void)this->ns().rename({}, {kRootId, "a", this->team_, "a"});
    }
  });
  threads.emplace_back([this, a, b, &running] {
    while (running > 0) {
      const auto known = this->ns().usage({}, {this->team_});
      ASSERT_TRUE(known) << describe(known.error());
      EXPECT_LE(known->counted.files + known->counted.directories, kFilesMax);
      (void)this->ns().list_quotas({}, {});
      for (const FileId parent : {a, b}) {
        const FileId dir = this->find(parent, "d0").value_or(parent);
        for (int look = 0; look < 20; ++look) {
          (void)this->ns().ancestors({}, {dir});
          (void)this->ns().statfs({}, {dir});
          (void)this->ns().recycle_status({}, {dir});
        }
        (void)this->ns().list_recycled({}, {.dir = dir});
      }
    }
  });
  for (std::thread& thread : threads) thread.join();
  while (!this->volume_->run_owner_count(1'000'000).value_or(true)) continue;
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test
