// A directory of which more would be kept than may be: its lease stays, and what a recall has to tell is known.
#include "tests/frontends/native/cache/leased_fixture.h"

// Of jemalloc, which a sanitizer's own takes the place of.
extern "C" int mallctl(const char*, void*, std::size_t*, void*, std::size_t) __attribute__((weak));

namespace stoa::native {
namespace {

// What this thread has allocated, and not freed again.
std::int64_t allocated() {
  std::uint64_t taken = 0, freed = 0;
  std::size_t size = sizeof(taken);
  EXPECT_EQ(mallctl("thread.allocated", &taken, &size, nullptr, 0), 0);
  EXPECT_EQ(mallctl("thread.deallocated", &freed, &size, nullptr, 0), 0);
  return static_cast<std::int64_t>(taken - freed);
}

constexpr int kFiles = 1500;
constexpr std::uint64_t kBytes = 128 * 1024;

class TellingKernel : public KernelCache {
 public:
  bool forget_all_names() override { return !by_name; }
  void forget_names(core::FileId, std::span<const std::string> more) override {
    const std::lock_guard lock(mutex);
    told_of_names = true;
    names.insert(more.begin(), more.end());
  }
  void forget_attributes(core::FileId file) override {
    const std::lock_guard lock(mutex);
    attributes.insert(file);
  }
  void forget_pages(core::FileId file) override {
    const std::lock_guard lock(mutex);
    pages.insert(file);
  }

  bool by_name = false;
  std::mutex mutex;  // guards all below
  bool told_of_names = false;
  std::set<std::string> names;
  std::set<core::FileId> attributes, pages;
};

class WrittenBack : public KeptUnderLeases {
 public:
  void write_back(const HeldLease&, core::FileId file) override {
    const std::lock_guard lock(mutex);
    files.push_back(file);
  }
  void forget(const HeldLease&, core::FileId) override {}
  void lose(const HeldLease&) override {}

  std::mutex mutex;  // guards `files`
  std::vector<core::FileId> files;
};

class LargeDirectory : public LeasedFixture {
 protected:
  void SetUp() override {
    make({.bytes = kBytes});
    leased().set_kernel(&kernel_);
    leased().set_kept(&written_);
    dir_ = make_dir("d");
    for (int i = 0; i < kFiles; ++i) files_.push_back(make_file(name(i), 0644, dir_));
  }
  void TearDown() override {
    leased().set_kept(nullptr);
    leased().set_kernel(nullptr);
  }
  static std::string name(int i) { return "file-with-a-name-" + std::to_string(i); }
  void list() {
    std::uint64_t cookie = 0;
    for (bool end = false; !end;) {
      auto piece = leased().readdir(root, {.dir = dir_, .cookie = cookie, .entries_max = 100, .want_attributes = true});
      ASSERT_TRUE(piece);
      for (const auto& entry : piece->entries) {
        if (leased().known_entry(dir_, entry.name, entry.id).name) told_.insert(entry.name);
      }
      cookie = piece->entries.back().cookie;
      end = piece->end;
    }
    ASSERT_TRUE(leased().readdir(root, {.dir = dir_, .cookie = cookie}));
  }
  bool covered(int i) { return leased().pin(files_[static_cast<std::size_t>(i)], core::kReadCaching).has_value(); }

  TellingKernel kernel_;
  WrittenBack written_;
  core::FileId dir_ = core::kNoFile;
  std::vector<core::FileId> files_;
  std::set<std::string> told_;  // names that the kernel may keep
};

TEST_F(LargeDirectory, ItsLeaseStaysAndARecallTellsOfAllFiles) {
  for (int round = 0; round < 3; ++round) list();
  const std::uint64_t lease = server().lease_of(dir_);
  EXPECT_FALSE(server().is_acknowledged(lease));
  EXPECT_EQ(server().wishes, 1);
  EXPECT_LE(leased().stats().cache.bytes, kBytes + 100 * 1024);
  for (int i = 0; i < kFiles; ++i) EXPECT_TRUE(covered(i)) << i;
  EXPECT_EQ(recall(dir_), 0u);
  for (const core::FileId file : files_) {
    EXPECT_TRUE(kernel_.attributes.contains(file));
    EXPECT_TRUE(kernel_.pages.contains(file));
  }
  EXPECT_TRUE(kernel_.told_of_names);
  for (int i = 0; i < kFiles; ++i) EXPECT_FALSE(covered(i)) << i;
  EXPECT_EQ(leased().stats().cache.bytes, 0u);
}

TEST_F(LargeDirectory, WhatWasForgottenIsLearntAgain) {
  list();
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(leased().getattr(root, files_[0])->id, files_[0]); }), 1);
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(leased().getattr(root, files_[0])->id, files_[0]); }), 0);
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(leased().lookup(root, dir_, name(1))->id, files_[1]); }), 1);
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(leased().lookup(root, dir_, name(1))->id, files_[1]); }), 0);
  // Nobody knows any more which names are not there.
  EXPECT_GT(calls_of([&] { EXPECT_EQ(leased().lookup(root, dir_, "none").error().code, Errc::kNotFound); }), 0);
  recall(dir_);
  ASSERT_TRUE(other().setattr(root, files_[0], 0, {.size = 5}));
  EXPECT_EQ(leased().getattr(root, files_[0])->size, 5u);
}

TEST_F(LargeDirectory, WhatIsInUseStays) {
  ASSERT_TRUE(leased().lookup(root, dir_, name(7)));
  std::uint64_t cookie = 0;
  int asked = 0;
  for (bool end = false; !end;) {
    auto piece = leased().readdir(root, {.dir = dir_, .cookie = cookie, .entries_max = 20, .want_attributes = true});
    ASSERT_TRUE(piece);
    asked += calls_of([&] { ASSERT_TRUE(leased().getattr(root, files_[7])); });
    cookie = piece->entries.back().cookie;
    end = piece->end;
  }
  EXPECT_EQ(asked, 0);
}

TEST_F(LargeDirectory, AnOpenOfAForgottenFileBecomesReal) {
  ASSERT_TRUE(leased().lookup(root, dir_, name(0)));
  const auto open = leased().open(root, {.id = files_[0], .access = core::kShareRead});
  ASSERT_TRUE(open);
  ASSERT_EQ(leased().stats().local_opens, 1u);
  list();
  EXPECT_EQ(leased().stats().local_opens, 1u);
  recall(dir_);
  EXPECT_EQ(leased().stats().local_opens, 0u);
  EXPECT_EQ(server().opened, 1);
  leased().close(root, open->open);
}

TEST_F(LargeDirectory, AForgottenNameIsLearntBeforeItIsTakenFromItsFile) {
  ASSERT_TRUE(leased().create(root, {.parent = dir_, .name = "new", .mode = core::CreateMode::kGuarded}));
  list();
  ASSERT_TRUE(leased().unlink(root, {.parent = dir_, .name = name(0)}));
  ASSERT_TRUE(leased().rename(
      root, {.from_parent = dir_, .from_name = name(1), .to_parent = core::kRootId, .to_name = "moved"}));
  EXPECT_EQ(written_.files, (std::vector{files_[0], files_[1]})) << "no others were settled";
  EXPECT_FALSE(covered(0));
  EXPECT_FALSE(covered(1));
  EXPECT_TRUE(covered(2));
  ASSERT_TRUE(leased().link(root, {.id = files_[2], .parent = core::kRootId, .name = "linked"}));
  EXPECT_FALSE(covered(2));
  EXPECT_EQ(written_.files.back(), files_[2]);
  EXPECT_EQ(leased().unlink(root, {.parent = dir_, .name = name(0)}).error().code, Errc::kNotFound);
  recall(dir_);
  EXPECT_TRUE(kernel_.attributes.contains(files_[1])) << "it is still that file";
}

TEST_F(LargeDirectory, FilesThatLeaveTheLeaseWithAnUnknownNameAreToldOf) {
  make({});
  leased().set_kernel(&kernel_);
  ASSERT_TRUE(leased().lookup(root, dir_, name(0)));
  ASSERT_TRUE(leased().unlink(root, {.parent = dir_, .name = name(kFiles - 1)}));
  EXPECT_FALSE(covered(0)) << "it might have been this one";
  recall(dir_);
  EXPECT_TRUE(kernel_.attributes.contains(files_[0]));
}

TEST_F(LargeDirectory, AKernelThatHasToBeToldOfEachNameIsToldWhenTheLeaseIsGivenBack) {
  kernel_.by_name = true;
  leased().set_kernel(&kernel_);
  list();
  while (leased().stats().cache.bytes > 2 * kBytes) std::this_thread::yield();
  recall(dir_);
  leased().set_kernel(nullptr);  // waits for what is under way
  EXPECT_FALSE(told_.empty());
  for (const std::string& one : told_) EXPECT_TRUE(kernel_.names.contains(one)) << one;
}

TEST_F(LargeDirectory, TheMemoryIsAsLargeAsIsSaid) {
  if (mallctl == nullptr) GTEST_SKIP() << "a sanitizer's allocator";
  LeaseCache cache(server(), {});
  auto wish = cache.wish(dir_, true, core::kReadCaching);
  ASSERT_TRUE(wish);
  wish->answered = true, wish->granted = core::kReadCaching;
  LeaseTicket ticket = cache.ticket();
  ASSERT_FALSE(cache.granted(*wish, ticket));
  constexpr std::uint64_t kMany = 20'000;
  StorageEntries entries;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    core::Attributes attr{.id = core::FileId{1'000'000 + i}, .links = 1};
    entries.entries.push_back(
        {.id = attr.id, .type = attr.type, .cookie = i, .name = name(static_cast<int>(i)), .attr = attr});
  }
  entries.end = true;
  const std::int64_t before = allocated();
  cache.learn_entries(ticket, root.cred, {.dir = dir_}, entries);
  const auto more = static_cast<double>(allocated() - before);
  const auto said = static_cast<double>(cache.counts().bytes);
  ASSERT_GT(said, 0);
  EXPECT_GT(said, 0.95 * more);
  EXPECT_LT(said, 1.15 * more);
  RecordProperty("said", static_cast<int>(said / kMany));
  RecordProperty("taken", static_cast<int>(more / kMany));
}

}  // namespace
}  // namespace stoa::native
