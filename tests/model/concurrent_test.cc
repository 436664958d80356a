// Many threads at once on one volume. The right answer of each single call is unknown here. Invariants are checked at
// every moment and at the end: usage exact, quotas never exceeded, nothing lost, renames and replaced objects atomic.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "tests/model/engine.h"
#include "tests/model/random.h"

namespace stoa::model {
namespace {

using core::FileId;

constexpr std::uint64_t kQuotaBytes = 300'000;
constexpr std::uint64_t kQuotaFiles = 60;

class Concurrent : public ::testing::TestWithParam<MakeEngine> {
 protected:
  void SetUp() override {
    engine_ = GetParam()();
    // Small caches, so that inodes come and go under the threads; background work runs beside them.
    const auto opened = engine_->open({.cached_inodes_max = 50, .lazy_attributes_ms = 20, .scrub_bytes_per_second = 0});
    ASSERT_TRUE(opened) << stoa::describe(opened.error());
    seed_ = std::getenv("STOA_MODEL_SEED") != nullptr ? std::strtoull(std::getenv("STOA_MODEL_SEED"), nullptr, 0)
                                                      : std::random_device{}();
    operations_ =
        std::getenv("STOA_MODEL_OPS") != nullptr ? std::strtoull(std::getenv("STOA_MODEL_OPS"), nullptr, 0) : 1500;
    std::printf("STOA_MODEL_SEED=%llu STOA_MODEL_OPS=%llu\n", static_cast<unsigned long long>(seed_),
                static_cast<unsigned long long>(operations_));
  }

  core::Namespace& ns() { return engine_->volume().ns(); }
  static core::OpContext context(Random& random) {
    core::OpContext ctx;
    ctx.durability = random.percent(3) ? core::Durability::kDurable : core::Durability::kApplied;
    return ctx;
  }
  FileId make_directory(FileId parent, const std::string& name) {
    const auto made = ns().mkdir({}, {.parent = parent, .name = name, .set = {.mode = 0777}});
    EXPECT_TRUE(made) << stoa::describe(made.error());
    return made ? made->attr.id : core::kNoFile;
  }
  // Errors that a race may cause; anything else is a bug.
  template <class Reply>
  void allow(const Result<Reply>& reply, const char* what) {
    if (reply) return;
    switch (reply.error().code) {
      case Errc::kNotFound:
      case Errc::kExists:
      case Errc::kStale:
      case Errc::kNotEmpty:
      case Errc::kIsDirectory:
      case Errc::kNotDirectory:
      case Errc::kQuota:
      case Errc::kInvalid:
      case Errc::kWrongType:
        return;
      default:
        ADD_FAILURE() << what << ": " << stoa::describe(reply.error());
    }
  }

  template <class Body>
  void in_threads(int count, Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&, i] { body(i, Random(seed_ + static_cast<std::uint64_t>(i))); });
    for (std::thread& thread : threads) thread.join();
  }

  void expect_sound() {
    for (const bool reopened : {false, true}) {
      if (reopened) {
        engine_->close();
        ASSERT_TRUE(engine_->open({.background = false}));
      }
      const auto report = engine_->volume().check({.read_data = true});
      ASSERT_TRUE(report) << stoa::describe(report.error());
      for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
    }
  }

  std::unique_ptr<Engine> engine_;
  std::uint64_t seed_ = 0, operations_ = 0;
};

TEST_P(Concurrent, MixedOperationsInSharedDirectoriesLeaveASoundTreeAndNeverPassAQuota) {
  const FileId shared[] = {make_directory(core::kRootId, "a"), make_directory(core::kRootId, "b"), core::kRootId};
  ASSERT_TRUE(ns().set_quota({}, {shared[0], {.bytes = kQuotaBytes, .files = kQuotaFiles}}));
  std::atomic<bool> stop = false;
  std::thread monitor([&] {
    while (!stop) {
      const auto usage = ns().usage({}, {shared[0]});
      ASSERT_TRUE(usage);
      EXPECT_LE(usage->usage.bytes, static_cast<std::int64_t>(kQuotaBytes));
      EXPECT_LE(usage->usage.files + usage->usage.directories, static_cast<std::int64_t>(kQuotaFiles));
      EXPECT_GE(usage->usage.bytes, 0);
    }
  });
  in_threads(6, [&](int, Random random) {
    std::vector<FileId> known{shared[0], shared[1]};
    for (std::uint64_t i = 0; i < operations_; ++i) {
      const core::OpContext ctx = context(random);
      const FileId dir = random.percent(70) ? shared[random.below(3)] : random.pick(known);
      const FileId other = random.percent(70) ? shared[random.below(3)] : random.pick(known);
      const std::string name = "n" + std::to_string(random.below(12)), target = "n" + std::to_string(random.below(12));
      const auto keep = [&](const auto& reply) {
        if (reply && known.size() < 200) known.push_back(reply->attr.id);
      };
      switch (random.below(12)) {
        case 0: {
          const auto made = ns().create(ctx, {.parent = dir, .name = name, .set = {.mode = 0644}});
          allow(made, "create");
          keep(made);
          break;
        }
        case 1: {
          const auto made = ns().mkdir(ctx, {.parent = dir, .name = name, .set = {.mode = 0755}});
          allow(made, "mkdir");
          keep(made);
          break;
        }
        case 2:
          allow(ns().unlink(ctx, {dir, name}), "unlink");
          break;
        case 3:
          allow(ns().rmdir(ctx, {dir, name}), "rmdir");
          break;
        case 4:
        case 5:
          allow(ns().rename(ctx, {dir, name, other, target}), "rename");
          break;
        case 6:
          allow(ns().link(ctx, {random.pick(known), dir, name}), "link");
          break;
        case 7:
        case 8: {
          const std::string data = random.bytes(random.percent(20) ? random.below(40'000) : random.below(3000));
          const std::span<const std::byte> piece[] = {std::as_bytes(std::span(data))};
          allow(ns().write(ctx, {random.pick(known), random.below(30'000), piece}), "write");
          break;
        }
        case 9: {
          const std::string data = random.bytes(random.below(20'000)), key = name + "/" + target;
          const auto put = ns().put_key(ctx, {.root = core::kRootId,
                                              .key = random.percent(50) ? key : name,
                                              .bytes = std::as_bytes(std::span(data)),
                                              .meta = "meta"});
          allow(put, "put_key");
          keep(put);
          break;
        }
        case 10:
          allow(ns().remove_key(ctx, {.root = core::kRootId, .key = random.percent(50) ? name + "/" + target : name}),
                "remove_key");
          break;
        default: {
          allow(ns().setattr(ctx, {.id = random.pick(known), .set = {.size = random.below(30'000)}}), "setattr");
          allow(ns().readdir(ctx, {.dir = dir, .want_attributes = true}), "readdir");
          allow(ns().list_keys(ctx,
                               {.root = core::kRootId, .delimiter = random.percent(50) ? "/" : "", .want_meta = true}),
                "list_keys");
        }
      }
    }
  });
  stop = true;
  monitor.join();
  expect_sound();
}

TEST_P(Concurrent, NothingIsLostInDirectoriesOfOnesOwnBesideASharedParent) {
  in_threads(6, [&](int thread, Random random) {
    const FileId dir = make_directory(core::kRootId, "own" + std::to_string(thread));
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < operations_; ++i) {
      const core::OpContext ctx = context(random);
      const std::string name = "f" + std::to_string(random.below(300));
      if (names.contains(name)) {
        const auto removed = ns().unlink(ctx, {dir, name});
        ASSERT_TRUE(removed) << stoa::describe(removed.error());
        names.erase(name);
      } else {
        const auto made = ns().create(ctx, {.parent = dir, .name = name, .mode = core::CreateMode::kGuarded});
        ASSERT_TRUE(made) << stoa::describe(made.error());
        names.insert(name);
      }
    }
    const auto listing = ns().readdir({}, {.dir = dir, .entries_max = 10'000});
    ASSERT_TRUE(listing);
    std::set<std::string> found;
    for (const auto& entry : listing->entries) found.insert(entry.name);
    found.erase(".");
    found.erase("..");
    EXPECT_EQ(found, names);
  });
  expect_sound();
}

TEST_P(Concurrent, ARenamedFileIsAlwaysThereExactlyOnce) {
  const FileId dir = make_directory(core::kRootId, "d");
  ASSERT_TRUE(ns().create({}, {.parent = dir, .name = "token0"}));
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto listing = ns().readdir({}, {.dir = dir});
        ASSERT_TRUE(listing);
        EXPECT_EQ(listing->entries.size(), 3u);
        const auto keys = ns().list_keys({}, {.root = dir});
        ASSERT_TRUE(keys);
        EXPECT_EQ(keys->keys.size(), 1u);
      }
    });
  }
  Random random(seed_);
  for (std::uint64_t i = 0; i < operations_; ++i) {
    const auto renamed =
        ns().rename(context(random), {dir, "token" + std::to_string(i), dir, "token" + std::to_string(i + 1)});
    ASSERT_TRUE(renamed) << stoa::describe(renamed.error());
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  expect_sound();
}

TEST_P(Concurrent, AReaderSeesAReplacedObjectOldOrNewAndWhole) {
  std::atomic<bool> stop = false;
  const auto content = [](std::uint64_t version) {
    return std::string(1000 + version % 7 * 9000, static_cast<char>('a' + version % 26));
  };
  ASSERT_TRUE(ns().put_key({}, {.root = core::kRootId, .key = "k", .bytes = std::as_bytes(std::span("aaaa", 4))}));
  const FileId id = ns().lookup_key({}, {core::kRootId, "k"})->attr.id;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      std::string into(100'000, '\0');
      while (!stop) {
        const auto reply = ns().read({}, {id, 0, std::as_writable_bytes(std::span(into))});
        ASSERT_TRUE(reply) << stoa::describe(reply.error());
        ASSERT_TRUE(reply->end_of_file);
        ASSERT_EQ(reply->length, reply->attr.size);
        const std::string_view got = std::string_view(into).substr(0, reply->length);
        ASSERT_EQ(got.find_first_not_of(got[0]), std::string_view::npos) << "a mixture of two versions";
      }
    });
  }
  in_threads(2, [&](int, Random random) {
    for (std::uint64_t i = 0; i < operations_ / 4; ++i) {
      const std::string bytes = content(random.next());
      const auto put =
          ns().put_key(context(random), {.root = core::kRootId, .key = "k", .bytes = std::as_bytes(std::span(bytes))});
      ASSERT_TRUE(put) << stoa::describe(put.error());
      EXPECT_EQ(put->attr.id, id);
    }
  });
  stop = true;
  for (std::thread& reader : readers) reader.join();
  expect_sound();
}

TEST_P(Concurrent, AQuotaIsFilledToTheByteAndNoFurther) {
  const FileId dir = make_directory(core::kRootId, "d");
  ASSERT_TRUE(ns().set_quota({}, {dir, {.bytes = 10'000}}));
  std::atomic<std::uint64_t> written = 0;
  in_threads(6, [&](int thread, Random random) {
    const auto made = ns().create({}, {.parent = dir, .name = std::to_string(thread)});
    ASSERT_TRUE(made);
    std::uint64_t at = 0;
    for (int refusals = 0; refusals < 20;) {
      const std::string data(1 + random.below(refusals < 10 ? 100 : 1), 'x');
      const std::span<const std::byte> piece[] = {std::as_bytes(std::span(data))};
      const auto reply = ns().write(context(random), {made->attr.id, at, piece});
      if (reply) {
        at += data.size();
        written += data.size();
      } else {
        ASSERT_EQ(reply.error().code, Errc::kQuota);
        ++refusals;
      }
    }
  });
  EXPECT_EQ(written, 10'000u);
  EXPECT_EQ(ns().usage({}, {dir})->usage.bytes, 10'000);
  expect_sound();
}

// Counting of users and groups starts and ends, in directories within each other, by a scan of a few files at a time.
// Meanwhile files are written, cut, moved, linked, given away and removed there, and directories move as a whole.
TEST_P(Concurrent, OwnersAreCountedExactlyWhileEverythingChanges) {
  const FileId outer = make_directory(core::kRootId, "outer"), inner = make_directory(outer, "inner");
  const FileId outside = make_directory(core::kRootId, "outside");
  const FileId shared[] = {outer, inner, make_directory(inner, "deep"), outside};
  const FileId counted[] = {outer, inner, shared[2]};
  ASSERT_TRUE(engine_->volume().registry().set_recycle({.dir = inner, .days = 0}));  // nothing goes from it by itself
  std::atomic<bool> stop = false;
  std::thread counter([&] {
    Random random(seed_ ^ 0xc0);
    while (!stop) {
      if (random.percent(4)) {
        const auto asked = ns().count_owners({}, {random.pick(counted), random.percent(70)});
        allow(Result<bool>(asked ? Result<bool>(true) : fail(asked.error())), "count_owners");
      }
      const auto done = engine_->volume().run_owner_count(1 + random.below(40));
      if (!done) ADD_FAILURE() << stoa::describe(done.error());
      if (random.percent(2)) {
        const auto purged = ns().purge({}, {.dir = inner});
        if (!purged) ADD_FAILURE() << stoa::describe(purged.error());
      }
      std::this_thread::yield();
    }
  });
  in_threads(5, [&](int, Random random) {
    core::StateTable& state = engine_->volume().state();
    const core::HolderId me = state.add_holder(core::Protocol::kNfs, nullptr);
    std::vector<core::OpenId> opens;
    for (std::uint64_t i = 0; i < operations_; ++i) {
      const core::OpContext ctx = context(random);
      const FileId dir = random.pick(shared), other = random.pick(shared);
      const std::string name = "n" + std::to_string(random.below(12)), target = "n" + std::to_string(random.below(12));
      const auto found = ns().lookup(ctx, {dir, name});
      const core::SetAttributes owner{.uid = 1000 + static_cast<std::uint32_t>(random.below(3)),
                                      .gid = 500 + static_cast<std::uint32_t>(random.below(2))};
      switch (random.below(14)) {
        case 0:
        case 1:
          allow(ns().create(ctx, {.parent = dir, .name = name, .set = owner}), "create");
          break;
        case 2:
          allow(ns().mkdir(ctx, {.parent = dir, .name = name, .set = owner}), "mkdir");
          break;
        case 3:
          (void)ns().unlink(ctx, {dir, name});
          break;
        case 4:
          (void)ns().rmdir(ctx, {dir, name});
          break;
        case 5:
        case 6:
          (void)ns().rename(ctx, {dir, name, other, target});
          break;
        case 7:
          if (found) (void)ns().link(ctx, {found->attr.id, other, target});
          break;
        case 8:
        case 9:
        case 10:
          if (found) {
            const std::string data = random.bytes(random.percent(50) ? random.below(60'000) : random.below(3000));
            const std::span<const std::byte> piece[] = {std::as_bytes(std::span(data))};
            (void)ns().write(ctx, {found->attr.id, random.below(60'000), piece});
          }
          break;
        case 11:
          if (found) (void)ns().setattr(ctx, {.id = found->attr.id, .set = owner});
          break;
        case 12:
          if (found) (void)ns().setattr(ctx, {.id = found->attr.id, .set = {.size = random.below(80'000)}});
          if (random.percent(20) && found) {
            if (const auto open = state.open({found->attr.id, me, core::kShareBoth, core::kShareNone}))
              opens.push_back(*open);
          } else if (!opens.empty()) {
            state.close(opens.back());
            opens.pop_back();
          }
          break;
        default: {
          const std::string data = random.bytes(random.below(30'000));
          (void)ns().put_key(ctx, {.root = dir, .key = name, .bytes = std::as_bytes(std::span(data))});
        }
      }
    }
    for (const core::OpenId open : opens) state.close(open);
  });
  stop = true;
  counter.join();
  for (const FileId dir : counted) ASSERT_TRUE(ns().count_owners({}, {dir, true}));
  for (bool done = false; !done;) {
    const auto more = engine_->volume().run_owner_count(1000);
    ASSERT_TRUE(more) << stoa::describe(more.error());
    done = *more;
  }
  // Reserved usage equals stored usage, and the verifier finds the same.
  std::vector<std::vector<core::Usage>> seen;
  for (int round = 0; round < 2; ++round) {
    if (round == 1) expect_sound();
    ASSERT_TRUE(engine_->volume().flush());
    for (std::size_t i = 0; i < std::size(counted); ++i) {
      const auto owners = ns().list_owner_quotas({}, {counted[i]});
      ASSERT_TRUE(owners) << stoa::describe(owners.error());
      EXPECT_FALSE(owners->counting);
      std::vector<core::Usage> usage;
      for (const core::OwnerQuota& owner : owners->owners) {
        if (owner.usage != core::Usage{}) usage.push_back(owner.usage);
      }
      if (round == 0) {
        seen.push_back(usage);
      } else {
        EXPECT_EQ(usage, seen[i]) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Concurrent,
                         ::testing::Values(MakeEngine(make_memory_engine), MakeEngine(make_rocksdb_engine)),
                         [](const auto& info) { return info.index == 0 ? "Memory" : "RocksDb"; });

}  // namespace
}  // namespace stoa::model
