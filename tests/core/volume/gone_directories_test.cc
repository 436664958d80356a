#include <gmock/gmock.h>

#include <set>

#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class GoneDirectoriesTest : public VolumeTest<Engine> {
 protected:
  Registry& registry() { return this->volume_->registry(); }
  // A recycle policy, one of audit, and a QoS class.
  void set_all(FileId dir) {
    ASSERT_TRUE(registry().set_recycle({.dir = dir, .days = 3}));
    ASSERT_TRUE(registry().set_audit_policy({.directory = dir, .classes = bit(AuditClass::kWrite)}));
    QosRule rule{.target = QosTarget::directory(dir)};
    rule.limits.weight = 7;
    ASSERT_TRUE(registry().set_qos_class(rule));
  }
  using Set = std::set<FileId>;
  Set recycled() {
    Set dirs;
    const auto now = registry().snapshot();
    if (now->recycle() == nullptr) return dirs;
    for (const auto& [dir, policy] : now->recycle()->policies()) dirs.insert(dir);
    return dirs;
  }
  Set audited() {
    Set dirs;
    const auto now = registry().snapshot();
    if (now->audit() == nullptr) return dirs;
    for (const AuditPolicy& policy : now->audit()->policies()) dirs.insert(policy.directory);
    return dirs;
  }
  Set qos_classes() {
    Set dirs;
    const auto now = registry().snapshot();
    for (const QosRule* rule : now->qos_rules()) {
      if (rule->target.kind == QosKind::kDirectory) dirs.insert(FileId{rule->target.id});
    }
    return dirs;
  }
  void expect_set_on(const Set& dirs) {
    EXPECT_EQ(recycled(), dirs);
    EXPECT_EQ(audited(), dirs);
    EXPECT_EQ(qos_classes(), dirs);
  }
};
TYPED_TEST_SUITE(GoneDirectoriesTest, Engines);

TYPED_TEST(GoneDirectoriesTest, WhatIsSetOnADirectoryGoesWithItAndNothingElse) {
  const FileId gone = this->mkdir(kRootId, "gone").value(), stays = this->mkdir(kRootId, "stays").value();
  this->set_all(gone);
  this->set_all(stays);
  this->set_all(kRootId);
  QosRule other{.target = QosTarget::user(static_cast<std::uint32_t>(gone))};  // the same number, but no directory
  other.limits.weight = 7;
  ASSERT_TRUE(this->registry().set_qos_class(other));
  ASSERT_TRUE(this->volume_->run_gc());
  this->expect_set_on({gone, stays, kRootId});

  ASSERT_TRUE(this->registry().set_recycle({.dir = kRootId, .enabled = false}));
  ASSERT_TRUE(this->ns().rmdir({}, {.parent = kRootId, .name = "gone"}));
  ASSERT_TRUE(this->volume_->run_gc());
  this->expect_set_on({stays, kRootId});
  EXPECT_NE(this->registry().snapshot()->find_qos_rule(other.target), nullptr);
  this->reopen();
  this->expect_set_on({stays, kRootId});
  this->expect_consistent();
}

TYPED_TEST(GoneDirectoriesTest, WhatLiesInARecycleBinKeepsWhatIsSetUntilItIsPurged) {
  const FileId team = this->mkdir(kRootId, "team").value(), dir = this->mkdir(team, "dir").value();
  this->set_all(dir);
  ASSERT_TRUE(this->registry().set_recycle({.dir = team, .days = 3}));
  ASSERT_TRUE(this->ns().rmdir({}, {.parent = team, .name = "dir"}));
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_THAT(this->recycled(), testing::UnorderedElementsAre(team, dir));
  EXPECT_THAT(this->qos_classes(), testing::ElementsAre(dir));

  constexpr std::int64_t kWeek = std::int64_t{7} * 24 * 3600 * 1'000'000'000;
  ASSERT_TRUE(this->volume_->run_purge({wall_now().ns + kWeek}));
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_THAT(this->recycled(), testing::ElementsAre(team));
  EXPECT_THAT(this->audited(), testing::IsEmpty());
  EXPECT_THAT(this->qos_classes(), testing::IsEmpty());
  this->expect_consistent();
}

// A step takes a bounded number; the next goes on.
TYPED_TEST(GoneDirectoriesTest, ManyGoStepByStep) {
  constexpr std::size_t kMany = 300;
  for (std::size_t i = 0; i < kMany; ++i) {
    const std::string name = "d" + std::to_string(i);
    const FileId dir = this->mkdir(kRootId, name).value();
    ASSERT_TRUE(this->registry().set_recycle({.dir = dir}));
    ASSERT_TRUE(this->registry().set_recycle({.dir = dir, .enabled = false}));
    ASSERT_TRUE(this->ns().rmdir({}, {.parent = kRootId, .name = name}));
  }
  ASSERT_TRUE(this->volume_->run_gc());
  const std::size_t left = this->recycled().size();
  EXPECT_GT(left, 0u);
  EXPECT_LT(left, kMany);
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_THAT(this->recycled(), testing::IsEmpty());
}

}  // namespace
}  // namespace stoa::core::test
