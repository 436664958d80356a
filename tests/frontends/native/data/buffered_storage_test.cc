#include "frontends/native/data/buffered_storage.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

#include "tests/frontends/native/data/stored_files.h"

namespace stoa::native::data {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::uint32_t kAllBits = core::kReadCaching | core::kWriteCaching;
const core::FileId kFile = file_id(7);

class Buffered : public testing::Test {
 protected:
  void SetUp() override { leases.grant(kAllBits); }
  OpenNumber open(core::FileId id = kFile, std::uint32_t access = core::kShareBoth) {
    return storage.open(asker, {.id = id, .access = access})->open;
  }
  Status write(OpenNumber number, std::uint64_t offset, std::size_t size, core::FileId id = kFile) {
    const Bytes data(size, std::byte{1});
    STOA_TRY(written, storage.write(asker, id, number, offset, data, {}));
    EXPECT_EQ(written.length, size);
    return {};
  }
  Errc code(const Status& status) { return status ? Errc{} : status.error().code; }
  // The server answers no write until it is let go.
  void hold_writes() {
    server.before_write = [this](core::FileId, std::uint64_t, std::size_t) -> Status {
      held.wait(true);
      return {};
    };
    held = true;
  }
  void let_go() {
    held = false;
    held.notify_all();
  }

  std::atomic<bool> held{false};
  const Asker asker{};
  StoredFiles server;
  OneLease leases{server};
  BufferedStorage storage{server, leases, 64 * 1024 * 1024};
};

TEST_F(Buffered, AWriteUnderALeaseReturnsBeforeTheServerAnswers) {
  hold_writes();
  const OpenNumber number = open();
  ASSERT_TRUE(write(number, 0, 5000));
  EXPECT_EQ(storage.getattr(asker, kFile)->size, 5000u);
  EXPECT_GE(storage.getattr(asker, kFile)->allocated, 5000u);
  EXPECT_NE(storage.getattr(asker, kFile)->mtime, Timestamp{});
  Bytes into(6000);
  EXPECT_EQ(*storage.read(asker, kFile, number, 0, into), 5000u);
  EXPECT_EQ(into[4999], std::byte{1});
  let_go();
  ASSERT_TRUE(storage.commit(asker, kFile, number));
  EXPECT_EQ(server.stored(kFile).bytes.size(), 5000u);
  EXPECT_FALSE(server.stored(kFile).uncommitted);
}

TEST_F(Buffered, WhatNobodySyncsArrivesByItself) {
  ASSERT_TRUE(write(open(), 0, 10));
  while (server.stored(kFile).bytes.empty()) std::this_thread::yield();
}

TEST_F(Buffered, WithoutALeaseAWriteIsAtTheServerWhenItReturns) {
  leases.recall(storage);
  ASSERT_TRUE(write(open(), 0, 10));
  EXPECT_EQ(server.stored(kFile).bytes.size(), 10u);
}

TEST_F(Buffered, AnOpenThatMayNotWriteIsRefusedByTheServerAtOnce) {
  server.before_write = [](core::FileId, std::uint64_t, std::size_t) { return fail(Errc::kAccess); };
  EXPECT_EQ(code(write(open(kFile, core::kShareRead), 0, 10)), Errc::kAccess);
  EXPECT_EQ(code(write(0, 0, 10)), Errc::kAccess);
}

TEST_F(Buffered, SequentialWritesBecomeLargeOnes) {
  hold_writes();  // so that the writer is ahead of those that send
  const OpenNumber number = open();
  for (std::uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(write(number, i * 131072, 131072));
  let_go();
  ASSERT_TRUE(storage.commit(asker, kFile, number));
  EXPECT_EQ(server.stored(kFile).bytes.size(), 64u * 131072);
  EXPECT_EQ(server.counts().largest_write, kWriteBytesMost);
}

TEST_F(Buffered, SmallFilesLeaveInFewMessagesAndTheirOpensEndBehindThem) {
  constexpr std::uint64_t kFiles = 1000;
  for (std::uint64_t i = 0; i < kFiles; ++i) {
    const OpenNumber number = open(file_id(100 + i));
    ASSERT_TRUE(write(number, 0, 100, file_id(100 + i)));
    storage.close(asker, number);
  }
  (void)storage.commit_everything();
  for (std::uint64_t i = 0; i < kFiles; ++i) ASSERT_EQ(server.stored(file_id(100 + i)).bytes.size(), 100u);
  EXPECT_EQ(server.open_count(), 0u);
  EXPECT_LE(server.counts().messages, kFiles / 4);
  EXPECT_EQ(server.counts().closes, 0u);
}

TEST_F(Buffered, AnErrorIsToldOncePerOpenFile) {
  std::atomic<bool> fails{true};
  server.before_write = [&](core::FileId, std::uint64_t, std::size_t) -> Status {
    return fails ? Status(fail(Errc::kReadOnly)) : Status{};
  };
  const OpenNumber first = open(), second = open();
  ASSERT_TRUE(write(first, 0, 10));
  EXPECT_EQ(code(storage.commit(asker, kFile, first)), Errc::kIo);
  fails = false;
  EXPECT_TRUE(storage.commit(asker, kFile, first));
  EXPECT_TRUE(storage.flush(asker, kFile, first));
  EXPECT_EQ(code(storage.flush(asker, kFile, second)), Errc::kIo);
  EXPECT_TRUE(storage.commit(asker, kFile, second));
  EXPECT_TRUE(storage.commit(asker, kFile, open()));
}

TEST_F(Buffered, AnErrorThatNobodyWasToldIsToldToTheNextOpen) {
  server.before_write = [&](core::FileId, std::uint64_t, std::size_t) { return fail(Errc::kIo); };
  const OpenNumber first = open();
  ASSERT_TRUE(write(first, 0, 10));
  storage.close(asker, first);
  leases.recall(storage);
  EXPECT_EQ(server.open_count(), 0u);
  const OpenNumber next = open();
  EXPECT_EQ(code(storage.flush(asker, kFile, next)), Errc::kIo);
  EXPECT_TRUE(storage.flush(asker, kFile, next));
  EXPECT_TRUE(storage.flush(asker, kFile, open()));
}

TEST_F(Buffered, LittleThatWaitsIsDurableWithItsOwnMessage) {
  const OpenNumber first = open(), second = open();
  ASSERT_TRUE(write(first, 0, 10));
  ASSERT_TRUE(write(second, 5000, 10));
  const int messages = server.counts().messages;
  EXPECT_TRUE(storage.commit(asker, kFile, first));
  EXPECT_EQ(server.counts().messages, messages + 1);
  EXPECT_EQ(server.counts().commits, 0);
  EXPECT_FALSE(server.stored(kFile).uncommitted);
  // What is at the server already has to be committed.
  ASSERT_TRUE(write(first, 0, 10));
  storage.send_unsent();
  EXPECT_TRUE(server.stored(kFile).uncommitted);
  ASSERT_TRUE(write(first, 20, 10));
  EXPECT_TRUE(storage.commit(asker, kFile, first));
  EXPECT_EQ(server.counts().commits, 1);
  EXPECT_FALSE(server.stored(kFile).uncommitted);
}

TEST_F(Buffered, ADurableWriteThatFailsIsToldToAllOpens) {
  server.before_write = [&](core::FileId, std::uint64_t, std::size_t) { return fail(Errc::kNoSpace); };
  const OpenNumber first = open(), second = open();
  ASSERT_TRUE(write(first, 0, 10));
  EXPECT_EQ(code(storage.commit(asker, kFile, first)), Errc::kNoSpace);
  EXPECT_EQ(code(storage.commit(asker, kFile, second)), Errc::kNoSpace);
}

TEST_F(Buffered, WhatAnOpenFileHasToBeToldIsToldByTheNextProcess) {
  server.before_write = [&](core::FileId, std::uint64_t, std::size_t) { return fail(Errc::kQuota); };
  const OpenNumber told = open(), untold = open(), other = open(file_id(8));
  const OpenNumber closed = open(file_id(9));
  ASSERT_TRUE(write(told, 0, 10));
  ASSERT_TRUE(write(closed, 0, 10, file_id(9)));
  storage.close(asker, closed);
  storage.write_everything_back();
  EXPECT_EQ(code(storage.flush(asker, kFile, told)), Errc::kQuota);

  const BufferedState state = storage.state();
  EXPECT_EQ(state.opens.size(), 3u);
  EXPECT_EQ(state.faults.size(), 2u);
  BufferedStorage next(server, leases, 64 * 1024 * 1024);
  next.restore(state);
  EXPECT_TRUE(next.flush(asker, kFile, told));
  EXPECT_EQ(code(next.flush(asker, kFile, untold)), Errc::kQuota);
  EXPECT_TRUE(next.flush(asker, kFile, untold));
  EXPECT_TRUE(next.flush(asker, file_id(8), other));
  const auto fresh = next.open(asker, {.id = file_id(9), .access = core::kShareBoth});
  ASSERT_TRUE(fresh);
  EXPECT_EQ(code(next.flush(asker, file_id(9), fresh->open)), Errc::kQuota);
  // The opens are those of before: writes through them are buffered.
  server.before_write = {};
  const Bytes data(10, std::byte{2});
  ASSERT_TRUE(next.write(asker, file_id(8), other, 0, data, {}));
  EXPECT_TRUE(next.has_unsent(file_id(8)));
  EXPECT_TRUE(next.commit(asker, file_id(8), other));
}

TEST_F(Buffered, AFailedCommitIsToldToAllOpens) {
  std::atomic<bool> fails{true};
  server.before_commit = [&](core::FileId) -> Status { return fails ? Status(fail(Errc::kIo)) : Status{}; };
  const OpenNumber first = open(), second = open();
  ASSERT_TRUE(write(first, 0, data::WriteBehind::kSmallSync + 1));
  EXPECT_EQ(code(storage.commit(asker, kFile, first)), Errc::kIo);
  fails = false;
  EXPECT_TRUE(storage.commit(asker, kFile, first));
  EXPECT_EQ(code(storage.commit(asker, kFile, second)), Errc::kIo);
}

TEST_F(Buffered, AFullDirectoryIsToldAsItIsAndThenWritesGoThrough) {
  std::atomic<bool> full{true};
  server.before_write = [&](core::FileId, std::uint64_t, std::size_t) -> Status {
    return full ? Status(fail(Errc::kQuota)) : Status{};
  };
  const OpenNumber number = open();
  ASSERT_TRUE(write(number, 0, 10));
  EXPECT_EQ(code(storage.commit(asker, kFile, number)), Errc::kQuota);
  EXPECT_EQ(code(write(number, 0, 10)), Errc::kQuota);
  full = false;
  EXPECT_TRUE(write(number, 0, 10));
  EXPECT_EQ(server.stored(kFile).bytes.size(), 10u);
}

TEST_F(Buffered, NearALimitOfRoomWritesGoThrough) {
  server.available = Room::kEnough + 4095;
  const OpenNumber number = open();
  ASSERT_TRUE(write(number, 0, 4096));
  EXPECT_EQ(server.stored(kFile).bytes.size(), 4096u);
}

TEST_F(Buffered, ALostLeaseLosesWhatWasNotSentAndIsTold) {
  hold_writes();
  const OpenNumber number = open(), other = open();
  ASSERT_TRUE(write(number, 0, 10));
  leases.lose(storage);
  let_go();
  EXPECT_EQ(code(storage.commit(asker, kFile, number)), Errc::kIo);
  EXPECT_TRUE(storage.commit(asker, kFile, number));
  EXPECT_EQ(code(storage.flush(asker, kFile, other)), Errc::kIo);
  EXPECT_TRUE(server.stored(kFile).bytes.empty());
  EXPECT_EQ(storage.getattr(asker, kFile)->size, 0u);
}

TEST_F(Buffered, ARecallEndsWhenAllIsCommittedWhateverClosesMeanwhile) {
  for (int round = 0; round < 20; ++round) {
    leases.grant(kAllBits);
    std::vector<OpenNumber> opens;
    for (std::uint64_t i = 0; i < 50; ++i) {
      opens.push_back(open(file_id(i + 10)));
      ASSERT_TRUE(write(opens.back(), static_cast<std::uint64_t>(round) * 100, 100, file_id(i + 10)));
    }
    std::thread closer([&] {
      for (const OpenNumber number : opens) storage.close(asker, number);
    });
    leases.recall(storage);
    for (std::uint64_t i = 0; i < 50; ++i) {
      const auto stored = server.stored(file_id(i + 10));
      EXPECT_EQ(stored.bytes.size(), static_cast<std::uint64_t>(round + 1) * 100);
      EXPECT_FALSE(stored.uncommitted);
    }
    closer.join();
  }
  (void)storage.commit_everything();
  EXPECT_EQ(server.open_count(), 0u);
}

TEST_F(Buffered, AServerThatTakesLessIsAskedAgain) {
  server.write_most = 1000;
  const OpenNumber number = open();
  ASSERT_TRUE(write(number, 0, 5001));
  ASSERT_TRUE(storage.commit(asker, kFile, number));
  EXPECT_EQ(server.stored(kFile).bytes.size(), 5001u);
}

TEST_F(Buffered, WritersWaitForRoomAndAnAskerMayGiveUp) {
  hold_writes();
  const OpenNumber number = open();
  std::atomic<bool> over{false};
  const Asker impatient{.gives_up = [&] { return over.load(); }};
  std::thread giving_up([&] {
    const Bytes data(1024 * 1024, std::byte{2});
    for (std::uint64_t i = 0;; ++i) {
      const auto written = storage.write(impatient, kFile, number, i * data.size(), data, {});
      if (written) continue;
      EXPECT_EQ(written.error().sys_errno, EINTR);
      break;
    }
  });
  while (storage.getattr(asker, kFile)->size < 15 * 1024 * 1024) std::this_thread::yield();
  over = true;
  giving_up.join();
  EXPECT_LE(storage.getattr(asker, kFile)->size, 16u * 1024 * 1024);
  let_go();
  EXPECT_TRUE(storage.commit(asker, kFile, number));
}

TEST_F(Buffered, AnFsyncEndsWhenItsAskerGivesUp) {
  hold_writes();
  const OpenNumber number = open();
  ASSERT_TRUE(write(number, 0, 10));
  const auto given_up = storage.commit({.gives_up = [] { return true; }}, kFile, number);
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().sys_errno, EINTR);
  let_go();
  EXPECT_TRUE(storage.commit(asker, kFile, number));
  EXPECT_EQ(server.stored(kFile).bytes.size(), 10u);
}

TEST_F(Buffered, TimesDoNotGoBack) {
  const OpenNumber number = open();
  Timestamp last{};
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(write(number, i * 10, 10));
    const Timestamp before = storage.getattr(asker, kFile)->mtime;
    EXPECT_GE(before, last);
    if (i % 7 == 0) {
      ASSERT_TRUE(storage.commit(asker, kFile, number));
    }
    last = storage.getattr(asker, kFile)->mtime;
    EXPECT_GE(last, before);
  }
  const Timestamp set{12345};
  const auto attr = storage.setattr(asker, kFile, number, {.mtime = core::SetTime{.time = set}});
  EXPECT_EQ(attr->mtime, set);
  EXPECT_EQ(storage.getattr(asker, kFile)->mtime, set);
}

TEST_F(Buffered, ASmallFileIsReadWholeByItsFirstRead) {
  server.put(kFile, Bytes(100'000, std::byte{3}));
  const OpenNumber number = open(kFile, core::kShareRead);
  Bytes into(4096);
  for (std::uint64_t at = 0; at < 100'000; at += into.size()) {
    ASSERT_EQ(*storage.read(asker, kFile, number, at, into), std::min<std::size_t>(4096, 100'000 - at));
    EXPECT_EQ(into[0], std::byte{3});
  }
  EXPECT_EQ(*storage.read(asker, kFile, number, 100'000, into), 0u);
  EXPECT_EQ(server.counts().reads, 1u);
}

TEST_F(Buffered, SequentialReadsAreAheadOfTheReader) {
  constexpr std::size_t kSize = 20 * 1024 * 1024 + 17;
  server.put(kFile, Bytes(kSize, std::byte{4}));
  const OpenNumber number = open(kFile, core::kShareRead);
  Bytes into(64 * 1024);
  std::size_t all = 0;
  while (const std::size_t length = *storage.read(asker, kFile, number, all, into)) all += length;
  EXPECT_EQ(all, kSize);
  EXPECT_LT(server.counts().reads, 60u);
}

TEST_F(Buffered, NothingIsReadAheadWithoutALease) {
  leases.recall(storage);
  server.put(kFile, Bytes(100'000, std::byte{3}));
  const OpenNumber number = open(kFile, core::kShareRead);
  Bytes into(1000);
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(storage.read(asker, kFile, number, i * 1000, into));
  EXPECT_EQ(server.counts().reads, 10u);
  server.put(kFile, Bytes(100'000, std::byte{5}));
  ASSERT_TRUE(storage.read(asker, kFile, number, 500, into));
  EXPECT_EQ(into[0], std::byte{5});
}

TEST_F(Buffered, ReadsThatAreUnderWayAtARecallAreNotKept) {
  server.put(kFile, Bytes(100'000, std::byte{3}));
  const OpenNumber number = open(kFile, core::kShareRead);
  std::binary_semaphore asked{0}, goes{0};
  std::atomic<bool> first{true};
  server.before_read = [&](core::FileId) -> Status {
    if (!first.exchange(false)) return {};
    asked.release();
    goes.acquire();
    return {};
  };
  Bytes into(10);
  std::thread reader([&] { EXPECT_EQ(*storage.read(asker, kFile, number, 0, into), 10u); });
  asked.acquire();
  leases.recall(storage);
  server.put(kFile, Bytes(100'000, std::byte{9}));
  leases.grant(kAllBits);
  goes.release();
  reader.join();
  ASSERT_EQ(*storage.read(asker, kFile, number, 0, into), 10u);
  EXPECT_EQ(into[0], std::byte{9});
}

TEST_F(Buffered, AReadThatTheServerRefusesFails) {
  server.put(kFile, Bytes(100'000, std::byte{3}));
  server.before_read = [](core::FileId) -> Status { return fail(Errc::kAccess); };
  Bytes into(10), large(3 * 1024 * 1024);
  const OpenNumber number = open(kFile, core::kShareRead);
  for (const std::uint64_t at : {0, 10, 20}) EXPECT_FALSE(storage.read(asker, kFile, number, at, into));
  EXPECT_EQ(storage.read(asker, kFile, number, 0, large).error().code, Errc::kAccess);
  server.before_read = {};
  EXPECT_EQ(*storage.read(asker, kFile, number, 0, large), 100'000u);
  EXPECT_EQ(*storage.read(asker, kFile, 0, 99'995, into), 5u);
}

}  // namespace
}  // namespace stoa::native::data
