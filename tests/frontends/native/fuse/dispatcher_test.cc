#include "frontends/native/fuse/dispatcher.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <semaphore>

#include "frontends/native/fuse/attributes.h"
#include "tests/frontends/native/fuse/kernel_request.h"
#include "tests/frontends/native/fuse/stub_file_system.h"

namespace stoa::native::fuse {
namespace {

class FuseDispatcher : public ::testing::Test {
 protected:
  KeptReplies::One ask(const KernelRequest& request, std::size_t space = 1 << 20) {
    const auto bytes = request.bytes();
    std::vector<std::byte> room(space);
    KeptReplies replies;
    EXPECT_TRUE(dispatcher_.handle(bytes, room, replies));
    EXPECT_EQ(replies.count(), 1u);
    return replies.count() == 1 ? replies.wait_for(9) : KeptReplies::One{-1, {}};
  }

  StubFileSystem fs_;
  KeptReplies later_;  // outlives the dispatcher
  Dispatcher dispatcher_{fs_, Negotiated{.minor = 39, .write_bytes_max = 1 << 20, .direct_io = true}};
};

// One well-formed request of each kind that has a reply.
std::vector<KernelRequest> all_requests() {
  const fuse_lk_in lock{.fh = 1, .owner = 2, .lk = {.start = 0, .end = 9, .type = F_WRLCK, .pid = 3}};
  return {
      KernelRequest(FUSE_LOOKUP, 1).text("name"),
      KernelRequest(FUSE_GETATTR, 1).put(fuse_getattr_in{}),
      KernelRequest(kOpStatx, 1).put(StatxIn{}),
      KernelRequest(FUSE_SETATTR, 1).put(fuse_setattr_in{.valid = FATTR_SIZE, .size = 5}),
      KernelRequest(FUSE_SYMLINK, 1).text("name").text("target"),
      KernelRequest(FUSE_MKNOD, 1).put(fuse_mknod_in{.mode = S_IFIFO | 0600}).text("name"),
      KernelRequest(FUSE_MKDIR, 1).put(fuse_mkdir_in{.mode = 0700}).text("name"),
      KernelRequest(FUSE_UNLINK, 1).text("name"),
      KernelRequest(FUSE_RMDIR, 1).text("name"),
      KernelRequest(FUSE_RENAME, 1).put(fuse_rename_in{.newdir = 1}).text("a").text("b"),
      KernelRequest(FUSE_RENAME2, 1).put(fuse_rename2_in{.newdir = 1, .flags = 1}).text("a").text("b"),
      KernelRequest(FUSE_LINK, 1).put(fuse_link_in{.oldnodeid = 8}).text("name"),
      KernelRequest(FUSE_OPEN, 8).put(fuse_open_in{.flags = O_RDWR}),
      KernelRequest(FUSE_CREATE, 1).put(fuse_create_in{.flags = O_RDWR, .mode = 0600}).text("name"),
      KernelRequest(FUSE_TMPFILE, 1).put(fuse_create_in{.flags = O_RDWR, .mode = 0600}).text("/"),
      KernelRequest(FUSE_READ, 8).put(fuse_read_in{.fh = 1, .offset = 3, .size = 100}),
      KernelRequest(FUSE_WRITE, 8).put(fuse_write_in{.fh = 1, .size = 4}).put(std::uint32_t{7}),
      KernelRequest(FUSE_RELEASE, 8).put(fuse_release_in{.fh = 1}),
      KernelRequest(FUSE_FSYNC, 8).put(fuse_fsync_in{.fh = 1}),
      KernelRequest(FUSE_FLUSH, 8).put(fuse_flush_in{.fh = 1}),
      KernelRequest(FUSE_GETXATTR, 8).put(fuse_getxattr_in{.size = 100}).text("user.a"),
      KernelRequest(FUSE_LISTXATTR, 8).put(fuse_getxattr_in{.size = 100}),
      KernelRequest(FUSE_SETXATTR, 8).put(std::uint32_t{2}).put(std::uint32_t{0}).text("user.a").put('1').put('2'),
      KernelRequest(FUSE_REMOVEXATTR, 8).text("user.a"),
      KernelRequest(FUSE_OPENDIR, 8).put(fuse_open_in{}),
      KernelRequest(FUSE_READDIR, 8).put(fuse_read_in{.fh = 3, .size = 4096}),
      KernelRequest(FUSE_READDIRPLUS, 8).put(fuse_read_in{.fh = 3, .size = 4096}),
      KernelRequest(FUSE_RELEASEDIR, 8).put(fuse_release_in{.fh = 3}),
      KernelRequest(FUSE_FSYNCDIR, 8).put(fuse_fsync_in{.fh = 3}),
      KernelRequest(FUSE_GETLK, 8).put(lock),
      KernelRequest(FUSE_SETLK, 8).put(lock),
      KernelRequest(FUSE_SETLKW, 8).put(lock),
      KernelRequest(FUSE_ACCESS, 8).put(fuse_access_in{.mask = 0}),
      KernelRequest(FUSE_LSEEK, 8).put(fuse_lseek_in{.fh = 1, .offset = 4, .whence = SEEK_DATA}),
      KernelRequest(FUSE_FALLOCATE, 8).put(fuse_fallocate_in{.fh = 1, .length = 4}),
      KernelRequest(FUSE_COPY_FILE_RANGE, 8).put(fuse_copy_file_range_in{.fh_in = 1, .nodeid_out = 9, .len = 4}),
  };
}

TEST_F(FuseDispatcher, EveryRequestThatIsCutShortIsRefusedOnce) {
  for (const KernelRequest& request : all_requests()) {
    const int whole = ask(request).error;
    EXPECT_TRUE(whole == 0 || whole == ENOTEMPTY) << whole;
    for (std::size_t length = 0; length < request.argument_bytes(); ++length) {
      EXPECT_EQ(ask(request.cut(length)).error, EINVAL) << length;
    }
  }
}

TEST_F(FuseDispatcher, BytesThatAreNoRequestGetNoReply) {
  auto bytes = KernelRequest(FUSE_LOOKUP, 1).text("name").bytes();
  KeptReplies replies;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(dispatcher_.handle(std::span(bytes).first(length), {}, replies));
  }
  auto header = body_as<fuse_in_header>({0, bytes});
  header.total_extlen = 100;
  std::memcpy(bytes.data(), &header, sizeof(header));
  EXPECT_FALSE(dispatcher_.handle(bytes, {}, replies));
  EXPECT_EQ(replies.count(), 0u);
}

TEST_F(FuseDispatcher, TheRootIsNodeOneAndOthersAreTheirFileIds) {
  EXPECT_EQ(body_as<fuse_entry_out>(ask(KernelRequest(FUSE_LOOKUP, 1).text("abc"))).nodeid, 80u);  // 77 + 3
  EXPECT_EQ(body_as<fuse_entry_out>(ask(KernelRequest(FUSE_LOOKUP, 75).text("ab"))).nodeid, 1u);
  const auto entry = body_as<fuse_entry_out>(ask(KernelRequest(FUSE_LOOKUP, 1).text("abc")));
  EXPECT_EQ(entry.attr.ino, 80u);
  EXPECT_EQ(entry.generation, 5u);
  EXPECT_EQ(entry.attr_valid, 0u);
  EXPECT_EQ(entry.entry_valid, 0u);
  EXPECT_EQ(ask(KernelRequest(FUSE_LOOKUP, 1).text("none")).error, ENOENT);
}

TEST_F(FuseDispatcher, RepliesTellHowLongTheyHold) {
  fs_.valid = {.entry = std::chrono::milliseconds(2'500), .attr = std::chrono::nanoseconds(1'000'000'007)};
  const auto entry = body_as<fuse_entry_out>(ask(KernelRequest(FUSE_LOOKUP, 1).text("abc")));
  EXPECT_EQ(entry.entry_valid, 2u);
  EXPECT_EQ(entry.entry_valid_nsec, 500'000'000u);
  EXPECT_EQ(entry.attr_valid, 1u);
  EXPECT_EQ(entry.attr_valid_nsec, 7u);
  const auto attr = body_as<fuse_attr_out>(ask(KernelRequest(FUSE_GETATTR, 1).put(fuse_getattr_in{})));
  EXPECT_EQ(attr.attr_valid, 1u);
  EXPECT_EQ(attr.attr_valid_nsec, 7u);
  const auto statx = body_as<StatxOut>(ask(KernelRequest(kOpStatx, 1).put(StatxIn{})));
  EXPECT_EQ(statx.attr_valid_nsec, 7u);
  // The time may have passed while the reply was made.
  fs_.valid = {.entry = std::chrono::nanoseconds(-1), .attr = std::chrono::nanoseconds(-5)};
  const auto late = body_as<fuse_entry_out>(ask(KernelRequest(FUSE_LOOKUP, 1).text("abc")));
  EXPECT_EQ(late.entry_valid, 0u);
  EXPECT_EQ(late.entry_valid_nsec, 0u);
  EXPECT_EQ(late.attr_valid, 0u);
}

TEST_F(FuseDispatcher, WhatACallHoldsIsLetGoBehindTheDelivery) {
  class Deliveries : public KeptReplies {
   public:
    std::weak_ptr<void> held;
    int delivered = 0;
    void deliver() override {
      EXPECT_EQ(count(), 1u);
      EXPECT_FALSE(held.expired());
      ++delivered;
    }
  };
  Deliveries replies;
  const auto bytes = KernelRequest(FUSE_LOOKUP, 1).text("abc").bytes();
  EXPECT_TRUE(dispatcher_.handle(bytes, {}, replies));
  EXPECT_EQ(replies.delivered, 0);
  Deliveries held_replies;
  fs_.while_looked_up = [&](const Call& call) {
    auto what = std::make_shared<int>(1);
    held_replies.held = what;
    call.hold(std::move(what));
  };
  EXPECT_TRUE(dispatcher_.handle(bytes, {}, held_replies));
  EXPECT_EQ(held_replies.delivered, 1);
  EXPECT_TRUE(held_replies.held.expired());
}

TEST_F(FuseDispatcher, ALockThatMayNotBeAnsweredLaterIsRefused) {
  class Impatient : public KeptReplies {
   public:
    bool may_reply_later() override { return false; }
  };
  fs_.lock_is_free = false;
  const fuse_lk_in lock{.fh = 1, .owner = 2, .lk = {.start = 0, .end = 9, .type = F_WRLCK, .pid = 3}};
  Impatient replies;
  EXPECT_TRUE(dispatcher_.handle(KernelRequest(FUSE_SETLKW, 8).put(lock).bytes(), {}, replies));
  EXPECT_EQ(replies.wait_for(9).error, ENOLCK);
}

TEST_F(FuseDispatcher, ANameThatIsNotThereMayBeKeptToo) {
  EXPECT_EQ(ask(KernelRequest(FUSE_LOOKUP, 1).text("never")).error, ENOENT);
  fs_.valid.entry = std::chrono::seconds(3);
  const auto reply = ask(KernelRequest(FUSE_LOOKUP, 1).text("never"));
  EXPECT_EQ(reply.error, 0);
  EXPECT_EQ(body_as<fuse_entry_out>(reply).nodeid, 0u);
  EXPECT_EQ(body_as<fuse_entry_out>(reply).entry_valid, 3u);
}

TEST_F(FuseDispatcher, AnOpenSaysWhatTheKernelMayDoByItself) {
  const auto flags_of = [this](std::uint32_t opcode, const Opened& opened, std::uint32_t flags = O_RDWR) {
    fs_.opened = opened;
    return body_as<fuse_open_out>(ask(KernelRequest(opcode, 8).put(fuse_open_in{.flags = flags}))).open_flags;
  };
  constexpr std::uint32_t kDirect = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
  EXPECT_EQ(flags_of(FUSE_OPEN, {}), 0u);
  EXPECT_EQ(flags_of(FUSE_OPEN, {.direct = true}), kDirect);
  EXPECT_EQ(flags_of(FUSE_OPEN, {.keep_cache = true, .no_flush = true}), FOPEN_KEEP_CACHE | FOPEN_NOFLUSH);
  EXPECT_EQ(flags_of(FUSE_OPEN, {.keep_cache = true}, O_WRONLY | O_APPEND), kDirect | FOPEN_KEEP_CACHE);
  EXPECT_EQ(flags_of(FUSE_OPENDIR, {}), 0u);
  EXPECT_EQ(flags_of(FUSE_OPENDIR, {.keep_cache = true}), FOPEN_KEEP_CACHE | FOPEN_CACHE_DIR);
}

TEST_F(FuseDispatcher, AFileWithoutANameComesOpen) {
  const auto reply =
      ask(KernelRequest(FUSE_TMPFILE, 1).put(fuse_create_in{.flags = O_RDWR | O_APPEND, .mode = 0600}).text("/"));
  EXPECT_EQ(body_as<fuse_entry_out>(reply).nodeid, 1077u);
  EXPECT_EQ(body_as<fuse_open_out>(reply, sizeof(fuse_entry_out)).fh, 4u);
}

TEST_F(FuseDispatcher, NamesThatCanBeNoneAreRefused) {
  for (const char* name : {"", ".", "..", "a/b"}) {
    EXPECT_EQ(ask(KernelRequest(FUSE_LOOKUP, 1).text(name)).error, EINVAL) << name;
  }
  EXPECT_EQ(ask(KernelRequest(FUSE_LOOKUP, 1).text(std::string(255, 'n'))).error, 0);
  EXPECT_EQ(ask(KernelRequest(FUSE_LOOKUP, 1).text(std::string(256, 'n'))).error, ENAMETOOLONG);
  EXPECT_EQ(ask(KernelRequest(FUSE_SYMLINK, 1).text("n").text(std::string(4096, 't'))).error, ENAMETOOLONG);
  EXPECT_EQ(ask(KernelRequest(FUSE_SYMLINK, 1).text("n").text("")).error, EINVAL);
}

TEST_F(FuseDispatcher, RepliesNeverExceedTheirSpace) {
  EXPECT_EQ(ask(KernelRequest(FUSE_READ, 8).put(fuse_read_in{.size = 101}), 100).error, EINVAL);
  EXPECT_EQ(ask(KernelRequest(FUSE_READ, 8).put(fuse_read_in{.size = 100}), 100).body.size(), 100u);
  EXPECT_EQ(ask(KernelRequest(FUSE_GETXATTR, 8).put(fuse_getxattr_in{.size = 4}).text("user.a")).error, ERANGE);
  const auto size = ask(KernelRequest(FUSE_GETXATTR, 8).put(fuse_getxattr_in{.size = 0}).text("user.a"));
  EXPECT_EQ(body_as<fuse_getxattr_out>(size).size, 5u);
  fs_.value = std::string(5000, 'l');
  EXPECT_EQ(ask(KernelRequest(FUSE_READLINK, 8)).error, ERANGE);
}

TEST_F(FuseDispatcher, EntriesArePackedUntilTheyFillTheReply) {
  for (std::uint64_t i = 1; i <= 50; ++i) {
    fs_.entries.push_back({.id = core::FileId{100 + i},
                           .type = core::FileType::kDirectory,
                           .cookie = i,
                           .name = std::string(i, 'n'),
                           .attr = core::Attributes{.id = core::FileId{100 + i}}});
  }
  for (const std::uint32_t opcode : {FUSE_READDIR, FUSE_READDIRPLUS}) {
    const std::size_t prefix = opcode == FUSE_READDIRPLUS ? sizeof(fuse_entry_out) : 0;
    for (std::uint32_t room = 0; room < 1000; ++room) {
      const auto reply = ask(KernelRequest(opcode, 8).put(fuse_read_in{.fh = 3, .offset = 10, .size = room}));
      ASSERT_EQ(reply.error, 0);
      ASSERT_LE(reply.body.size(), room);
      std::size_t at = 0;
      std::uint64_t cookie = 10;
      while (at < reply.body.size()) {
        const auto entry = body_as<std::array<std::uint64_t, 3>>(reply, at + prefix);
        ASSERT_EQ(entry[1], ++cookie);  // off
        const std::size_t name_bytes = entry[2] & 0xffffffffu;
        ASSERT_EQ(name_bytes, cookie);
        ASSERT_EQ(entry[2] >> 32, S_IFDIR >> 12);
        if (prefix != 0) {
          ASSERT_EQ(body_as<fuse_entry_out>(reply, at).nodeid, 100 + cookie);
        }
        at += FUSE_DIRENT_ALIGN(prefix + FUSE_NAME_OFFSET + name_bytes);
      }
      ASSERT_EQ(at, reply.body.size());
    }
  }
}

TEST_F(FuseDispatcher, WhatIsNotKnownIsToldOnce) {
  EXPECT_EQ(ask(KernelRequest(FUSE_BMAP, 8)).error, ENOSYS);
  EXPECT_EQ(ask(KernelRequest(4711, 8)).error, ENOSYS);
  EXPECT_EQ(ask(KernelRequest(FUSE_DESTROY, 0)).error, 0);
  KeptReplies replies;
  for (const std::uint32_t opcode : {FUSE_FORGET, FUSE_BATCH_FORGET, FUSE_INTERRUPT}) {
    EXPECT_TRUE(dispatcher_.handle(KernelRequest(opcode, 8).bytes(), {}, replies));
  }
  EXPECT_EQ(replies.count(), 0u);
}

TEST_F(FuseDispatcher, LockRangesAreThoseOfTheKernel) {
  const auto held = [&](std::uint64_t start, std::uint64_t end, std::uint32_t type = F_WRLCK) {
    return ask(KernelRequest(FUSE_GETLK, 8).put(fuse_lk_in{.lk = {.start = start, .end = end, .type = type}}));
  };
  constexpr std::uint64_t kMax = (std::uint64_t{1} << 63) - 1;
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges{{0, 0}, {5, 5}, {0, kMax}, {7, kMax}};
  for (const auto& [start, end] : ranges) {
    const auto out = body_as<fuse_lk_out>(held(start, end));
    EXPECT_EQ(out.lk.start, start);
    EXPECT_EQ(out.lk.end, end);
    EXPECT_EQ(out.lk.type, static_cast<std::uint32_t>(F_WRLCK));
  }
  EXPECT_EQ(held(6, 5).error, EINVAL);
  EXPECT_EQ(held(0, kMax + 1).error, EINVAL);
  EXPECT_EQ(held(0, 1, 99).error, EINVAL);
}

TEST_F(FuseDispatcher, AWaitForALockIsAnsweredWhenItIsFree) {
  fs_.lock_is_free = false;
  const fuse_lk_in lock{.fh = 1, .owner = 2, .lk = {.start = 0, .end = 9, .type = F_WRLCK}};
  EXPECT_EQ(ask(KernelRequest(FUSE_SETLK, 8).put(lock)).error, EAGAIN);
  EXPECT_TRUE(dispatcher_.handle(KernelRequest(FUSE_SETLKW, 8, 100).put(lock).bytes(), {}, later_));
  EXPECT_TRUE(dispatcher_.handle(KernelRequest(FUSE_SETLKW, 8, 102).put(lock).bytes(), {}, later_));
  EXPECT_TRUE(dispatcher_.handle(KernelRequest(FUSE_INTERRUPT, 0).put(fuse_interrupt_in{102}).bytes(), {}, later_));
  EXPECT_EQ(later_.wait_for(102).error, EINTR);
  EXPECT_EQ(later_.count(), 1u);
  fs_.lock_is_free = true;
  EXPECT_EQ(later_.wait_for(100).error, 0);
}

TEST_F(FuseDispatcher, AnInterruptThatComesFirstCountsToo) {
  fs_.lock_is_free = false;
  const fuse_lk_in lock{.lk = {.start = 0, .end = 9, .type = F_WRLCK}};
  EXPECT_TRUE(dispatcher_.handle(KernelRequest(FUSE_INTERRUPT, 0).put(fuse_interrupt_in{50}).bytes(), {}, later_));
  EXPECT_TRUE(dispatcher_.handle(KernelRequest(FUSE_SETLKW, 8, 50).put(lock).bytes(), {}, later_));
  EXPECT_EQ(later_.wait_for(50).error, EINTR);
}

TEST(FuseAttributes, TimesThatNoTimestampHasBecomeTheNearest) {
  for (const std::int64_t seconds : {INT64_MIN, INT64_MAX, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 40}) {
    const core::SetAttributes set = from_kernel(
        {.valid = FATTR_ATIME | FATTR_MTIME, .atime = static_cast<std::uint64_t>(seconds), .atimensec = ~0u});
    ASSERT_TRUE(set.atime && set.mtime);
    EXPECT_EQ(set.atime->time.ns < 0, seconds < 0);
    EXPECT_EQ(set.atime->time.nanoseconds(), 999'999'999u);
    EXPECT_EQ(set.mtime->time.ns, 0);
  }
  for (const std::uint32_t number : {0u, 1u, 0xffu, 0x100u, 0xfffffu}) {
    EXPECT_EQ(device_of(kernel_number_of({.major = 0xfff, .minor = number})).minor, number);
  }
}

TEST(FuseLockWaits, WhatWaitsAtTheEndIsAnswered) {
  StubFileSystem fs;
  fs.lock_is_free = false;
  KeptReplies replies;
  {
    LockWaits waits(fs);
    EXPECT_TRUE(waits.add(1, {}, {}, replies));
    EXPECT_TRUE(waits.add(2, {}, {}, replies));
  }
  EXPECT_EQ(replies.wait_for(1).error, EINTR);
  EXPECT_EQ(replies.wait_for(2).error, EINTR);
}

TEST(FuseLockWaits, AWaitEndsWhileTheQuestionOfAnotherHangs) {
  StubFileSystem fs;
  fs.lock_is_free = false;
  std::counting_semaphore<100> asked(0), goes_on(0);
  fs.while_asked = [&] {
    asked.release();
    goes_on.acquire();
  };
  KeptReplies replies;
  LockWaits waits(fs);
  ASSERT_TRUE(waits.add(1, {}, {}, replies));
  asked.acquire();
  ASSERT_TRUE(waits.add(2, {}, {}, replies));
  waits.interrupt(2);
  EXPECT_EQ(replies.wait_for(2).error, EINTR);
  waits.interrupt(1);
  EXPECT_EQ(replies.count(), 1u);
  goes_on.release();
  EXPECT_EQ(replies.wait_for(1).error, EINTR);
}

TEST(FuseInFlight, CallsKnowThatTheKernelIsGone) {
  InFlight calls;
  Call before({}), after({});
  calls.begin(1, before);
  EXPECT_FALSE(before.unmounted());
  calls.unmount();
  calls.begin(2, after);
  EXPECT_TRUE(before.unmounted());
  EXPECT_TRUE(after.unmounted());
}

TEST(FuseLockWaits, MoreThanTheLimitAreRefused) {
  StubFileSystem fs;
  fs.lock_is_free = false;
  KeptReplies replies;
  LockWaits waits(fs);
  for (std::size_t i = 1; i <= LockWaits::kWaitsMost; ++i) ASSERT_TRUE(waits.add(i, {}, {}, replies));
  EXPECT_FALSE(waits.add(LockWaits::kWaitsMost + 1, {}, {}, replies));
  EXPECT_EQ(waits.size(), LockWaits::kWaitsMost);
}

TEST(FuseErrno, EveryErrorHasOneThatIsNeitherZeroNorEnosys) {
  for (std::uint16_t code = kErrcFirst; code <= kErrcLast; ++code) {
    const int error = errno_of(static_cast<Errc>(code));
    EXPECT_GT(error, 0) << code;
    EXPECT_NE(error, ENOSYS) << code;
  }
  EXPECT_EQ(errno_of(Error{Errc::kIo, EINTR, {}, 0}), EINTR);
  EXPECT_EQ(errno_of(Error{Errc::kNoSpace, ENOSYS, {}, 0}), ENOSPC);
}

TEST(FuseInit, OffersNoMoreThanTheKernelHas) {
  const auto modern = negotiate({.major = 7, .minor = 45, .max_readahead = 131072, .flags = ~0u, .flags2 = ~0u}, true);
  ASSERT_TRUE(modern);
  EXPECT_EQ(modern->out.major, 7u);
  EXPECT_EQ(modern->out.minor, kProtocolMinor);
  EXPECT_EQ(modern->negotiated.minor, kProtocolMinor);
  EXPECT_TRUE(modern->negotiated.direct_io);
  EXPECT_EQ(modern->out.max_write, kIoBytes);
  EXPECT_EQ(modern->out.max_pages, 256u);
  EXPECT_EQ(modern->out.flags & FUSE_WRITEBACK_CACHE, 0u);
  const auto old = negotiate({.major = 7, .minor = 31, .flags = FUSE_ASYNC_READ, .flags2 = ~0u}, true);
  ASSERT_TRUE(old);
  EXPECT_EQ(old->out.flags, std::uint32_t{FUSE_ASYNC_READ});
  EXPECT_EQ(old->out.flags2, 0u);
  EXPECT_FALSE(old->negotiated.direct_io);
  EXPECT_EQ(old->out.max_write, 32u * 4096);
  const auto too_old = negotiate({.major = 7, .minor = 30}, true);
  ASSERT_FALSE(too_old);
  EXPECT_EQ(too_old.error().code, Errc::kNotSupported);
  const auto next = negotiate({.major = 8, .minor = 0, .flags = ~0u}, true);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->out.major, 7u);
  EXPECT_EQ(next->out.flags, 0u);
}

}  // namespace
}  // namespace stoa::native::fuse
