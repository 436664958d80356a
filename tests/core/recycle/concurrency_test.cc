// Deletes, overwrites, restores and purges of everybody at once; under thread sanitizer.
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
          (void)this->ns().put_key({}, {.root = dir, .key = "k", .bytes = std::as_bytes(std::span(std::string_view(name)))});
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

}  // namespace
}  // namespace stoa::core::test
