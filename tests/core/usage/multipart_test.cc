// The charge of S3 multipart uploads until they end: in the quotas of the directory of their future objects.
#include <algorithm>
#include <atomic>
#include <thread>

#include "core/kv/keys.h"
#include "core/usage/usage_record.h"
#include "tests/core/usage/quota_fixture.h"

namespace stoa::core::test {
namespace {

constexpr ExcludedClasses kNoMultipart{UsageClass::kMultipart};

// A tenant with a bucket.
template <class Engine>
class MultipartUsageTest : public QuotaTest<Engine> {
 protected:
  void SetUp() override {
    tenant_ = *this->mkdir(kRootId, "tenant");
    bucket_ = *this->mkdir(tenant_, "bucket");
  }
  static OpContext as(std::uint32_t uid) {
    OpContext ctx;
    ctx.cred = {.uid = uid, .gid = kStaff};
    return ctx;
  }
  Status begin(std::string_view id, std::uint32_t uid = kAnn) { return begin_in(bucket_, id, uid); }
  Status begin_in(FileId dir, std::string_view id, std::uint32_t uid = kAnn) {
    const std::string key = std::string(id) + "/upload";
    STOA_CHECK_OK(this->ns().put_key(
        {}, {.root = kMultipartId, .key = key, .meta = "m", .mode = 0600, .multipart = MultipartOf{dir, uid, kStaff}}));
    return {};
  }
  FileId dir_of(std::string_view id) {
    const auto found = this->ns().lookup({}, {.parent = kMultipartId, .name = id});
    return found ? found->attr.id : kNoFile;
  }
  Status part(std::string_view id, std::string_view name, std::size_t bytes) {
    STOA_CHECK_OK(this->put(dir_of(id), name, this->text(bytes)));
    return {};
  }
  Status complete(std::string_view id, std::string_view key, std::initializer_list<std::string_view> parts,
                  std::uint32_t uid = kAnn) {
    ConcatenateRequest request{.root = bucket_, .key = key, .parts = {}, .consume_dir = dir_of(id)};
    for (const std::string_view name : parts) {
      STOA_TRY(found, this->ns().lookup_key({}, {.root = request.consume_dir, .key = name}));
      request.parts.push_back({.id = found.attr.id, .data_version = found.attr.data_version});
    }
    STOA_CHECK_OK(this->ns().concatenate(as(uid), request));
    return {};
  }
  void finish_counting() {
    while (this->known(tenant_).counting) ASSERT_TRUE(this->volume_->run_owner_count(1000));
  }
  Status abort(std::string_view id) { return this->ns().remove_tree({}, {.parent = kMultipartId, .name = id}); }
  void expect_usage(FileId dir, const Usage& all, const Usage& multipart) {
    const UsageReply reply = this->known(dir);
    EXPECT_EQ(reply.usage, all);
    EXPECT_EQ(reply.by_class, (UsageByClass{{UsageClass::kMultipart, multipart}}));
    EXPECT_EQ(reply.counted, all + (reply.excluded.has(UsageClass::kMultipart) ? -multipart : Usage{}));
  }

  FileId tenant_{}, bucket_{};
};
TYPED_TEST_SUITE(MultipartUsageTest, Engines);

TYPED_TEST(MultipartUsageTest, PartsCountAndTheJoinNeedsNoMoreRoom) {
  ASSERT_TRUE(this->limit(this->tenant_, {.bytes = 100, .files = 5}));
  ASSERT_TRUE(this->begin("u"));
  this->expect_usage(this->bucket_, {0, 1, 1}, {0, 1, 1});
  ASSERT_TRUE(this->part("u", "1", 60));
  EXPECT_EQ(code(this->part("u", "2", 41)), Errc::kQuota);
  this->expect_usage(this->bucket_, {60, 2, 1}, {60, 2, 1});
  EXPECT_EQ(this->names(this->dir_of("u")), (std::vector<std::string>{"upload", "1"}));
  ASSERT_TRUE(this->part("u", "2", 40));
  this->expect_usage(this->bucket_, {100, 3, 1}, {100, 3, 1});
  this->expect_usage(this->tenant_, {100, 3, 2}, {100, 3, 1});
  this->expect_usage(kRootId, {100, 3, 3}, {100, 3, 1});
  this->expect_usage(kMultipartId, {}, {});
  // No byte and no file more, through any protocol.
  EXPECT_EQ(this->put(this->bucket_, "o", "x").error().code, Errc::kQuota);
  EXPECT_EQ(this->create(this->bucket_, "f").error().code, Errc::kQuota);
  EXPECT_EQ(code(this->part("u", "3", 0)), Errc::kQuota);
  EXPECT_EQ(code(this->begin("v")), Errc::kQuota);
  EXPECT_EQ(this->dir_of("v"), kNoFile);
  const auto seen = this->ns().statfs({}, {this->bucket_});
  EXPECT_EQ(seen->bytes_available, 0u);
  EXPECT_EQ(seen->files_available, 0u);
  this->reopen();
  this->expect_usage(this->tenant_, {100, 3, 2}, {100, 3, 1});
  EXPECT_EQ(code(this->part("u", "1", 61)), Errc::kQuota);
  ASSERT_TRUE(this->complete("u", "o", {"1", "2"}));
  this->expect_usage(this->bucket_, {100, 1, 0}, {});
  this->expect_usage(this->tenant_, {100, 1, 1}, {});
  EXPECT_EQ(this->put(this->bucket_, "p", "x").error().code, Errc::kQuota);
  // Over an object: the old one makes room, too.
  ASSERT_TRUE(this->put(this->bucket_, "o", this->text(50)));
  ASSERT_TRUE(this->begin("w"));
  ASSERT_TRUE(this->part("w", "1", 50));
  ASSERT_TRUE(this->complete("w", "o", {"1"}));
  this->expect_usage(this->tenant_, {50, 1, 1}, {});
  this->reopen();
  this->expect_usage(this->tenant_, {50, 1, 1}, {});
}

TYPED_TEST(MultipartUsageTest, WhereTheyAreNotCountedTheJoinNeedsRoom) {
  ASSERT_TRUE(this->limit(this->tenant_, {.bytes = 100, .files = 3, .excluded = kNoMultipart}));
  ASSERT_TRUE(this->put(this->bucket_, "live", this->text(50)));
  ASSERT_TRUE(this->begin("u"));
  for (const char* name : {"1", "2", "3"}) ASSERT_TRUE(this->part("u", name, 60));
  this->expect_usage(this->tenant_, {230, 5, 2}, {180, 4, 1});
  EXPECT_EQ(this->ns().statfs({}, {this->bucket_})->bytes_available, 50u);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(code(this->complete("u", "new/o", {"1"})), Errc::kQuota);
    this->expect_usage(this->tenant_, {230, 5, 2}, {180, 4, 1});
    EXPECT_EQ(this->names(this->bucket_), std::vector<std::string>{"live"});
    this->reopen();
  }
  ASSERT_TRUE(this->unlink(this->bucket_, "live"));
  EXPECT_EQ(code(this->complete("u", "o", {"1", "2"})), Errc::kQuota);
  ASSERT_TRUE(this->complete("u", "o", {"1"}));
  this->expect_usage(this->tenant_, {60, 1, 1}, {});
  EXPECT_EQ(this->dir_of("u"), kNoFile);

  // From now on they count: no more parts fit, but existing ones can be joined.
  ASSERT_TRUE(this->begin("v"));
  ASSERT_TRUE(this->part("v", "1", 90));
  ASSERT_TRUE(this->limit(this->tenant_, {.bytes = 100}));
  EXPECT_EQ(this->known(this->tenant_).counted.bytes, 150);
  EXPECT_EQ(code(this->part("v", "2", 1)), Errc::kQuota);
  ASSERT_TRUE(this->complete("v", "o", {"1"}));
  this->expect_usage(this->tenant_, {90, 1, 1}, {});
}

TYPED_TEST(MultipartUsageTest, EachQuotaOfAChainCountsWhatItDeclares) {
  ASSERT_TRUE(this->limit(this->bucket_, {.bytes = 50, .excluded = kNoMultipart}));
  ASSERT_TRUE(this->limit(this->tenant_, {.bytes = 100, .excluded = {UsageClass::kRecycled, UsageClass::kOrphans}}));
  ASSERT_TRUE(this->begin("u"));
  ASSERT_TRUE(this->part("u", "1", 100));
  EXPECT_EQ(code(this->part("u", "2", 1)), Errc::kQuota);
  EXPECT_EQ(code(this->complete("u", "o", {"1"})), Errc::kQuota);
  ASSERT_TRUE(this->part("u", "1", 50));
  ASSERT_TRUE(this->complete("u", "o", {"1"}));
  this->expect_usage(this->tenant_, {50, 1, 1}, {});
}

TYPED_TEST(MultipartUsageTest, AnotherPartOfThatNumberCopiesAndAborts) {
  ASSERT_TRUE(this->limit(this->bucket_, {.bytes = 100}));
  const auto source = this->put(this->bucket_, "source", this->text(30));
  ASSERT_TRUE(this->begin("u"));
  ASSERT_TRUE(this->part("u", "1", 40));
  ASSERT_TRUE(this->part("u", "1", 70));
  EXPECT_EQ(code(this->part("u", "1", 71)), Errc::kQuota);
  ASSERT_TRUE(this->part("u", "1", 40));
  const auto copy = [&](std::string_view name) -> Status {
    STOA_CHECK_OK(
        this->ns().concatenate({}, {.root = this->dir_of("u"), .key = name, .parts = {{.id = source->attr.id}}}));
    return {};
  };
  ASSERT_TRUE(copy("2"));
  this->expect_usage(this->bucket_, {100, 4, 1}, {70, 3, 1});
  EXPECT_EQ(code(copy("3")), Errc::kQuota);
  ASSERT_TRUE(this->abort("u"));
  this->expect_usage(this->bucket_, {30, 1, 0}, {});
}

TYPED_TEST(MultipartUsageTest, WhatTheyTakeIsOfWhoBeganThem) {
  ASSERT_TRUE(this->ns().count_owners({}, {this->tenant_, true}));
  this->finish_counting();
  ASSERT_TRUE(this->limit(this->tenant_, {.bytes = 100}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->limit(this->tenant_, {.bytes = 90}, QuotaOf::kUser, kBob));
  ASSERT_TRUE(this->begin("u"));
  ASSERT_TRUE(this->part("u", "1", 95));
  EXPECT_EQ(this->of_user(this->tenant_, kAnn), (Usage{95, 2, 1}));
  EXPECT_EQ(this->of_group(this->tenant_, kStaff), (Usage{95, 2, 1}));
  EXPECT_EQ(this->ns().usage({}, {this->tenant_, QuotaOf::kUser, kAnn})->by_class[UsageClass::kMultipart],
            (Usage{95, 2, 1}));
  EXPECT_EQ(code(this->part("u", "2", 6)), Errc::kQuota);
  // The object belongs to the user who completes it, who needs the room.
  EXPECT_EQ(code(this->complete("u", "o", {"1"}, kBob)), Errc::kQuota);
  // Counted anew, also from the beginning.
  ASSERT_TRUE(this->ns().count_owners({}, {this->tenant_, false}));
  ASSERT_TRUE(this->ns().count_owners({}, {this->tenant_, true}));
  this->finish_counting();
  EXPECT_EQ(this->of_user(this->tenant_, kAnn), (Usage{95, 2, 1}));
  this->expect_consistent();
  ASSERT_TRUE(this->limit(this->tenant_, {.bytes = 95}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->complete("u", "o", {"1"}));
  EXPECT_EQ(this->of_user(this->tenant_, kAnn), (Usage{95, 1, 0}));
}

TYPED_TEST(MultipartUsageTest, TheyMoveWithTheirBucket) {
  const FileId other = *this->mkdir(kRootId, "other");
  ASSERT_TRUE(this->begin("u"));
  ASSERT_TRUE(this->part("u", "1", 60));
  ASSERT_TRUE(this->limit(other, {.bytes = 59}));
  EXPECT_EQ(code(this->rename(this->tenant_, "bucket", other, "b")), Errc::kQuota);
  ASSERT_TRUE(this->limit(other, {.bytes = 60}));
  ASSERT_TRUE(this->rename(this->tenant_, "bucket", other, "b"));
  this->expect_usage(this->tenant_, {}, {});
  this->expect_usage(other, {60, 2, 2}, {60, 2, 1});
  EXPECT_EQ(code(this->part("u", "2", 1)), Errc::kQuota);
  this->reopen();
  this->expect_usage(other, {60, 2, 2}, {60, 2, 1});
  this->expect_consistent();
  ASSERT_TRUE(this->limit(other, {.bytes = 10, .excluded = kNoMultipart}));
  // Excluded, they move regardless of the limit.
  ASSERT_TRUE(this->rename(other, "b", this->tenant_, "bucket"));
  ASSERT_TRUE(this->rename(this->tenant_, "bucket", other, "b"));
  EXPECT_EQ(code(this->complete("u", "o", {"1"})), Errc::kQuota);
  ASSERT_TRUE(this->limit(other, {.bytes = 60}));
  ASSERT_TRUE(this->complete("u", "o", {"1"}));
  this->expect_usage(other, {60, 1, 1}, {});
  // The directory of an upload goes nowhere.
  ASSERT_TRUE(this->begin("v"));
  EXPECT_EQ(code(this->rename(kMultipartId, "v", this->tenant_, "v")), Errc::kInvalid);
}

TYPED_TEST(MultipartUsageTest, TheyOutliveTheirBucket) {
  ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = kRootId}));
  ASSERT_TRUE(this->limit(this->tenant_, {.bytes = 100, .files = 10}));
  ASSERT_TRUE(this->begin("u"));
  ASSERT_TRUE(this->begin("empty"));
  ASSERT_TRUE(this->part("u", "1", 60));
  ASSERT_TRUE(this->ns().rmdir({}, {this->tenant_, "bucket"}));
  this->expect_usage(this->tenant_, {60, 3, 2}, {60, 3, 2});
  EXPECT_EQ(code(this->begin("late")), Errc::kStale);
  EXPECT_EQ(code(this->part("u", "2", 41)), Errc::kQuota);
  this->expect_consistent();
  for (int round = 0; round < 2; ++round) {
    this->reopen();
    this->expect_usage(this->tenant_, {60 + round, 3 + round, 2}, {60 + round, 3 + round, 2});
    ASSERT_TRUE(this->part("u", round == 0 ? "3" : "4", 1));
    this->expect_consistent();
  }
  EXPECT_EQ(code(this->complete("u", "o", {"1"})), Errc::kStale);
  ASSERT_TRUE(this->abort("u"));
  this->expect_usage(this->tenant_, {0, 1, 1}, {0, 1, 1});
  this->reopen();
  ASSERT_TRUE(this->ns().rmdir({}, {kRootId, "tenant"}));
  this->expect_consistent();
  this->reopen();
  ASSERT_TRUE(this->abort("empty"));
  this->expect_usage(kRootId, {}, {});
  std::string value;
  EXPECT_FALSE(*this->kv_->get(Family::kUsage, keys::id_key(this->bucket_), &value));
  EXPECT_TRUE(this->ns().list_recycled({}, {.dir = kRootId})->items.empty());
}

TYPED_TEST(MultipartUsageTest, ALinkToAPartThatNobodyHasRoomForStaysTheUploads) {
  ASSERT_TRUE(this->limit(this->bucket_, {.excluded = kNoMultipart}));
  const FileId full = *this->mkdir(kRootId, "full");
  ASSERT_TRUE(this->limit(full, {.files = 0}));
  ASSERT_TRUE(this->begin("u"));
  ASSERT_TRUE(this->part("u", "1", 60));
  const FileId part = this->ns().lookup_key({}, {.root = this->dir_of("u"), .key = "1"})->attr.id;
  ASSERT_TRUE(this->ns().link({}, {.id = part, .parent = full, .name = "l"}));
  ASSERT_TRUE(this->abort("u"));
  this->expect_usage(this->bucket_, {60, 1, 0}, {60, 1, 0});
  this->reopen();
  this->expect_usage(this->bucket_, {60, 1, 0}, {60, 1, 0});
  this->expect_consistent();
  ASSERT_TRUE(this->write(part, 60, "x"));
  ASSERT_TRUE(this->volume_->flush());
  this->expect_usage(this->bucket_, {61, 1, 0}, {61, 1, 0});
  this->expect_consistent();
  ASSERT_TRUE(this->unlink(full, "l"));
  this->expect_usage(kRootId, {0, 0, 3}, {});
}

// No part of an upload counts as deleted, and it is no new child of its bucket.
TYPED_TEST(MultipartUsageTest, TheBucketsRulesAreNotThose) {
  ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = this->bucket_}));
  ASSERT_TRUE(this->limit(this->bucket_, {.bytes = 1}, QuotaOf::kChildren));
  ASSERT_TRUE(this->put(this->bucket_, "o", this->text(10)));
  ASSERT_TRUE(this->begin("u"));
  ASSERT_TRUE(this->part("u", "1", 60));
  ASSERT_TRUE(this->part("u", "1", 50));
  ASSERT_TRUE(this->complete("u", "o", {"1"}, 0));
  const auto items = this->ns().list_recycled({}, {.dir = kRootId});
  ASSERT_EQ(items->items.size(), 1u);
  EXPECT_EQ(items->items[0].bytes, 10u);
  EXPECT_EQ(this->known(this->bucket_).by_class, (UsageByClass{{UsageClass::kRecycled, {10, 1, 0}}}));
  ASSERT_TRUE(this->begin("v"));
  ASSERT_TRUE(this->part("v", "1", 60));
  ASSERT_TRUE(this->abort("v"));
  EXPECT_EQ(this->ns().list_recycled({}, {.dir = kRootId})->items.size(), 1u);
  ASSERT_TRUE(this->begin("w"));
  EXPECT_EQ(this->ns().ancestors({}, {.id = this->dir_of("w")})->directories,
            (std::vector<FileId>{kMultipartId, this->dir_of("w")}));
}

TYPED_TEST(MultipartUsageTest, OnlyTheDirectoryOfAnUploadIsCharged) {
  const MultipartOf of{this->bucket_, kAnn, kStaff};
  EXPECT_EQ(this->ns().put_key({}, {.root = this->tenant_, .key = "u/upload", .multipart = of}).error().code,
            Errc::kInvalid);
  for (const char* key : {"upload", "a/b/upload"}) {
    EXPECT_EQ(this->ns().put_key({}, {.root = kMultipartId, .key = key, .multipart = of}).error().code, Errc::kInvalid)
        << key;
  }
  const FileId file = *this->create(this->tenant_, "file");
  EXPECT_EQ(code(this->begin_in(file, "u")), Errc::kNotDirectory);
  EXPECT_TRUE(this->names(kMultipartId).empty());
}

// Those of an earlier version count nowhere below the root.
TYPED_TEST(MultipartUsageTest, AnUploadThatIsChargedNowhereNeedsRoomWhenItIsJoined) {
  ASSERT_TRUE(this->limit(this->bucket_, {.bytes = 100}));
  ASSERT_TRUE(this->put(kMultipartId, "old/upload", ""));
  ASSERT_TRUE(this->part("old", "1", 101));
  this->expect_usage(kRootId, {0, 0, 2}, {});
  EXPECT_EQ(code(this->complete("old", "o", {"1"})), Errc::kQuota);
  ASSERT_TRUE(this->part("old", "1", 100));
  this->reopen();
  ASSERT_TRUE(this->complete("old", "o", {"1"}));
  this->expect_usage(this->bucket_, {100, 1, 0}, {});
  EXPECT_EQ(this->usage(kMultipartId), Usage{});
}

TYPED_TEST(MultipartUsageTest, TheVerifierCountsThem) {
  ASSERT_TRUE(this->begin("u"));
  ASSERT_TRUE(this->part("u", "1", 60));
  ASSERT_TRUE(this->volume_->flush());
  this->expect_consistent();
  std::string right;
  ASSERT_TRUE(*this->kv_->get(Family::kUsage, keys::id_key(this->tenant_), &right));
  const auto found = [&](const auto& change) {
    UsageRecord record = *UsageRecord::decode(right);
    change(record);
    WriteBatch batch;
    batch.put(Family::kUsage, keys::id_key(this->tenant_), record.encode());
    const WriteBatch* const batches[] = {&batch};
    EXPECT_TRUE(this->kv_->apply(batches));
    return this->volume_->check({})->problems;
  };
  const auto as_live = found([](UsageRecord& record) { record.by_class[UsageClass::kMultipart] = {}; });
  ASSERT_EQ(as_live.size(), 1u);
  EXPECT_EQ(as_live[0].kind, FindingKind::kUsageDiffers);
  EXPECT_EQ(as_live[0].facts[3], "multipart") << describe(as_live[0]);
  EXPECT_EQ(as_live[0].facts[4], "0") << describe(as_live[0]);
  EXPECT_EQ(found([](UsageRecord& record) { record.usage.bytes += 60; }).size(), 1u);
  EXPECT_EQ(found([](UsageRecord&) {}).size(), 0u);
}

TYPED_TEST(MultipartUsageTest, ManyAtOnceNeverPassALimit) {
  constexpr int kThreads = 64, kRounds = 6;
  constexpr std::int64_t kBytes = 20'000, kFiles = 100;
  ASSERT_TRUE(this->limit(this->tenant_, {.bytes = kBytes, .files = kFiles}));
  std::atomic<bool> stop{false};
  std::atomic<int> refused{0};
  std::thread watch([&] {
    while (!stop) {
      const UsageReply seen = this->known(this->tenant_);
      EXPECT_LE(seen.counted.bytes, kBytes);
      EXPECT_LE(seen.counted.files + seen.counted.directories, kFiles);
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const std::string id = "u" + std::to_string(t), key = "o" + std::to_string(t);
        if (!this->begin(id)) {
          ++refused;
          continue;
        }
        const bool one = this->part(id, "1", 300 + t).has_value(), both = one && this->part(id, "2", 200).has_value();
        if (both && round % 3 != 2) {
          const Status done = this->complete(id, key, {"1", "2"});
          EXPECT_TRUE(done) << describe(done.error());  // counted parts need no more room
          continue;
        }
        if (!both) ++refused;
        EXPECT_TRUE(this->abort(id));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  watch.join();
  EXPECT_GT(refused, 0);  // there is no room for all objects
  EXPECT_EQ(this->known(this->tenant_).by_class, UsageByClass{});
  this->expect_consistent();
  const Usage left = this->usage(this->tenant_);
  this->reopen();
  EXPECT_EQ(this->usage(this->tenant_), left);
}

}  // namespace
}  // namespace stoa::core::test
