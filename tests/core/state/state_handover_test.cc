// Handover of a holder's state from one table to another as values.
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class HandoverTest : public TableTest {
 protected:
  HandoverTest() {
    EXPECT_TRUE(table().load());
    EXPECT_TRUE(next_.load());
  }
  // The table of the shard's next owner, over the same store.
  MetricRegistry other_metrics_;
  VolumeState next_{options_, files_, kv_, committer_, other_metrics_};
  HolderId next_holder() { return next_.add_holder(Protocol::kNfs, nullptr); }
  static bool nothing(const HolderState& state) { return state == HolderState{}; }
};

TEST_F(HandoverTest, WhatAHolderHasIsTheSameThere) {
  const Client a = client();
  const LeaseKey key{.high = 5, .low = 6};
  const OpenId plain = *open(a, kShareBoth, kShareDelete);
  const auto keyed = table().open({kOther, a.id, kShareRead, kShareWrite, key});
  ASSERT_TRUE(keyed && open(a, kShareNone, kShareAll, kOther));
  ASSERT_TRUE(table().lock_mandatory(plain, {0, 10}, true));
  ASSERT_TRUE(table().lock_mandatory(plain, {20, 0}, false));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(table().lock(kFile, {a.id, "o"}, {100 + i * 10, 5}, i % 2 == 0));
  ASSERT_TRUE(table().lock(kOther, {a.id, "p"}, {}, false));
  const auto lease = grant(table(), kOther, a.id, kReadsAndKeeps, key);
  const auto delegation = grant(table(), FileId{77}, a.id, kWriteDelegation);
  ASSERT_TRUE(lease && delegation);

  const HolderState state = table().export_holder(a.id);
  EXPECT_EQ(state.opens.size(), 3u);
  EXPECT_EQ(state.locks.size(), 4u);
  EXPECT_EQ(state.mandatory_locks.size(), 2u);
  EXPECT_EQ(state.leases.size(), 2u);
  const HolderId b = next_holder();
  EXPECT_TRUE(nothing(next_.adopt_holder(b, state)));
  EXPECT_EQ(next_.export_holder(b), state);

  // It conflicts with others there, and ends by its ids.
  const HolderId other = next_holder();
  EXPECT_EQ(code(next_.open({kFile, other, kShareDelete, kShareNone})), Errc::kShareConflict);
  EXPECT_EQ(code(next_.open({FileId{77}, other, kShareRead, kShareNone})), Errc::kRecallPending);
  OpContext reader;
  reader.holder = other;
  EXPECT_EQ(code(next_.before_io(reader, kFile, 5, 1, false)), Errc::kLocked);
  const auto locked = next_.lock(kFile, {other, "o"}, {101, 1}, true);
  ASSERT_TRUE(locked && *locked);
  EXPECT_EQ((*locked)->owner, (LockOwner{b, "o"}));
  next_.close(plain);
  next_.return_lease(*delegation);
  EXPECT_TRUE(next_.open({kFile, other, kShareDelete, kShareNone}));
  EXPECT_TRUE(next_.open({FileId{77}, other, kShareRead, kShareNone}));
  next_.remove_holder(b);
  EXPECT_TRUE(nothing(next_.export_holder(b)));
  EXPECT_EQ(table().export_holder(a.id), state) << "it was read, not moved";
}

TEST_F(HandoverTest, FilesLeasesKeepTheirKind) {
  constexpr FileId kDirectory{300};
  files_.directories.insert(kDirectory);
  files_.names[kFile] = {kDirectory};
  const Client a = client();
  ASSERT_TRUE(grant(table(), kDirectory, a.id, kFilesAll));
  const HolderState state = table().export_holder(a.id);
  const HolderId b = next_holder();
  EXPECT_TRUE(nothing(next_.adopt_holder(b, state)));
  EXPECT_EQ(next_.export_holder(b), state);
  OpContext reader;
  reader.holder = next_holder();
  EXPECT_EQ(code(next_.before_look(reader, {.file = kFile, .directory = kDirectory})), Errc::kRecallPending);
  // A lease of a file of it conflicts there.
  const Client c = client();
  ASSERT_FALSE(grant(table(), kFile, c.id, kReads));
  next_.remove_holder(b);
  const HolderId d = next_holder();
  ASSERT_TRUE(grant(next_, kFile, d, kAll));
  const HolderId e = next_holder();
  EXPECT_EQ(next_.adopt_holder(e, state).leases.size(), 1u) << "it is lost";
}

TEST_F(HandoverTest, NoIdIsGivenTwice) {
  const Client a = client();
  const OpenId old = *open(a, kShareRead);
  const HolderId other = next_holder();
  const auto fresh = next_.open({kFile, other, kShareRead, kShareNone});
  ASSERT_TRUE(fresh);
  EXPECT_NE(*fresh, old);
  EXPECT_EQ(shard_of(*fresh), ShardId{0});
  const FileId foreign{std::uint64_t{9} << 48 | 5};
  EXPECT_EQ(shard_of(*open(a, kShareRead, kShareNone, foreign)), ShardId{9});
  const auto lease = grant(table(), foreign, a.id, kReads);
  ASSERT_TRUE(lease);
  EXPECT_EQ(shard_of(*lease), ShardId{9});
}

TEST_F(HandoverTest, WhatOthersHaveMeanwhileIsLost) {
  const Client a = client();
  const OpenId mine = *open(a, kShareWrite);
  const OpenId second = *open(a, kShareRead, kShareNone, kOther);
  ASSERT_TRUE(table().lock_mandatory(mine, {0, 1}, true));
  ASSERT_TRUE(table().lock(kOther, {a.id, "o"}, {0, 10}, true));
  ASSERT_TRUE(grant(table(), kOther, a.id, kReads));
  const HolderState state = table().export_holder(a.id);
  const HolderId other = next_holder();
  ASSERT_TRUE(next_.open({kFile, other, kShareRead, kShareWrite}));
  ASSERT_TRUE(next_.lock(kOther, {other, "o"}, {5, 1}, true));
  const HolderId b = next_holder();
  const HolderState lost = next_.adopt_holder(b, state);
  ASSERT_EQ(lost.opens.size(), 1u);
  EXPECT_EQ(lost.opens[0].id, mine);
  EXPECT_EQ(lost.mandatory_locks, state.mandatory_locks);
  EXPECT_EQ(lost.locks, state.locks);
  EXPECT_EQ(lost.leases, state.leases);
  const HolderState had = next_.export_holder(b);
  ASSERT_EQ(had.opens.size(), 1u);
  EXPECT_EQ(had.opens[0].id, second);
  EXPECT_EQ(next_.held_by(b).opens, 1);
  EXPECT_EQ(next_.held_by(b).locks + next_.held_by(b).leases, 0);
}

TEST_F(HandoverTest, IsRefusedWhereItMakesNoSense) {
  const Client a = client();
  ASSERT_TRUE(open(a, kShareRead) && grant(table(), kFile, a.id, kReads));
  const HolderState state = table().export_holder(a.id);
  EXPECT_EQ(next_.adopt_holder(HolderId{999}, state), state) << "an unknown holder";
  const HolderId b = next_holder();
  EXPECT_EQ(table().adopt_holder(a.id, state), state) << "it has it";
  HolderState other_file = state;
  other_file.opens[0].file = other_file.leases[0].file = FileId{std::uint64_t{1} << 48 | 100};
  EXPECT_EQ(next_.adopt_holder(b, other_file), other_file) << "ids of another shard";
  files_.gone.insert(kFile);
  EXPECT_EQ(next_.adopt_holder(b, {.opens = state.opens}).opens, state.opens) << "the file is gone";
  EXPECT_FALSE(next_.holds_state(b));
  // An open of a file without a name keeps it, and its last close is reported.
  files_.gone.clear();
  files_.orphan_files.insert(kFile);
  EXPECT_TRUE(nothing(next_.adopt_holder(b, {.opens = state.opens})));
  next_.close(state.opens[0].id);
  EXPECT_EQ(files_.closed, std::vector{kFile});
}

TEST_F(HandoverTest, NoLeaseThatLapsed) {
  const Client a = client();
  const Client b = client();
  ASSERT_TRUE(grant(table(), kFile, a.id, kReads));
  const Touched files[] = {{.file = kFile}};
  EXPECT_EQ(code(table().before_mutate(b.ctx(), files)), Errc::kRecallPending);
  EXPECT_EQ(table().export_holder(a.id).leases.size(), 1u);
  now_ += options_.lease_recall_timeout;
  EXPECT_TRUE(nothing(table().export_holder(a.id)));
}

}  // namespace
}  // namespace stoa::core::test
