#include "core/registry/record.h"

#include <gtest/gtest.h>

namespace stoa::core {
namespace {

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

Export sample_export() {
  Export record{.id = ExportId{42}, .name = "team", .root = FileId{0x11}, .path = "/team", .nfs = true, .s3 = true};
  record.owner = "ann";
  record.created = {1'700'000'000'000'000'000};
  record.clients.push_back({.network = *Network::parse("10.0.0.0/8"),
                            .read_only = true,
                            .squash = Squash::kAll,
                            .anonymous_uid = 1000,
                            .anonymous_gid = 1001});
  return record;
}

User sample_user() {
  return {.name = "ann", .uid = 1000, .gid = 100, .groups = {4, 5}, .keys = {{"ACCESS", "SECRETSECRET", false}}};
}

// Once released, these bytes stay readable: a change raises the version.
constexpr std::string_view kExportV1 =
    "010143000000"
    "2a000000"
    "047465616d"
    "1100000000000000"
    "052f7465616d"
    "03"
    "03616e6e"
    "00002a36fe9c9717"
    "01"
    "00000000000000000000ffff0a000000"
    "68"
    "01"
    "02"
    "e8030000"
    "e9030000"
    "020401";
constexpr std::string_view kUserV1 =
    "01013e000000"
    "03616e6e"
    "e8030000"
    "64000000"
    "02"
    "04000000"
    "05000000"
    "01"
    "06414343455353"
    "0c534543524554534543524554"
    "00"
    "05616e6e4052"
    "0c532d312d352d32312d312d32";

Export secured_export() {
  Export record = sample_export();
  record.security = {SecurityFlavor::kKrb5p, SecurityFlavor::kSys};
  return record;
}

User known_user() {
  User user = sample_user();
  user.principal = "ann@R";
  user.sid = "S-1-5-21-1-2";
  return user;
}

TEST(RecordTest, ExportHasTheBytesOfVersion1) {
  EXPECT_EQ(hex(encode_export(secured_export())), kExportV1);
  EXPECT_EQ(export_key(ExportId{42}), "export/0000002a");
}

TEST(RecordTest, UserHasTheBytesOfVersion1) {
  EXPECT_EQ(hex(encode_user(known_user())), kUserV1);
  EXPECT_EQ(user_key("ann"), "user/ann");
}

TEST(RecordTest, GroupHasTheBytesOfVersion1) {
  const Group group{.name = "staff", .gid = 50, .sid = "S-1-5-21-1-2"};
  EXPECT_EQ(hex(encode_group(group)),
            "01011700000005737461666632000000"
            "0c532d312d352d32312d312d32");
  EXPECT_EQ(group_key("staff"), "group/staff");
  const auto after = decode_group(encode_group(group));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->name, "staff");
  EXPECT_EQ(after->gid, 50u);
  EXPECT_EQ(after->sid, "S-1-5-21-1-2");
}

TEST(RecordTest, SidDomainHasTheBytesOfVersion1) {
  EXPECT_EQ(hex(encode_sid_domain({1, 2, 3})), "01010c000000010000000200000003000000");
  EXPECT_EQ(*decode_sid_domain(encode_sid_domain({1, 2, 3})), (SidDomain{1, 2, 3}));
}

TEST(RecordTest, RecyclePolicyHasTheBytesOfVersion1) {
  RecyclePolicy policy{.dir = FileId{17}, .bytes_max = 300};
  EXPECT_EQ(hex(encode_recycle(policy)),
            "010112000000"
            "1100000000000000"
            "01"
            "0e000000"
            "01ac02"
            "01"
            "01");
  EXPECT_EQ(*decode_recycle(encode_recycle(policy)), policy);
  EXPECT_EQ(recycle_key(policy.dir), "recycle/0000000000000011");
  policy = {.dir = FileId{17}, .enabled = false, .days = 0, .restore = RestoreRight::kAdmin, .counted = false};
  EXPECT_EQ(*decode_recycle(encode_recycle(policy)), policy);
  policy.days = 36'501;
  EXPECT_EQ(decode_recycle(encode_recycle(policy)).error().code, Errc::kCorrupt);
}

Token sample_token() {
  Token token{.name = "ann", .role = Role::kOwner, .directory = FileId{0x11}, .created = {1}, .expires = {2}};
  for (std::size_t i = 0; i < token.hash.size(); ++i) token.hash[i] = static_cast<std::uint8_t>(i);
  return token;
}

TEST(RecordTest, TokensHaveTheBytesOfVersion1) {
  const std::string bytes = encode_token(sample_token());
  EXPECT_EQ(hex(bytes),
            "01013d000000"
            "03616e6e"
            "01"
            "1100000000000000"
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
            "0100000000000000"
            "0200000000000000");
  const auto read = decode_token(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "ann");
  EXPECT_EQ(read->role, Role::kOwner);
  EXPECT_EQ(read->directory, FileId{0x11});
  EXPECT_EQ(read->hash, sample_token().hash);
  EXPECT_EQ(read->created.ns, 1);
  EXPECT_EQ(read->expires.ns, 2);
  EXPECT_EQ(hex(encode_token_use({7})), "0101080000000700000000000000");
  EXPECT_EQ(decode_token_use(encode_token_use({7}))->ns, 7);
  EXPECT_EQ(token_key("ann"), "token/ann");
  EXPECT_EQ(token_use_key("ann"), "token_use/ann");
}

TEST(RecordTest, DamagedTokensAreCorrupt) {
  const std::string bytes = encode_token(sample_token());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(decode_token(bytes.substr(0, size)).error().code, Errc::kCorrupt);
  for (const std::uint8_t role : {0, 2, 5}) {  // no role; one that has no directory; one that does not exist
    std::string wrong = bytes;
    wrong[10] = static_cast<char>(role);
    EXPECT_EQ(decode_token(wrong).error().code, Errc::kCorrupt);
  }
  EXPECT_EQ(decode_token_use("x").error().code, Errc::kCorrupt);
}

TEST(RecordTest, AuditPolicyHasTheBytesOfVersion1) {
  const AuditPolicy policy{FileId{17}, 5};
  const std::string stored = encode_audit(policy);
  EXPECT_EQ(hex(stored), "01010a00000011000000000000000500");
  EXPECT_EQ(*decode_audit(stored), policy);
  for (std::size_t size = 0; size < stored.size(); ++size) EXPECT_FALSE(decode_audit(stored.substr(0, size))) << size;
  EXPECT_EQ(decode_audit(encode_audit({FileId{17}, 256})).error().code, Errc::kCorrupt)
      << "a class that is not there yet";
  EXPECT_EQ(decode_audit(encode_audit({kNoFile, 1})).error().code, Errc::kCorrupt);
  EXPECT_EQ(hex(audit_key(FileId{17})), "61756469742f0000000000000011");
}

TEST(RecordTest, QosClassHasTheBytesOfVersion1) {
  QosRule rule{.target = QosTarget::clients(*Network::parse("10.0.0.0/8"))};
  rule.limits.limit[qos::Resource::kReadBytes] = 300;
  rule.limits.guarantee[qos::Resource::kMetadataOps] = 7;
  rule.limits.burst = std::chrono::milliseconds(100);
  rule.limits.weight = 200;
  EXPECT_EQ(hex(encode_qos_class(rule)),
            "010128000000"
            "03"
            "0000000000000000"
            "00000000000000000000ffff0a000000"
            "68"
            "ac0200000000"
            "0000000007"
            "64"
            "c801");
  EXPECT_EQ(*decode_qos_class(encode_qos_class(rule)), rule);
  EXPECT_EQ(qos_key(rule.target), "qos_class/3/00000000000000000000ffff0a000000/68");
  EXPECT_EQ(qos_key(QosTarget::directory(FileId{17})), "qos_class/4/0000000000000011");
  rule.limits.weight = 0;
  EXPECT_EQ(decode_qos_class(encode_qos_class(rule)).error().code, Errc::kCorrupt);
}

TEST(RecordTest, NextExportHasTheBytesOfVersion1) {
  EXPECT_EQ(hex(encode_next_export(7)), "01010400000007000000");
}

TEST(RecordTest, ExportSurvivesARoundTrip) {
  const Export before = secured_export();
  const auto after = decode_export(encode_export(before));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->id, before.id);
  EXPECT_EQ(after->name, before.name);
  EXPECT_EQ(after->root, before.root);
  EXPECT_EQ(after->path, before.path);
  EXPECT_TRUE(after->nfs);
  EXPECT_TRUE(after->s3);
  EXPECT_FALSE(after->read_only);
  EXPECT_EQ(after->owner, before.owner);
  EXPECT_EQ(after->created, before.created);
  EXPECT_EQ(after->clients, before.clients);
  EXPECT_EQ(after->security, before.security);
  EXPECT_FALSE(after->native_tls_required);
}

TEST(RecordTest, WhatNativeClientsMustDoSurvivesARoundTrip) {
  Export before = sample_export();
  before.native = true;
  before.native_tls_required = true;
  const auto after = decode_export(encode_export(before));
  ASSERT_TRUE(after);
  EXPECT_TRUE(after->native);
  EXPECT_TRUE(after->native_tls_required);
}

TEST(RecordTest, UserSurvivesARoundTrip) {
  const auto after = decode_user(encode_user(known_user()));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->name, "ann");
  EXPECT_EQ(after->uid, 1000u);
  EXPECT_EQ(after->gid, 100u);
  EXPECT_EQ(after->groups, (std::vector<std::uint32_t>{4, 5}));
  ASSERT_EQ(after->keys.size(), 1u);
  EXPECT_EQ(after->keys[0].secret_key, "SECRETSECRET");
  EXPECT_FALSE(after->keys[0].enabled);
  EXPECT_EQ(after->principal, "ann@R");
  EXPECT_EQ(after->sid, "S-1-5-21-1-2");
}

// The record cut to `size` bytes under an envelope of that size, as by a broken writer.
std::string cut_and_encoded(std::string whole, std::size_t size) {
  whole.resize(size);
  const auto body = static_cast<std::uint32_t>(size - 6);
  std::memcpy(whole.data() + 2, &body, sizeof body);
  return whole;
}

TEST(RecordTest, EveryTruncationIsCorruptAndNotACrash) {
  const std::string record = encode_export(secured_export());
  const std::string user = encode_user(known_user());
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_EQ(decode_export(record.substr(0, size)).error().code, Errc::kCorrupt);
    if (size >= 6) {
      EXPECT_EQ(decode_export(cut_and_encoded(record, size)).error().code, Errc::kCorrupt);
    }
  }
  for (std::size_t size = 0; size < user.size(); ++size) {
    EXPECT_EQ(decode_user(user.substr(0, size)).error().code, Errc::kCorrupt);
    if (size >= 6) {
      EXPECT_EQ(decode_user(cut_and_encoded(user, size)).error().code, Errc::kCorrupt);
    }
  }
}

TEST(RecordTest, AnExtensionByALaterVersionIsReadAndItsDemandForANewerReaderIsHonoured) {
  std::string later = encode_user(sample_user());
  later += "more";
  later[0] = 2;
  later[2] = static_cast<char>(later[2] + 4);
  EXPECT_TRUE(decode_user(later));
  later[1] = 2;
  EXPECT_EQ(decode_user(later).error().code, Errc::kNotSupported);
}

}  // namespace
}  // namespace stoa::core
