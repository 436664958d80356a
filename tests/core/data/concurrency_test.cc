#include <thread>

#include "tests/core/data/data_fixture.h"
#include "tests/core/data/sizes.h"

namespace stoa::core::test {
namespace {

using DataConcurrencyTest = DataTest<LocalBlobs>;

void run_threads(unsigned count, const std::function<void(unsigned)>& body) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DataConcurrencyTest, ManyWritersGrowOneFile) {
  const FileId id = create("f");
  std::atomic<int> failures{0};
  run_threads(6, [&](unsigned t) {
    for (unsigned i = 0; i < 5; ++i) {
      failures += !write(id, (i * 6 + t) * kM, text(kM, i * 6 + t));
      if (i % 2 == 0) failures += !ns().commit(durable_, {id});
    }
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(attr(id).size, 30 * kM);
  EXPECT_EQ(usage().bytes, static_cast<std::int64_t>(30 * kM));
  for (unsigned i = 0; i < 30; ++i) EXPECT_TRUE(read(id, i * kM, kM) == text(kM, i)) << i;
  reopen();
  for (unsigned i = 0; i < 30; ++i) EXPECT_TRUE(read(id, i * kM, kM) == text(kM, i)) << i;
  expect_no_garbage();
}

// A flush that finds nothing left to do must not remove state that a running write relies on.
TEST_F(DataConcurrencyTest, DurableOverwritesOfOneFileDoNotDisturbEachOther) {
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, text(kM, 0), true));
  std::atomic<int> failures{0};
  run_threads(8, [&](unsigned t) {
    for (unsigned i = 0; i < 40; ++i) failures += !write(id, ((i * 8 + t) * 4096) % kM, text(4096, i * 8 + t), true);
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(attr(id).size, kM);
  reopen();
  for (unsigned block = 0; block < 256; ++block) {
    // The last write of each block: blocks repeat after 256 writes.
    const unsigned last = block + (320 - 1 - block) / 256 * 256;
    EXPECT_TRUE(read(id, block * 4096, 4096) == text(4096, block) || read(id, block * 4096, 4096) == text(4096, last))
        << block;
  }
  expect_no_garbage();
}

TEST_F(DataConcurrencyTest, QuotaIsExactWhileManyGrowFiles) {
  ASSERT_TRUE(ns().set_quota(durable_, {kRootId, {.bytes = 10 * kM}}));
  std::vector<FileId> files;
  for (int i = 0; i < 4; ++i) files.push_back(create("f" + std::to_string(i)));
  run_threads(8, [&](unsigned t) {
    for (unsigned i = 0; i < 12; ++i) {
      const auto done = write(files[t % 4], (i * 2 + t / 4) * 300'000, text(300'000, i), i % 3 == 0);
      EXPECT_TRUE(done || done.error().code == Errc::kQuota);
      EXPECT_LE(usage().bytes, static_cast<std::int64_t>(10 * kM));
    }
  });
  std::int64_t sum = 0;
  for (const FileId id : files) sum += static_cast<std::int64_t>(attr(id).size);
  EXPECT_EQ(usage().bytes, sum);
  expect_no_garbage();
}

TEST_F(DataConcurrencyTest, EverythingAtOnceStaysConsistent) {
  constexpr unsigned kFiles = 3;
  std::vector<std::string> names;
  for (unsigned i = 0; i < kFiles; ++i) {
    names.push_back("f" + std::to_string(i));
    create(names.back());
  }
  std::atomic<bool> stop{false};
  std::thread background([&] {
    while (!stop) {
      EXPECT_TRUE(volume_->flush());
      EXPECT_TRUE(volume_->run_gc());
      EXPECT_TRUE(volume_->run_scrub());
      const auto report = volume_->check({.read_data = true});
      EXPECT_TRUE(report);
      for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
    }
  });
  run_threads(4, [&](unsigned t) {
    std::mt19937 random(t);
    for (int step = 0; step < 120; ++step) {
      const std::string& name = names[random() % kFiles];
      const auto found = ns().lookup(durable_, {kRootId, name});
      if (!found) {
        (void)ns().create(durable_, {.parent = kRootId, .name = name});
        continue;
      }
      const FileId id = found->attr.id;
      const std::uint64_t offset = random() % (10 * kM);
      switch (random() % 9) {
        case 0:
          (void)truncate(id, offset);
          break;
        case 1:
          (void)ns().punch(durable_, {id, offset, random() % kM});
          break;
        case 2:
          (void)put(name, text(random() % (2 * kM), random()));
          break;
        case 3:
          (void)ns().unlink(durable_, {kRootId, name});
          break;
        case 4: {
          const auto other = ns().lookup(durable_, {kRootId, names[random() % kFiles]});
          if (other) (void)ns().copy_range(durable_, {id, 0, other->attr.id, offset, 0, true});
          break;
        }
        case 5:
          (void)read_by_slices(id, offset, kM);
          break;
        default:
          (void)write(id, offset, text(random() % (kM + 5000), random()), random() % 3 == 0);
          break;
      }
    }
  });
  stop = true;
  background.join();
  EXPECT_TRUE(volume_->damage().empty());
  expect_no_garbage();
  reopen();
  expect_no_garbage();
  for (const std::string& name : names) (void)ns().unlink(durable_, {kRootId, name});
  expect_no_garbage();
  EXPECT_EQ(blob_count(), 0u);
  EXPECT_EQ(usage().bytes, 0);
}

}  // namespace
}  // namespace stoa::core::test
