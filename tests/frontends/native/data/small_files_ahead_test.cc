#include "frontends/native/data/small_files_ahead.h"

#include <gtest/gtest.h>

#include <future>
#include <random>
#include <semaphore>

#include "frontends/native/data/buffered_storage.h"
#include "tests/frontends/native/data/stored_files.h"

namespace stoa::native::data {
namespace {

using Content = std::vector<std::byte>;
constexpr std::uint64_t kSize = 4096;  // costs 8192

// Forgets as BufferedStorage does.
class Forgets : public KeptUnderLeases {
 public:
  explicit Forgets(FileTable& files) : files_(files) {}
  void write_back(const HeldLease&, core::FileId) override {}
  void forget(const HeldLease& lease, core::FileId id) override {
    for (const auto& file : files_.under(lease.number, id)) {
      const std::lock_guard lock(file->mutex);
      file->blocks.clear();
    }
  }
  void lose(const HeldLease&) override {}

 private:
  FileTable& files_;
};

class SmallFiles : public testing::Test {
 protected:
  void SetUp() override { leases.grant(core::kReadCaching); }
  static core::FileId id(std::size_t index) { return file_id(100 + index); }
  static Content content(std::size_t index, std::uint64_t size) {
    return Content(size, static_cast<std::byte>(index * 7 + 1));
  }
  void make_files(std::size_t count, std::uint64_t size = kSize) {
    for (std::size_t i = 0; i < count; ++i) {
      leases.listing.push_back({id(i), size});
      server.put(id(i), content(i, size));
    }
  }
  // A program begins to read a file; what that brings has come when it returns.
  void seen(std::size_t index, std::uint64_t size = kSize) {
    begin(index, size);
    settle();
  }
  void begin(std::size_t index, std::uint64_t size = kSize) {
    const OpenFile open{.file = files.get(id(index)), .size = size};
    const bool was_ahead = use(index);
    leases.opened.insert(id(index));
    const HeldLease lease = leases.pin(id(index), core::kReadCaching)->lease();
    ahead.seen(open, lease, was_ahead);
  }
  // There is one thread, which has then done all that was posted before.
  void settle() {
    std::promise<void> done;
    ASSERT_TRUE(workers.post([&] { done.set_value(); }));
    done.get_future().wait();
  }
  // The file, whole, if it is there; then it is taken out.
  bool use(std::size_t index) {
    if (!is_ahead(index)) return false;
    const auto file = files.find(id(index));
    const std::lock_guard lock(file->mutex);
    std::uint64_t gap = 0;
    const auto block = file->blocks.find(0, 1, &gap);
    block->ahead->use();
    file->blocks.remove(block);
    return true;
  }
  bool is_ahead(std::size_t index) {
    const auto file = files.find(id(index));
    if (file == nullptr) return false;
    const std::lock_guard lock(file->mutex);
    std::uint64_t gap = 0;
    const auto block = file->blocks.find(0, 1, &gap);
    if (block == nullptr || !block->there) return false;
    const Content stored = server.stored(id(index)).bytes;
    EXPECT_EQ(block->valid, stored.size());
    EXPECT_LT(block->valid, block->length) << "it is known to end there";
    EXPECT_EQ(std::memcmp(block->bytes.get(), stored.data(), stored.size()), 0);
    return true;
  }
  bool has_block(std::size_t index) {
    const auto file = files.find(id(index));
    if (file == nullptr) return false;
    const std::lock_guard lock(file->mutex);
    return !file->blocks.empty();
  }
  std::size_t count_ahead() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < leases.listing.size(); ++i) count += is_ahead(i) ? 1 : 0;
    return count;
  }

  StoredFiles server;
  OneLease leases{server};
  BlockBudget budget{64 * 1024 * 1024};
  FileTable files;
  Forgets kept{files};
  std::atomic<bool> stopping{false};
  Workers workers{1, 64};
  SmallFilesAhead ahead{server, leases, files, budget, workers, stopping};
};

TEST_F(SmallFiles, TheFourthThatIsReadBringsThoseBehindIt) {
  make_files(200);
  for (std::size_t i = 10; i < 13; ++i) seen(i);
  EXPECT_EQ(server.counts().reads, 0u);
  seen(13);
  EXPECT_EQ(server.counts().read_messages, 1u);
  EXPECT_EQ(count_ahead(), 32u);
  for (std::size_t i = 14; i < 14 + 32; ++i) EXPECT_TRUE(is_ahead(i)) << i;
}

TEST_F(SmallFiles, ADirectoryInItsOrderTakesFewMessages) {
  make_files(2000);
  std::size_t missed = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    missed += is_ahead(i) ? 0 : 1;
    seen(i);
  }
  EXPECT_EQ(missed, 4u);
  EXPECT_LE(server.counts().read_messages, 60u);
  EXPECT_EQ(server.counts().reads, 1996u) << "each is read once";
}

TEST_F(SmallFiles, ASmallDirectoryInAnyOrderIsSoonAhead) {
  make_files(2000);
  std::vector<std::size_t> order(2000);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937{5});
  std::size_t missed = 0;
  for (const std::size_t i : order) {
    missed += is_ahead(i) ? 0 : 1;
    seen(i);
  }
  EXPECT_LT(missed, 400u);
  EXPECT_LE(server.counts().read_messages, 80u);
}

TEST_F(SmallFiles, ADirectoryThatIsReadAgainIsReadAheadAgain) {
  make_files(300);
  for (std::size_t i = 0; i < 300; ++i) seen(i);
  const auto messages = server.counts().read_messages;
  for (std::size_t i = 0; i < 7; ++i) seen(i);
  EXPECT_EQ(server.counts().read_messages, messages);
  std::size_t missed = 0;
  for (std::size_t i = 7; i < 300; ++i) {
    missed += is_ahead(i) ? 0 : 1;
    seen(i);
  }
  EXPECT_LT(missed, 40u);
}

TEST_F(SmallFiles, ReadsHereAndThereOfALargeDirectoryBringAWindow) {
  make_files(20'000);  // more than half of the budget
  for (std::size_t i = 0; i < 2000; ++i) seen(i * 7919 % 20'000);
  EXPECT_LE(count_ahead() * DirectoryReads::cost(kSize), DirectoryReads::kWindowMost + DirectoryReads::kPieceMost);
}

TEST_F(SmallFiles, ADirectoryOfOneFileIsReadOnceMoreAtMost) {
  make_files(1);
  for (int i = 0; i < 6; ++i) seen(0);
  EXPECT_LE(server.counts().reads, 1u);
}

TEST_F(SmallFiles, OnlySmallFilesCount) {
  constexpr std::uint64_t kMost = DirectoryReads::kFileBytesMost;
  make_files(40);
  for (int i = 0; i < 10; ++i) seen(0, 0);
  for (int i = 0; i < 10; ++i) seen(0, kMost + 1);
  EXPECT_EQ(server.counts().reads, 0u);
  for (int i = 0; i < 4; ++i) seen(0, kMost);
  EXPECT_NE(server.counts().reads, 0u);
}

TEST_F(SmallFiles, EmptyAndLargeFilesAreLeftOut) {
  constexpr std::uint64_t kMost = DirectoryReads::kFileBytesMost;
  const std::vector<std::uint64_t> sizes{kSize, 0, 1, kMost - 1, kMost + 1, kMost, 17};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    leases.listing.push_back({id(i), sizes[i]});
    server.put(id(i), content(i, sizes[i]));
  }
  for (int i = 0; i < 20; ++i) seen(0, kMost);
  for (std::size_t i = 1; i < sizes.size(); ++i) EXPECT_EQ(is_ahead(i), sizes[i] != 0 && sizes[i] <= kMost) << i;
}

TEST_F(SmallFiles, AFullBudgetEndsItUntilFilesAreRead) {
  BlockBudget small{DirectoryReads::kPieceMost * 2};
  SmallFilesAhead limited{server, leases, files, small, workers, stopping};
  make_files(500);
  const auto read = [&](std::size_t index) {
    const OpenFile open{.file = files.get(id(index)), .size = kSize};
    const bool was_ahead = use(index);
    leases.opened.insert(id(index));
    limited.seen(open, leases.pin(id(index), core::kReadCaching)->lease(), was_ahead);
    settle();
  };
  for (std::size_t i = 0; i < 4; ++i) read(i);
  EXPECT_EQ(server.counts().reads, 32u);
  for (std::size_t i = 100; i < 120; ++i) read(i);
  EXPECT_EQ(server.counts().reads, 32u);
  for (std::size_t i = 4; i < 36; ++i) read(i);
  EXPECT_GT(server.counts().reads, 32u);
  EXPECT_LE(small.bytes(), DirectoryReads::kPieceMost);
  leases.recall(kept);  // the blocks end before their budget
}

TEST_F(SmallFiles, WhatIsUnderWayAtARecallIsNotKept) {
  make_files(100);
  std::binary_semaphore asked{0}, goes{0};
  std::atomic<bool> first{true};
  server.before_read = [&](core::FileId) -> Status {
    if (!first.exchange(false)) return {};
    asked.release();
    goes.acquire();
    return {};
  };
  for (std::size_t i = 0; i < 4; ++i) begin(i);
  asked.acquire();
  EXPECT_TRUE(leases.recall(kept));
  server.put(id(4), content(77, kSize));
  leases.grant(core::kReadCaching);
  goes.release();
  settle();
  EXPECT_EQ(count_ahead(), 0u);
  EXPECT_EQ(budget.bytes(), 0u);
  for (std::size_t i = 0; i < 4; ++i) seen(i);
  EXPECT_EQ(count_ahead(), 32u) << "and it begins again under the next lease";
}

TEST_F(SmallFiles, AFileThatIsReplacedMeanwhileIsNotKept) {
  make_files(100);
  std::binary_semaphore asked{0}, goes{0};
  std::atomic<bool> first{true};
  server.before_read = [&](core::FileId) -> Status {
    if (!first.exchange(false)) return {};
    asked.release();
    goes.acquire();
    return {};
  };
  for (std::size_t i = 0; i < 4; ++i) begin(i);
  asked.acquire();
  {
    const auto file = files.find(id(10));
    const std::lock_guard lock(file->mutex);
    file->blocks.clear();  // as every change of this client does
  }
  goes.release();
  settle();
  EXPECT_FALSE(has_block(10));
  EXPECT_EQ(count_ahead(), 31u);
}

TEST_F(SmallFiles, AFileThatThisClientIsChangingIsLeftOut) {
  make_files(100);
  files.get(id(10))->through = 1;
  const auto open = std::make_shared<OpenFile>();
  (void)files.get(id(11))->writes.add(0, content(1, 10), 1, open);
  for (std::size_t i = 0; i < 4; ++i) seen(i);
  EXPECT_FALSE(has_block(10));
  EXPECT_FALSE(has_block(11));
  EXPECT_TRUE(is_ahead(12));
}

TEST_F(SmallFiles, AFileThatFailsIsLeftOutAndTheOthersAreNot) {
  make_files(100);
  server.before_read = [](core::FileId one) { return one == id(10) ? Status(fail(Errc::kAccess)) : Status{}; };
  for (std::size_t i = 0; i < 4; ++i) seen(i);
  EXPECT_FALSE(has_block(10));
  EXPECT_EQ(count_ahead(), 31u);
}

TEST_F(SmallFiles, AServerThatRefusesAllIsAskedLessAndLess) {
  make_files(2000);
  server.before_read = [](core::FileId) { return fail(Errc::kAccess); };
  for (std::size_t i = 0; i < 100; ++i) seen(i);
  EXPECT_LT(server.counts().read_messages, 20u);
  EXPECT_EQ(budget.bytes(), 0u);
}

TEST_F(SmallFiles, NothingIsReadWithoutALease) {
  make_files(100);
  const HeldLease before = leases.pin(id(0), core::kReadCaching)->lease();
  leases.recall(kept);
  for (std::size_t i = 0; i < 20; ++i) ahead.seen({.file = files.get(id(i)), .size = kSize}, before, false);
  settle();
  EXPECT_EQ(server.counts().reads, 0u);
}

// The whole storage: what a program reads, and how often the server is asked.
class SmallFilesBuffered : public testing::Test {
 protected:
  void SetUp() override {
    leases.grant(core::kReadCaching | core::kWriteCaching);
    for (std::uint64_t i = 0; i < 100; ++i) {
      leases.listing.push_back({file_id(100 + i), kSize});
      server.put(file_id(100 + i), Content(kSize, static_cast<std::byte>(i)));
    }
  }
  std::byte first_byte(std::uint64_t index) {
    const auto opened = storage.open(asker, {.id = file_id(100 + index), .access = core::kShareRead});
    Content into(kSize);
    EXPECT_EQ(*storage.read(asker, file_id(100 + index), opened->open, 0, into), kSize);
    storage.close(asker, opened->open);
    return into[kSize - 1];
  }
  const Asker asker{};
  std::binary_semaphore asked{0}, goes{0};  // they outlive the threads of the storage
  std::atomic<bool> held{true};
  const std::thread::id reader = std::this_thread::get_id();
  StoredFiles server;
  OneLease leases{server};
  BufferedStorage storage{server, leases, 64 * 1024 * 1024};
};

TEST_F(SmallFilesBuffered, ProgramsReadWhatIsThere) {
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(first_byte(i), static_cast<std::byte>(i));
  // Written here, so no longer what was read.
  const auto opened = storage.open(asker, {.id = file_id(150), .access = core::kShareBoth});
  ASSERT_TRUE(storage.write(asker, file_id(150), opened->open, 0, Content(kSize, std::byte{0xee}), {}));
  EXPECT_EQ(first_byte(50), std::byte{0xee});
}

TEST_F(SmallFilesBuffered, ANewLeaseShowsWhatOthersHaveWritten) {
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t i = 0; i < 20; ++i) (void)first_byte(i);
    leases.recall(storage);
    for (std::uint64_t i = 0; i < 100; ++i) server.put(file_id(100 + i), Content(kSize, static_cast<std::byte>(round)));
    leases.grant(core::kReadCaching);
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(first_byte(i), static_cast<std::byte>(round));
  }
}

TEST_F(SmallFilesBuffered, AReaderDoesNotWaitForASlowMessage) {
  server.before_read = [this](core::FileId) -> Status {
    if (std::this_thread::get_id() == reader || !held.exchange(false)) return {};
    asked.release();
    goes.acquire();
    return {};
  };
  for (std::uint64_t i = 0; i < 4; ++i) (void)first_byte(i);
  asked.acquire();
  for (std::uint64_t i = 4; i < 10; ++i) EXPECT_EQ(first_byte(i), static_cast<std::byte>(i));
  goes.release();
}

}  // namespace
}  // namespace stoa::native::data
