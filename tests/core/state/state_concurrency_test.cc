#include <random>
#include <thread>

#include "tests/core/state/holder_callbacks.h"
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class StateConcurrency : public TableTest {};

TEST_F(StateConcurrency, NothingIsLeftAndExclusiveMeansAlone) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kFiles = 3;
  std::array<std::atomic<int>, kFiles> inside{};
  table();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (int round = 0; round < 20; ++round) {
        std::vector<LeaseId> asked_for;
        std::mutex mutex;
        const HolderId me = table().add_holder(Protocol::kNfs, on_recall([&](const LeaseRecall& recall) {
                                                 const std::lock_guard lock(mutex);
                                                 asked_for.push_back(recall.lease);
                                               }));
        OpContext ctx;
        ctx.holder = me;
        for (int step = 0; step < 100; ++step) {
          const std::size_t which = random() % kFiles;
          const FileId file{which + 10};
          const auto opened = table().open({file, me, kShareBoth, kShareNone});
          const auto locked = table().lock(file, {me, "o"}, {0, 1}, true);
          if (locked && !*locked) {
            EXPECT_EQ(inside[which].fetch_add(1), 0);
            inside[which].fetch_sub(1);
            EXPECT_TRUE(table().unlock(file, {me, "o"}, {0, 1}));
          }
          const auto lease = grant(table(), file, me, kReadDelegation);
          EXPECT_EQ(code(table().before_read(ctx, file)) == Errc::kRecallPending, false);
          const Touched touched{.file = file};
          (void)table().before_mutate(ctx, std::span(&touched, 1));
          table().send_recalls();
          if (random() % 2 == 0 && lease) table().return_lease(*lease);
          if (opened && random() % 4 != 0) table().close(*opened);
          std::vector<LeaseId> due;
          {
            const std::lock_guard lock(mutex);
            due.swap(asked_for);
          }
          for (const LeaseId one : due) table().return_lease(one);
        }
        table().remove_holder(me);
        EXPECT_FALSE(table().holds_state(me));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string metrics = metrics_.render();
  for (const char* name : {"stoa_opens 0", "stoa_byte_range_locks 0", "stoa_leases 0", "stoa_state_holders 0"}) {
    EXPECT_NE(metrics.find(name), std::string::npos) << name;
  }
}

// Grants of files leases and of leases of their files, against looks and changes of others: who has write caching is
// alone, until it gives the bit back itself.
TEST_F(StateConcurrency, WritingUnderAFilesLeaseIsAlone) {
  constexpr FileId kDirectory{500};
  constexpr FileId kCovered{501};
  files_.directories.insert(kDirectory);
  files_.names[kCovered] = {kDirectory};
  table();
  std::atomic<int> writers = 0;
  std::atomic<int> granted = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const LeaseTerms terms{.recall_timeout = std::chrono::hours(1),
                             .pause_after_look = std::chrono::seconds(0),
                             .pause_after_change = std::chrono::seconds(0),
                             .pause_after_name_change = std::chrono::seconds(0)};
      const HolderId me = table().add_holder(Protocol::kNative, nullptr, {}, terms);
      OpContext ctx;
      ctx.holder = me;
      const bool of_directory = t % 2 == 0;
      for (int round = 0; round < 2000; ++round) {
        const auto lease =
            table().grant_lease(of_directory ? kDirectory : kCovered, {me, {}},
                                {.bits = kAllCaching, .kind = of_directory ? LeaseKind::kFiles : LeaseKind::kCache});
        const Touched touched{.file = kCovered, .directory = kDirectory};
        if (lease && (lease->bits & kWriteCaching) != 0) {
          ++granted;
          EXPECT_EQ(writers.fetch_add(1), 0);
          OpContext cached = ctx;
          cached.cached_under = lease->id;
          EXPECT_TRUE(table().before_mutate(cached, std::span(&touched, 1)));
          writers.fetch_sub(1);
        }
        if (lease) table().return_lease(lease->id);
        (void)table().before_look(ctx, touched);
        (void)table().before_mutate(ctx, std::span(&touched, 1));
        table().send_recalls();
      }
      table().remove_holder(me);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(granted, 0);
  const std::string metrics = metrics_.render();
  for (const char* name : {"stoa_leases 0", "stoa_files_leases 0"}) {
    EXPECT_NE(metrics.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace stoa::core::test
