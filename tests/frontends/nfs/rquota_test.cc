// The answers to `quota` on an NFSv3 client (frontends/nfs/rquota/program.h).
#include "frontends/nfs/rquota/program.h"
#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

using rquota::Status;

constexpr std::uint32_t kAnn = 1001, kStaff = 500;

struct WireQuota {
  std::uint32_t accept = 0, status = 0;
  std::uint32_t block = 0, active = 0, hard = 0, soft = 0, used = 0;
  std::uint32_t files_hard = 0, files_soft = 0, files_used = 0, seconds_left = 0, files_seconds_left = 0;
};

class RquotaTest : public ExportedTest {
 protected:
  RquotaTest() {
    dir_ = volume->ns().lookup({}, {.parent = core::kRootId, .name = "test", .root = core::kRootId})->attr.id;
    EXPECT_TRUE(volume->ns().count_owners({}, {dir_, true}));
  }
  WireQuota ask(std::uint32_t caller, std::uint32_t version, const Xdr& arguments, std::uint32_t procedure = 1) {
    NfsCaller as(port, caller, kStaff);
    CallSpec spec = as.spec(procedure);
    spec.program = rquota::kRquotaProgram;
    spec.version = version;
    const auto reply = as.wire.call(spec, arguments);
    WireQuota quota;
    if (!reply || reply->accept_status != 0) {
      quota.accept = reply ? reply->accept_status : 99;
      return quota;
    }
    rpc::XdrReader in(reply->results);
    quota.status = in.u32();
    if (quota.status == static_cast<std::uint32_t>(Status::kOk)) {
      for (std::uint32_t* member :
           {&quota.block, &quota.active, &quota.hard, &quota.soft, &quota.used, &quota.files_hard, &quota.files_soft,
            &quota.files_used, &quota.seconds_left, &quota.files_seconds_left}) {
        *member = in.u32();
      }
    }
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.left(), 0u);
    return quota;
  }
  WireQuota user(std::uint32_t caller, std::uint32_t uid) { return ask(caller, 1, Xdr().string("/test").u32(uid)); }
  WireQuota group(std::uint32_t caller, std::uint32_t gid) {
    return ask(caller, 2, Xdr().string("/test").u32(1).u32(gid));
  }
  static std::uint32_t status(Status status) { return static_cast<std::uint32_t>(status); }
  void limit(core::QuotaOf of, std::uint32_t id, const core::QuotaLimits& limits) {
    ASSERT_TRUE(volume->ns().set_quota({}, {dir_, limits, of, id}));
  }

  core::FileId dir_{};
};

TEST_F(RquotaTest, WithoutALimitThereIsNoQuota) {
  EXPECT_EQ(user(kAnn, kAnn).status, status(Status::kNoQuota));
  EXPECT_EQ(group(kAnn, kStaff).status, status(Status::kNoQuota));
}

TEST_F(RquotaTest, AUserIsToldLimitsAndUsageInBlocks) {
  limit(core::QuotaOf::kUser, kAnn,
        {.bytes = 10'000, .files = 7, .soft_bytes = 2048, .soft_files = 1, .grace_s = 3600});
  const Handle file = nfs->create(root, "f");
  ASSERT_TRUE(nfs->setattr(file, {.uid = kAnn, .gid = kStaff, .size = 2049}).ok());
  const WireQuota quota = user(kAnn, kAnn);
  ASSERT_EQ(quota.status, status(Status::kOk));
  EXPECT_EQ(quota.block, 1024u);
  EXPECT_EQ(quota.active, 1u);
  EXPECT_EQ(quota.hard, 10u);  // rounded up
  EXPECT_EQ(quota.soft, 2u);
  EXPECT_EQ(quota.used, 3u);
  EXPECT_EQ(quota.files_hard, 7u);
  EXPECT_EQ(quota.files_soft, 1u);
  EXPECT_EQ(quota.files_used, 1u);
  EXPECT_GT(quota.seconds_left, 3000u);
  EXPECT_LE(quota.seconds_left, 3600u);
  EXPECT_EQ(quota.files_seconds_left, 0u) << "that limit is kept";
  EXPECT_EQ(ask(kAnn, 2, Xdr().string("/test").u32(0).u32(kAnn), 2).used, 3u) << "GETACTIVEQUOTA, version 2";
}

TEST_F(RquotaTest, LimitsBeyondThirtyTwoBitsComeInLargerBlocks) {
  constexpr std::uint64_t kTebi = std::uint64_t{1} << 40;
  limit(core::QuotaOf::kUser, kAnn, {.bytes = 20 * kTebi, .files = std::uint64_t{1} << 40});
  const WireQuota quota = user(kAnn, kAnn);
  EXPECT_EQ(std::uint64_t{quota.block} * quota.hard, 20 * kTebi);
  EXPECT_EQ(quota.files_hard, 0xffffffffu);
  // Less than a block is not "no limit".
  limit(core::QuotaOf::kUser, kAnn, {.bytes = 0});
  EXPECT_EQ(user(kAnn, kAnn).hard, 1u);
}

TEST_F(RquotaTest, AGroupHasItsOwnAndTheDirectoryLimitsEverybody) {
  limit(core::QuotaOf::kGroup, kStaff, {.bytes = 4096});
  EXPECT_EQ(group(kAnn, kStaff).hard, 4u);
  EXPECT_EQ(user(kAnn, kAnn).status, status(Status::kNoQuota));
  limit(core::QuotaOf::kDirectory, 0, {.bytes = 2048});
  EXPECT_EQ(group(kAnn, kStaff).hard, 2u);
  EXPECT_EQ(user(kAnn, kAnn).hard, 2u);
}

TEST_F(RquotaTest, OthersAreTheSuperusersAffair) {
  limit(core::QuotaOf::kUser, kAnn, {.bytes = 4096});
  EXPECT_EQ(user(kAnn + 1, kAnn).status, status(Status::kPerm));
  EXPECT_EQ(group(kAnn, kStaff + 1).status, status(Status::kPerm));
  EXPECT_EQ(user(0, kAnn).hard, 4u);
}

TEST_F(RquotaTest, WhatIsNotThereHasNoQuota) {
  limit(core::QuotaOf::kDirectory, 0, {.bytes = 4096});
  EXPECT_EQ(ask(kAnn, 1, Xdr().string("/nothing").u32(kAnn)).status, status(Status::kNoQuota));
  EXPECT_EQ(ask(kAnn, 1, Xdr().string("").u32(kAnn)).status, status(Status::kNoQuota));
  EXPECT_EQ(ask(kAnn, 2, Xdr().string("/test").u32(2).u32(kAnn)).status, status(Status::kNoQuota)) << "no such type";
  EXPECT_EQ(ask(kAnn, 1, Xdr().string("/test/sub").u32(kAnn)).status, status(Status::kNoQuota));
  nfs->mkdir(root, "sub");
  EXPECT_EQ(ask(kAnn, 1, Xdr().string("/test/sub").u32(kAnn)).hard, 4u);
}

TEST_F(RquotaTest, WhatIsMalformedIsRefused) {
  constexpr std::uint32_t kProcedureUnavailable = 3, kVersionMismatch = 2, kGarbage = 4;
  EXPECT_EQ(ask(kAnn, 1, Xdr().string("/test")).accept, kGarbage);
  EXPECT_EQ(ask(kAnn, 2, Xdr().string("/test").u32(0)).accept, kGarbage);
  EXPECT_EQ(ask(kAnn, 1, Xdr().string(std::string(1025, '/')).u32(kAnn)).accept, kGarbage);
  EXPECT_EQ(ask(0, 1, Xdr().string("/test").u32(kAnn), 3).accept, kProcedureUnavailable) << "SETQUOTA";
  EXPECT_EQ(ask(kAnn, 3, Xdr().string("/test").u32(kAnn)).accept, kVersionMismatch);
}

// --- the answers of NFSv3 itself

TEST_F(RquotaTest, FsstatIsThatOfTheCallersTightestQuota) {
  limit(core::QuotaOf::kUser, kAnn, {.bytes = 1000, .files = 5});
  const auto fsstat = [&](std::uint32_t uid) {
    NfsCaller as(port, uid, kStaff);
    NfsResult result = as.call(kFsstat, Xdr().opaque(root));
    EXPECT_TRUE(result.ok());
    read_post_op(result.in);
    return std::array{result.in.u64(), result.in.u64(), result.in.u64(),
                      result.in.u64(), result.in.u64(), result.in.u64()};
  };
  const Handle file = nfs->create(root, "f");
  ASSERT_TRUE(nfs->setattr(file, {.uid = kAnn, .gid = kStaff, .size = 300}).ok());
  EXPECT_EQ(fsstat(kAnn), (std::array<std::uint64_t, 6>{1000, 700, 700, 5, 4, 4}));
  EXPECT_GT(fsstat(kAnn + 1)[0], 1000u);
  NfsCaller ann(port, kAnn, kStaff);
  EXPECT_EQ(ann.write(file, 300, std::string(701, 'x'), 2), NfsStatus::kDQuot);
  EXPECT_EQ(ann.write(file, 300, std::string(700, 'x'), 2), NfsStatus::kOk);
}

}  // namespace
}  // namespace stoa::test
