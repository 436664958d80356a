// Files deleted by their last close (MS-FSA: DeletePending, delete on close): the table.
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class DeleteTest : public TableTest {
 protected:
  OpenId open_to_delete(const Client& who, std::string name = "f", std::uint32_t access = kShareRead | kShareDelete) {
    const auto opened = table().open({kFile,
                                      who.id,
                                      access,
                                      kShareNone,
                                      {},
                                      std::make_shared<const OpenedName>(OpenedName{kRootId, std::move(name)})});
    EXPECT_TRUE(opened);
    return opened ? *opened : kNoOpen;
  }
  using Deleted = std::vector<std::pair<FileId, std::string>>;
  const Deleted once_{{kFile, "f"}};
};

TEST_F(DeleteTest, PendingKeepsTheFileForItsOpensAndShutsOutNewOnes) {
  const Client a = client(), b = client();
  const OpenId deletes = open_to_delete(a), reads = *open(b, kShareRead);
  EXPECT_FALSE(table().delete_pending(kFile));
  ASSERT_TRUE(table().set_delete(deletes, DeleteWhen::kPending));
  EXPECT_TRUE(table().delete_pending(kFile));
  EXPECT_EQ(code(open(b, kShareRead)), Errc::kShareConflict);
  EXPECT_EQ(code(open(b, kShareNone)), Errc::kShareConflict);
  EXPECT_FALSE(grant(table(), kFile, b.id, kReads));
  table().close(deletes);
  EXPECT_TRUE(files_.deleted.empty());
  table().close(reads);
  EXPECT_EQ(files_.deleted, once_);
  EXPECT_FALSE(table().delete_pending(kFile));
  EXPECT_TRUE(open(b, kShareRead)) << "another name";
}

TEST_F(DeleteTest, IsTakenBack) {
  const Client a = client();
  const OpenId deletes = open_to_delete(a);
  ASSERT_TRUE(table().set_delete(deletes, DeleteWhen::kPending));
  ASSERT_TRUE(table().set_delete(deletes, DeleteWhen::kNever));
  EXPECT_TRUE(open(a, kShareRead));
  ASSERT_TRUE(table().set_delete(deletes, DeleteWhen::kAtClose));
  ASSERT_TRUE(table().set_delete(deletes, DeleteWhen::kNever));
  table().remove_holder(a.id);
  EXPECT_TRUE(files_.deleted.empty());
}

TEST_F(DeleteTest, OnCloseIsPendingFromThatCloseOn) {
  const Client a = client(), b = client();
  const OpenId deletes = open_to_delete(a);
  ASSERT_TRUE(table().set_delete(deletes, DeleteWhen::kAtClose));
  const auto reads = open(b, kShareRead);
  ASSERT_TRUE(reads);
  table().remove_holder(a.id);
  EXPECT_TRUE(table().delete_pending(kFile));
  EXPECT_TRUE(files_.deleted.empty());
  table().close(*reads);
  EXPECT_EQ(files_.deleted, once_);
}

TEST_F(DeleteTest, NeedsAnOpenThatMay) {
  const Client a = client();
  const OpenId reads = open_to_delete(a, "f", kShareRead);
  EXPECT_EQ(code(table().set_delete(reads, DeleteWhen::kPending)), Errc::kAccess);
  const auto unnamed = open(a, kShareDelete);
  ASSERT_TRUE(unnamed);
  EXPECT_EQ(code(table().set_delete(*unnamed, DeleteWhen::kPending)), Errc::kInvalid);
  EXPECT_EQ(code(table().set_delete(OpenId{12345}, DeleteWhen::kPending)), Errc::kInvalid);
}

TEST_F(DeleteTest, RecallsCachedHandlesOfOthers) {
  const Client a = client(), b = client();
  const auto lease = grant(table(), kFile, b.id, kReadsAndKeeps);
  const OpenId deletes = open_to_delete(a);
  ASSERT_TRUE(lease && open(b, kShareRead));
  EXPECT_EQ(code(table().set_delete(deletes, DeleteWhen::kPending)), Errc::kRecallPending);
  EXPECT_FALSE(table().delete_pending(kFile));
  EXPECT_EQ(*b.recalled, (std::vector<Recalled>{{*lease, kFile, kReadCaching}}));
  ASSERT_TRUE(table().acknowledge(*lease, kReadCaching));
  EXPECT_TRUE(table().set_delete(deletes, DeleteWhen::kPending));
}

TEST_F(DeleteTest, WaitsForALeaseOfTheDirectory) {
  const Client a = client(), b = client();
  const Touched directories[] = {{.file = kOther}};
  files_.deleting = [&] { return table().before_mutate(a.ctx(), directories); };
  for (const bool answered : {true, false}) {
    files_.deleted.clear();
    const auto lease = grant(table(), kOther, b.id, kReads);
    ASSERT_TRUE(lease);
    const OpenId deletes = open_to_delete(a);
    ASSERT_TRUE(table().set_delete(deletes, DeleteWhen::kAtClose));
    table().close(deletes);
    EXPECT_TRUE(files_.deleted.empty());
    EXPECT_EQ(code(open(a, kShareRead)), Errc::kShareConflict);
    table().retry_waits();
    EXPECT_TRUE(files_.deleted.empty());
    if (answered) {
      table().return_lease(*lease);
    } else {
      now_ += options_.lease_recall_timeout;
      table().retry_waits();
      table().return_lease(*lease);
    }
    EXPECT_EQ(files_.deleted, once_);
    EXPECT_FALSE(table().delete_pending(kFile));
    now_ += LeaseTerms{}.pause_after_change;
  }
}

TEST_F(DeleteTest, ThatFailsLeavesTheFileAsItIs) {
  const Client a = client();
  files_.deleting = [] { return Status(fail(Errc::kAccess)); };
  const OpenId deletes = open_to_delete(a);
  ASSERT_TRUE(table().set_delete(deletes, DeleteWhen::kAtClose));
  table().close(deletes);
  EXPECT_FALSE(table().delete_pending(kFile));
  EXPECT_TRUE(open(a, kShareRead));
}

TEST_F(DeleteTest, GoesAlongToAnotherTable) {
  const Client a = client();
  const OpenId first = open_to_delete(a), second = open_to_delete(a, "g");
  ASSERT_TRUE(table().set_delete(first, DeleteWhen::kAtClose));
  ASSERT_TRUE(table().set_delete(second, DeleteWhen::kPending));
  const HolderState state = table().export_holder(a.id);
  MetricRegistry metrics;
  VolumeState next{options_, files_, kv_, committer_, metrics};
  const HolderId b = next.add_holder(Protocol::kSmb, nullptr);
  EXPECT_EQ(next.adopt_holder(b, state), HolderState{});
  EXPECT_EQ(next.export_holder(b), state);
  EXPECT_TRUE(next.delete_pending(kFile));
  next.remove_holder(b);
  EXPECT_EQ(files_.deleted, (Deleted{{kFile, "g"}}));
}

}  // namespace
}  // namespace stoa::core::test
