// A volume takes the time from its options: nothing in it looks at the system's clock.
#include "core/journal/journal.h"
#include "tests/core/volume_fixture.h"
#include "tests/manual_time.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class TimeSourceTest : public VolumeTest<Engine> {
 protected:
  TimeSourceTest() {
    this->options_.time = &time_;
    this->reopen();
  }
  ~TimeSourceTest() override { this->volume_.reset(); }
  Attributes of(FileId id) { return this->ns().getattr(this->root_, {.id = id})->attr; }

  stoa::test::ManualTime time_;
};
TYPED_TEST_SUITE(TimeSourceTest, Engines);

TYPED_TEST(TimeSourceTest, FilesAndTheJournalHaveItsTime) {
  const Timestamp made = this->time_.wall();
  const FileId file = *this->create(kRootId, "f");
  EXPECT_EQ(this->of(file).btime, made);
  EXPECT_EQ(this->of(file).mtime, made);
  this->time_.pass(std::chrono::hours(1));
  ASSERT_TRUE(this->write(file, 0, std::string(100'000, 'x')));
  EXPECT_EQ(this->of(file).mtime, this->time_.wall());
  EXPECT_EQ(this->of(file).btime, made);
  Journal& journal = this->volume_->journal();
  const auto page = journal.read(*journal.oldest() - 1, 1000);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->records.back().kind, ChangeKind::kContent);
  EXPECT_EQ(page->records.back().time, this->time_.wall());
  EXPECT_EQ(this->volume_->registry().add_export({.name = "e", .root = kRootId, .path = "/", .nfs = true})->created,
            this->time_.wall());
}

TYPED_TEST(TimeSourceTest, GraceEndsByIt) {
  ASSERT_TRUE(this->volume_->state().remember_client(Protocol::kNfs, "client"));
  this->reopen();
  EXPECT_TRUE(this->volume_->state().in_grace());
  this->time_.pass(std::chrono::milliseconds(this->options_.grace_ms));
  EXPECT_FALSE(this->volume_->state().in_grace());
}

TYPED_TEST(TimeSourceTest, SoftLimitsAreGracedByIt) {
  const FileId dir = *this->mkdir(kRootId, "d");
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = dir, .limits = {.soft_bytes = 10, .grace_s = 60}}));
  const FileId file = *this->create(dir, "f");
  ASSERT_TRUE(this->write(file, 0, std::string(20, 'x')));
  this->time_.pass(std::chrono::seconds(59));
  ASSERT_TRUE(this->write(file, 20, "x"));
  this->time_.pass(std::chrono::seconds(2));
  EXPECT_EQ(code(this->write(file, 21, "x")), Errc::kQuota);
}

}  // namespace
}  // namespace stoa::core::test
