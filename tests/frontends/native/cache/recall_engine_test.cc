// The order in which a lease is given up, and what runs at the same time.
#include <thread>

#include "tests/frontends/native/cache/leased_fixture.h"

namespace stoa::native {
namespace {

// Writes down what it is told.
class Diary : public KeptUnderLeases, public KernelCache {
 public:
  void add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  void write_back(const HeldLease&, core::FileId) override { add("write back"); }
  void forget(const HeldLease&, core::FileId) override { add("forget"); }
  void lose(const HeldLease&) override { add("lose"); }
  void forget_names(core::FileId, std::span<const std::string> names) override {
    for (const std::string& name : names) add("name " + name);
  }
  bool forget_all_names() override { return false; }
  void forget_attributes(core::FileId) override { add("attributes"); }
  void forget_pages(core::FileId) override { add("pages"); }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

class Recalls : public LeasedFixture {
 protected:
  void SetUp() override {
    dir_ = make_dir("d");
    file_ = make_file("f", 0644, dir_);
    // A call that makes a name asks for write caching.
    ASSERT_TRUE(leased().create(root, {.parent = dir_, .name = "g", .mode = core::CreateMode::kGuarded}));
    ASSERT_TRUE(leased().lookup(root, dir_, "f"));
    ASSERT_TRUE(leased().open(root, {.id = file_, .access = core::kShareBoth}));
    leased().set_kept(&diary_);
    leased().set_kernel(&diary_);
    server().on_acknowledge = [this] { diary_.add("acknowledge"); };
  }
  void TearDown() override {
    leased().set_kept(nullptr);
    leased().set_kernel(nullptr);
  }
  std::size_t place(const std::string& line) {
    const auto lines = diary_.lines();
    return static_cast<std::size_t>(std::ranges::find(lines, line) - lines.begin());
  }
  core::FileId dir_ = core::kNoFile, file_ = core::kNoFile;
  Diary diary_;
};

// The kernel moves a name with the time that it may keep it for.
TEST_F(Recalls, ANameThatMovesIntoALeasedDirectoryIsToldWithItsRecall) {
  leased().name_moves_to(dir_, "moved", true);
  recall(dir_);
  EXPECT_LT(place("name moved"), place("acknowledge"));
}

TEST_F(Recalls, ANameThatMovesIntoADirectoryWithoutALeaseIsForgottenAtOnce) {
  leased().name_moves_to(core::kRootId, "moved", true);
  leased().name_moves_to(dir_, "private", false);
  while (place("name moved") == diary_.lines().size() || place("name private") == diary_.lines().size())
    std::this_thread::yield();
  recall(dir_);
  EXPECT_TRUE(std::ranges::count(diary_.lines(), "name moved") == 1);
}

TEST_F(Recalls, ANameThatIsNotedIsNotKnown) {
  leased().name_moves_to(dir_, "moved", true);
  EXPECT_FALSE(leased().known_entry(dir_, "moved", file_).name);
  EXPECT_GE(calls_of([&] { (void)leased().lookup(root, dir_, "moved"); }), 1);
}

TEST_F(Recalls, TheKernelIsToldFirstThenWrittenBackThenForgottenThenGivenBack) {
  ASSERT_TRUE(leased().pin(file_, core::kAllCaching));
  EXPECT_EQ(recall(dir_), 0u);
  const auto lines = diary_.lines();
  EXPECT_LT(place("name f"), place("attributes"));
  EXPECT_LT(place("attributes"), place("pages"));
  EXPECT_LT(place("pages"), place("write back"));
  EXPECT_LT(place("write back"), place("forget"));
  EXPECT_LT(place("forget"), place("acknowledge"));
  EXPECT_EQ(lines.back(), "acknowledge");
  EXPECT_FALSE(leased().pin(file_, core::kReadCaching));
}

TEST_F(Recalls, ALookTakesWriteCachingAlone) {
  EXPECT_EQ(recall(dir_, core::kReadCaching | core::kHandleCaching, core::RecallReason::kLook),
            core::kReadCaching | core::kHandleCaching);
  EXPECT_EQ(diary_.lines(), (std::vector<std::string>{"pages", "write back", "acknowledge"}));
  EXPECT_TRUE(leased().pin(file_, core::kReadCaching));
  EXPECT_FALSE(leased().pin(file_, core::kWriteCaching));
  EXPECT_EQ(server().opened, 0);
  EXPECT_EQ(calls_of([&] { EXPECT_TRUE(leased().getattr(root, file_)); }), 0);
}

TEST_F(Recalls, ALostLeaseIsNotWrittenBackNorGivenBack) {
  leased().lease_lost(server().lease_of(dir_));
  while (leased().pin(file_, core::kReadCaching)) std::this_thread::yield();
  leased().set_kept(nullptr);  // waits for what is under way
  const auto lines = diary_.lines();
  EXPECT_EQ(std::ranges::count(lines, "write back"), 0);
  EXPECT_EQ(std::ranges::count(lines, "acknowledge"), 0);
  EXPECT_EQ(std::ranges::count(lines, "lose"), 1);
}

TEST_F(Recalls, APinIsWaitedFor) {
  auto pin = leased().pin(file_, core::kReadCaching);
  ASSERT_TRUE(pin);
  const std::uint64_t lease = server().lease_of(dir_);
  leased().lease_recalled({.lease = lease});
  while (leased().pin(file_, core::kReadCaching)) std::this_thread::yield();  // the recall has begun
  EXPECT_FALSE(server().is_acknowledged(lease));
  EXPECT_TRUE(diary_.lines().empty());
  pin.reset();
  EXPECT_EQ(server().acknowledged(lease), 0u);
}

TEST_F(Recalls, ARecallThatComesAgainIsAnsweredAgain) {
  const std::uint64_t lease = server().lease_of(dir_);
  EXPECT_EQ(recall(dir_), 0u);
  leased().lease_recalled({.lease = lease});
  EXPECT_EQ(server().acknowledged(lease), 0u);
}

TEST_F(Recalls, WithoutTrustThePagesOfOpenFilesGo) {
  while (diary_.lines().empty()) {
    server().trusts = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(diary_.lines().front(), "pages");
}

// Others change the size of a file again and again, each time after the lease is back; nobody who asks afterwards may
// see an older one, whatever is being asked and changed at the same time.
class Coherence : public LeasedFixture {};

TEST_F(Coherence, NoAnswerIsOlderThanTheLastChangeOfOthers) {
  make({.pause = std::chrono::milliseconds(0)});
  const core::FileId dir = make_dir("d");
  const core::FileId file = make_file("f", 0644, dir);
  std::atomic<std::uint64_t> size{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> askers;
  for (int i = 0; i < 4; ++i) {
    askers.emplace_back([&, i] {
      for (int n = 0; !over; ++n) {
        const std::uint64_t least = size;
        const auto found = i % 2 == 0 ? leased().lookup(root, dir, "f") : leased().getattr(root, file);
        ASSERT_TRUE(found);
        ASSERT_GE(found->size, least);
        const auto open = leased().open(root, {.id = file});
        ASSERT_TRUE(open);
        ASSERT_GE(open->attr.size, least);
        leased().close(root, open->open);
        if (i == 3 && n % 8 == 0) {
          const std::string name = "own" + std::to_string(n % 3);
          (void)leased().create(root, {.parent = dir, .name = name});
          ASSERT_TRUE(leased().lookup(root, dir, name));
          ASSERT_TRUE(leased().unlink(root, {.parent = dir, .name = name}));
          ASSERT_FALSE(leased().lookup(root, dir, name));
        }
      }
    });
  }
  // The fake grants at any time: while a change runs, it grants nothing, as the core does.
  for (std::uint64_t n = 1; n <= 300 || leased().stats().cache.hits == 0; ++n) {
    for (const std::uint64_t lease : server().stop_granting()) {
      leased().lease_recalled({.lease = lease});
      server().wait_for_return(lease);
    }
    ASSERT_TRUE(other().setattr(root, file, 0, {.size = n}));
    size = n;
    server().go_on_granting();
  }
  over = true;
  for (std::thread& one : askers) one.join();
  EXPECT_GT(leased().stats().cache.hits, 0u);
  EXPECT_EQ(leased().stats().local_opens, 0u);
}

}  // namespace
}  // namespace stoa::native
