// The recycle bin as NFSv3 clients meet it.
#include <gmock/gmock.h>

#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::StartsWith;

class RecycleProtocolTest : public ExportedTest {
 protected:
  RecycleProtocolTest() {
    const auto found = volume->ns().resolve_path({}, {"/test"});
    EXPECT_TRUE(found);
    EXPECT_TRUE(volume->registry().set_recycle({.dir = found->attr.id}));
  }
  std::optional<Handle> user_bin() {
    const auto bin = nfs->lookup(root, ".recycle");
    return bin ? nfs->lookup(*bin, "0") : std::nullopt;
  }
};

TEST_F(RecycleProtocolTest, WhatIsRemovedIsSeenReadAndMovedBack) {
  const Handle file = nfs->create(root, "f");
  ASSERT_EQ(nfs->write(file, 0, "text"), NfsStatus::kOk);
  EXPECT_THAT(nfs->names(root), Not(Contains(".recycle")));
  ASSERT_EQ(nfs->status_of(kRemove, root, "f"), NfsStatus::kOk);
  EXPECT_THAT(nfs->names(root), Contains(".recycle"));
  EXPECT_THAT(nfs->names(root), Not(Contains("f")));
  const auto dir = user_bin();
  ASSERT_TRUE(dir);
  const auto names = nfs->names(*dir);
  std::string name;
  for (const std::string& one : names) {
    if (one.starts_with("f@")) name = one;
  }
  ASSERT_THAT(name, StartsWith("f@"));
  EXPECT_EQ(nfs->lookup(*dir, name), file);  // the handle stays
  EXPECT_EQ(nfs->read(file), "text");
  EXPECT_EQ(nfs->write(file, 0, "more"), NfsStatus::kRoFs);
  EXPECT_EQ(nfs->setattr(file, {.mode = 0600}).status, NfsStatus::kRoFs);
  EXPECT_EQ(nfs->status_of(kRemove, *dir, name), NfsStatus::kRoFs);
  EXPECT_EQ(nfs->create_call(*dir, "new", 0).status, NfsStatus::kRoFs);
  EXPECT_EQ(nfs->status_of(kRmdir, root, ".recycle"), NfsStatus::kRoFs);
  EXPECT_EQ(nfs->mkdir_call(root, ".recycle").status, NfsStatus::kExist);
  EXPECT_EQ(nfs->lookup(*nfs->lookup(*dir, ".."), ".."), root);
  const Handle taken = nfs->create(root, "taken");
  EXPECT_EQ(nfs->rename_call(*dir, name, root, "taken").status, NfsStatus::kExist);
  ASSERT_TRUE(nfs->rename_call(*dir, name, root, "back").ok());
  EXPECT_EQ(nfs->lookup(root, "back"), file);
  EXPECT_EQ(nfs->write(file, 0, "more"), NfsStatus::kOk);
  const auto report = volume->check({});
  ASSERT_TRUE(report);
  EXPECT_THAT(report->problems, ElementsAre());
}

TEST_F(RecycleProtocolTest, OthersDoNotSeeIt) {
  nfs->create(root, "f");
  ASSERT_EQ(nfs->status_of(kRemove, root, "f"), NfsStatus::kOk);
  const auto dir = user_bin();
  ASSERT_TRUE(dir);
  NfsCaller other(port, 1000, 1000);
  EXPECT_EQ(other.readdir(*dir, 0, 0, 4096).status, NfsStatus::kAccess);
  EXPECT_EQ(other.status_of(kLookup, *dir, "f@1"), NfsStatus::kAccess);
}

}  // namespace
}  // namespace stoa::test
