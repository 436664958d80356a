// Open files without a name: they count until the last close, and no limit is exceeded through them.
#include <atomic>
#include <barrier>
#include <thread>

#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

constexpr std::uint32_t kAnn = 1001, kBob = 1002, kStaff = 500;
constexpr std::int64_t kBig = 100'000;  // in blobs

template <class Engine>
class OrphansTest : public VolumeTest<Engine> {
 protected:
  ~OrphansTest() override { settled(); }
  void settled() {
    EXPECT_TRUE(this->volume_->flush());
    this->expect_consistent();
  }
  StateTable& state() { return this->volume_->state(); }
  OpenId open(FileId file) {
    const auto opened = state().open({file, state().add_holder(Protocol::kNfs, nullptr), kShareBoth, kShareNone});
    EXPECT_TRUE(opened) << describe(opened.error());
    return opened.value_or(OpenId{});
  }
  FileId file(FileId dir, std::string_view name, std::int64_t bytes, std::uint32_t uid = 0) {
    const auto made = this->ns().create(
        this->root_, {.parent = dir, .name = name, .mode = CreateMode::kGuarded, .set = {.uid = uid, .gid = kStaff}});
    EXPECT_TRUE(made) << describe(made.error());
    if (!made) return kNoFile;
    EXPECT_TRUE(write(made->attr.id, 0, bytes));
    return made->attr.id;
  }
  Status write(FileId id, std::int64_t offset, std::int64_t bytes, const OpContext& ctx = {}) {
    const std::string text(static_cast<std::size_t>(bytes), 'x');
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
    STOA_CHECK_OK(this->ns().write(ctx, {id, static_cast<std::uint64_t>(offset), pieces}));
    return {};
  }
  Status unlink(FileId dir, std::string_view name) {
    STOA_CHECK_OK(this->ns().unlink(this->root_, {dir, name}));
    return {};
  }
  Status rmdir(FileId dir, std::string_view name) {
    STOA_CHECK_OK(this->ns().rmdir(this->root_, {dir, name}));
    return {};
  }
  Status rename(FileId from, std::string_view name, FileId to, std::string_view to_name) {
    STOA_CHECK_OK(
        this->ns().rename(this->root_, {.from_parent = from, .from_name = name, .to_parent = to, .to_name = to_name}));
    return {};
  }
  Status truncate(FileId id, std::int64_t size) {
    STOA_CHECK_OK(this->ns().setattr(this->root_, {.id = id, .set = {.size = static_cast<std::uint64_t>(size)}}));
    return {};
  }
  Status chown(FileId id, std::uint32_t uid) {
    STOA_CHECK_OK(this->ns().setattr(this->root_, {.id = id, .set = {.uid = uid, .gid = kStaff}}));
    return {};
  }
  void limit(FileId dir, QuotaLimits limits, QuotaOf of = QuotaOf::kDirectory, std::uint32_t id = 0) {
    EXPECT_TRUE(this->ns().set_quota(this->root_, {dir, limits, of, id}));
  }
  Usage of_user(FileId dir, std::uint32_t uid) {
    const auto reply = this->ns().usage(this->root_, {dir, QuotaOf::kUser, uid});
    return reply ? reply->usage : Usage{-1, -1, -1};
  }
  FileId dir(FileId parent, std::string_view name) { return this->mkdir(parent, name).value_or(kNoFile); }
};
TYPED_TEST_SUITE(OrphansTest, Engines);

TYPED_TEST(OrphansTest, AFullQuotaIsFullUntilTheLastClose) {
  struct Way {
    const char* name;
    std::function<bool(FileId dir)> take;
  };
  const std::vector<Way> ways = {
      {"unlink", [&](FileId dir) { return this->unlink(dir, "f").has_value(); }},
      {"rename",
       [&](FileId dir) {
         return this->create(dir, "empty") && this->rename(dir, "empty", dir, "f") && this->unlink(dir, "f");
       }},
      {"remove_key", [&](FileId dir) { return this->ns().remove_key(this->root_, {dir, "f"}).has_value(); }},
  };
  for (const std::int64_t bytes : {std::int64_t{100}, kBig}) {
    for (const Way& way : ways) {
      SCOPED_TRACE(std::string(way.name) + " " + std::to_string(bytes));
      const FileId dir = this->dir(kRootId, std::string(way.name) + std::to_string(bytes));
      const FileId file = this->file(dir, "f", bytes);
      this->limit(dir, {.bytes = static_cast<std::uint64_t>(bytes) + 10});
      const OpenId first = this->open(file), second = this->open(file);
      ASSERT_TRUE(way.take(dir));
      EXPECT_EQ(this->usage(dir), (Usage{bytes, 1, 0}));
      EXPECT_EQ(code(this->write(file, bytes, 11)), Errc::kQuota);
      EXPECT_TRUE(this->write(file, bytes, 10));
      EXPECT_EQ(code(this->write(file, bytes + 10, 1)), Errc::kQuota);
      EXPECT_EQ(code(this->truncate(file, bytes + 11)), Errc::kQuota);
      const FileId other = this->file(dir, "g", 0);
      EXPECT_EQ(code(this->write(other, 0, 1)), Errc::kQuota);
      this->settled();
      // Released room is there for others at once, and room taken by others is not there for it.
      EXPECT_TRUE(this->truncate(file, bytes));
      EXPECT_TRUE(this->write(other, 0, 10));
      EXPECT_EQ(code(this->write(file, bytes, 1)), Errc::kQuota);
      this->state().close(first);
      EXPECT_EQ(this->usage(dir), (Usage{bytes + 10, 2, 0}));
      EXPECT_EQ(code(this->write(other, 10, 1)), Errc::kQuota);
      this->state().close(second);
      EXPECT_EQ(this->usage(dir), (Usage{10, 1, 0}));
      EXPECT_TRUE(this->write(other, 10, bytes));
      this->settled();
    }
  }
}

TYPED_TEST(OrphansTest, EveryWayToGrowIsRefused) {
  const FileId dir = this->dir(kRootId, "d");
  const FileId source = this->file(kRootId, "source", kBig);
  const FileId big = this->file(dir, "big", kBig), small = this->file(dir, "small", 100);
  this->limit(dir, {.bytes = kBig + 100});
  for (const FileId file : {big, small}) this->open(file);
  ASSERT_TRUE(this->unlink(dir, "big") && this->unlink(dir, "small"));
  OpContext lazy;
  lazy.durability = Durability::kApplied;
  for (const auto& [file, end] : {std::pair{big, kBig}, {small, std::int64_t{100}}}) {
    const auto at = static_cast<std::uint64_t>(end);
    EXPECT_EQ(code(this->write(file, end, 1)), Errc::kQuota);
    EXPECT_EQ(code(this->write(file, end, 1, lazy)), Errc::kQuota);
    EXPECT_EQ(code(this->write(file, 10 * kBig, 1, lazy)), Errc::kQuota);
    EXPECT_EQ(code(this->truncate(file, end + 1)), Errc::kQuota);
    EXPECT_EQ(this->ns().allocate(this->root_, {file, 0, at + 1}).error().code, Errc::kQuota);
    EXPECT_EQ(this->ns()
                  .copy_range(this->root_, {.from = source, .from_offset = 0, .to = file, .to_offset = at, .length = 1})
                  .error()
                  .code,
              Errc::kQuota);
    EXPECT_TRUE(this->write(file, 0, end, lazy));  // in place
  }
  EXPECT_EQ(this->usage(dir), (Usage{kBig + 100, 2, 0}));
}

TYPED_TEST(OrphansTest, BytesThatAreReservedAndNotCommittedStayItsOwn) {
  const FileId dir = this->dir(kRootId, "d");
  const FileId file = this->file(dir, "f", kBig);
  this->limit(dir, {.bytes = kBig + 20});
  OpContext lazy;
  lazy.durability = Durability::kApplied;
  ASSERT_TRUE(this->write(file, kBig, 10, lazy));
  const OpenId opened = this->open(file);
  ASSERT_TRUE(this->unlink(dir, "f"));
  ASSERT_TRUE(this->write(file, kBig + 10, 10, lazy));
  EXPECT_EQ(code(this->write(file, kBig + 20, 1, lazy)), Errc::kQuota);
  EXPECT_EQ(this->usage(dir).bytes, kBig + 20);
  this->expect_consistent();
  this->state().close(opened);
  EXPECT_EQ(this->usage(dir), Usage{});
}

TYPED_TEST(OrphansTest, ItIsAFileOfTheLimitOnFiles) {
  const FileId dir = this->dir(kRootId, "d");
  const FileId file = this->file(dir, "f", 1);
  this->limit(dir, {.files = 1});
  const OpenId opened = this->open(file);
  ASSERT_TRUE(this->unlink(dir, "f"));
  EXPECT_EQ(this->create(dir, "g").error().code, Errc::kQuota);
  EXPECT_EQ(this->mkdir(dir, "g").error().code, Errc::kQuota);
  this->state().close(opened);
  EXPECT_TRUE(this->create(dir, "g"));
}

TYPED_TEST(OrphansTest, ItCountsForItsOwner) {
  const FileId dir = this->dir(kRootId, "d");
  ASSERT_TRUE(this->ns().count_owners(this->root_, {dir, true}));
  this->limit(dir, {.bytes = kBig + 10}, QuotaOf::kUser, kAnn);
  this->limit(dir, {.bytes = kBig}, QuotaOf::kUser, kBob);
  const FileId file = this->file(dir, "f", kBig, kAnn);
  const OpenId opened = this->open(file);
  ASSERT_TRUE(this->unlink(dir, "f"));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{kBig, 1, 0}));
  EXPECT_EQ(code(this->write(file, kBig, 11)), Errc::kQuota);
  EXPECT_TRUE(this->write(file, kBig, 1));
  EXPECT_EQ(code(this->chown(file, kBob)), Errc::kQuota);
  EXPECT_TRUE(this->truncate(file, kBig));
  EXPECT_TRUE(this->chown(file, kBob));
  EXPECT_EQ(this->of_user(dir, kAnn), Usage{});
  EXPECT_EQ(this->of_user(dir, kBob), (Usage{kBig, 1, 0}));
  this->settled();
  this->state().close(opened);
  EXPECT_EQ(this->of_user(dir, kBob), Usage{});
  EXPECT_TRUE(this->write(this->file(dir, "g", 0, kBob), 0, kBig));
}

TYPED_TEST(OrphansTest, OwnersAreCountedWithIt) {
  const FileId counted = this->dir(kRootId, "counted"), plain = this->dir(kRootId, "plain");
  ASSERT_TRUE(this->ns().count_owners(this->root_, {counted, true}));
  const FileId inside = this->dir(counted, "inside");
  const FileId one = this->file(inside, "f", 1, kAnn), two = this->file(plain, "f", 1, kAnn);
  const OpenId opens[] = {this->open(one), this->open(two)};
  ASSERT_TRUE(this->unlink(inside, "f") && this->unlink(plain, "f"));
  EXPECT_EQ(code(this->rename(counted, "inside", kRootId, "outside")), Errc::kCrossDevice);
  EXPECT_EQ(code(this->rename(kRootId, "plain", counted, "plain")), Errc::kCrossDevice);
  // Also when the count begins with it.
  ASSERT_TRUE(this->ns().count_owners(this->root_, {plain, true}));
  for (bool counting = true; counting;) {
    const auto done = this->volume_->run_owner_count(1);
    ASSERT_TRUE(done);
    counting = !*done;
  }
  EXPECT_EQ(this->of_user(plain, kAnn), (Usage{1, 1, 0}));
  this->settled();
  for (const OpenId opened : opens) this->state().close(opened);
  EXPECT_EQ(this->of_user(plain, kAnn), Usage{});
  EXPECT_TRUE(this->rename(counted, "inside", kRootId, "outside"));
}

TYPED_TEST(OrphansTest, OfSeveralNamesTheLastOneDecides) {
  const FileId a = this->dir(kRootId, "a"), b = this->dir(kRootId, "b"), full = this->dir(kRootId, "full");
  this->limit(full, {.bytes = 10});
  const FileId one = this->file(a, "one", kBig), two = this->file(a, "two", kBig);
  ASSERT_TRUE(this->ns().link(this->root_, {one, b, "one"}) && this->ns().link(this->root_, {two, full, "two"}));
  const OpenId first = this->open(one), second = this->open(two);
  ASSERT_TRUE(this->unlink(a, "one") && this->unlink(b, "one"));
  EXPECT_EQ(this->usage(b), (Usage{kBig, 1, 0}));
  ASSERT_TRUE(this->unlink(a, "two") && this->unlink(full, "two"));
  EXPECT_EQ(this->usage(a), (Usage{kBig, 1, 0}));
  EXPECT_EQ(this->usage(full), Usage{});
  this->settled();
  this->state().close(first);
  EXPECT_EQ(this->usage(b), Usage{});
  this->state().close(second);
  EXPECT_EQ(this->usage(a), Usage{});
}

TYPED_TEST(OrphansTest, WhenItsDirectoryGoesThoseAboveGoOnCountingIt) {
  const FileId tenant = this->dir(kRootId, "tenant"), home = this->dir(tenant, "home"), deep = this->dir(home, "deep");
  this->limit(tenant, {.bytes = kBig + 20});
  this->limit(home, {.bytes = kBig + 10});
  ASSERT_TRUE(this->ns().count_owners(this->root_, {deep, true}));
  const FileId file = this->file(deep, "f", kBig, kAnn);
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "late"));
  this->open(file);
  ASSERT_TRUE(this->unlink(deep, "f"));
  ASSERT_TRUE(this->rmdir(home, "deep"));
  EXPECT_EQ(this->usage(home), (Usage{kBig, 1, 0}));
  EXPECT_EQ(code(this->write(file, kBig, 11)), Errc::kQuota);
  this->settled();
  ASSERT_TRUE(this->rmdir(tenant, "home"));
  EXPECT_EQ(this->usage(tenant), (Usage{kBig, 1, 0}));
  EXPECT_EQ(code(this->write(file, kBig, 21)), Errc::kQuota);
  ASSERT_TRUE(this->write(file, kBig, 11));
  this->settled();

  // A restart forgets nothing of it: its clients may come back.
  this->reopen();
  EXPECT_EQ(this->usage(tenant), (Usage{kBig + 11, 1, 0}));
  this->expect_consistent();
  const OpenId again = this->open(file);
  this->state().reclaim_done(Protocol::kNfs, "late");
  EXPECT_EQ(code(this->write(file, kBig + 11, 10)), Errc::kQuota);
  ASSERT_TRUE(this->write(file, kBig + 11, 9));
  ASSERT_TRUE(this->rmdir(kRootId, "tenant"));
  EXPECT_EQ(this->usage(kRootId), (Usage{kBig + 20, 1, 0}));
  EXPECT_TRUE(this->write(file, kBig + 20, 1));
  this->settled();
  this->state().close(again);
  EXPECT_EQ(this->usage(kRootId), Usage{});
  this->reopen();
  EXPECT_EQ(this->usage(kRootId), Usage{});
}

TYPED_TEST(OrphansTest, ARenameOfItsDirectoryTakesItAlong) {
  const FileId from = this->dir(kRootId, "from"), to = this->dir(kRootId, "to"), moved = this->dir(from, "moved");
  const FileId file = this->file(moved, "f", kBig);
  const OpenId opened = this->open(file);
  ASSERT_TRUE(this->unlink(moved, "f"));
  this->limit(to, {.bytes = kBig - 1});
  EXPECT_EQ(code(this->rename(from, "moved", to, "moved")), Errc::kQuota);
  this->limit(to, {.bytes = kBig});
  ASSERT_TRUE(this->rename(from, "moved", to, "moved"));
  EXPECT_EQ(this->usage(from), Usage{});
  EXPECT_EQ(this->usage(to), (Usage{kBig, 1, 1}));
  EXPECT_EQ(code(this->write(file, kBig, 1)), Errc::kQuota);
  this->settled();
  this->state().close(opened);
  EXPECT_EQ(this->usage(to), (Usage{0, 0, 1}));
}

// The file keeps its id and the charge of its content: the replaced content can still be read to the end, but not be
// written any more.
TYPED_TEST(OrphansTest, AnObjectIsReplacedWithRoomForOneWhileTheOldOneIsRead) {
  const FileId bucket = this->dir(kRootId, "bucket");
  this->limit(bucket, {.bytes = kBig + kBig / 2});
  const auto old = this->put(bucket, "o", std::string(kBig, 'o'));
  ASSERT_TRUE(old);
  const OpenId opened = this->open(old->attr.id);
  const auto slices = this->ns().read_slices(this->root_, {.id = old->attr.id, .offset = 0, .length = kBig});
  ASSERT_TRUE(slices);
  const auto replaced = this->put(bucket, "o", std::string(kBig, 'n'));
  ASSERT_TRUE(replaced) << describe(replaced.error());
  EXPECT_EQ(this->usage(bucket), (Usage{kBig, 1, 0}));
  EXPECT_EQ(this->read(old->attr.id, 0, 3), "nnn");
  this->state().close(opened);
  EXPECT_EQ(this->usage(bucket), (Usage{kBig, 1, 0}));
}

TYPED_TEST(OrphansTest, NoLimitIsEverPassedByManyAtOnce) {
  constexpr int kThreads = 8, kRounds = 20;
  constexpr std::int64_t kPiece = 30'000;
  const FileId dir = this->dir(kRootId, "d");
  const std::uint64_t bytes = 10 * kPiece;
  this->limit(dir, {.bytes = bytes, .files = kThreads - 2});
  std::atomic<bool> done{false};
  std::atomic<int> refused{0};
  std::thread observer([&] {
    while (!done) {
      const Usage now = this->usage(dir);
      ASSERT_LE(now.bytes, static_cast<std::int64_t>(bytes));
      ASSERT_LE(now.files, kThreads - 2);
    }
  });
  // No thread removes a file before all have asked for one, so there are always some too many.
  std::barrier all_asked(kThreads);
  struct Leaves {
    std::barrier<>& barrier;
    ~Leaves() { barrier.arrive_and_drop(); }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Leaves leaves{all_asked};
      const HolderId me = this->state().add_holder(Protocol::kNfs, nullptr);
      OpContext ctx;
      if (t % 2 == 0) ctx.durability = Durability::kApplied;
      for (int round = 0; round < kRounds; ++round) {
        const std::string name = std::to_string(t) + "-" + std::to_string(round);
        const auto made = this->ns().create(ctx, {.parent = dir, .name = name, .mode = CreateMode::kGuarded});
        all_asked.arrive_and_wait();
        if (!made) {
          ASSERT_EQ(made.error().code, Errc::kQuota);
          ++refused;
          continue;
        }
        const auto opened = this->state().open({made->attr.id, me, kShareBoth, kShareNone});
        ASSERT_TRUE(opened);
        for (std::int64_t piece = 0; piece < 5; ++piece) {
          if (piece == round % 5) {
            ASSERT_TRUE(this->ns().unlink(ctx, {dir, name}));
          }
          const Status written = this->write(made->attr.id, piece * kPiece, kPiece, ctx);
          if (written) continue;
          ASSERT_EQ(code(written), Errc::kQuota);
          ++refused;
        }
        this->state().close(*opened);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  observer.join();
  EXPECT_GE(refused, 2);
  EXPECT_EQ(this->usage(dir), Usage{});
}

}  // namespace
}  // namespace stoa::core::test
