#include "core/journal/note.h"

#include <gtest/gtest.h>

#include "core/kv/codec.h"

namespace stoa::core {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

// Once released, these bytes stay readable: a change raises the version.

constexpr std::string_view kV1 =
    "01014a0000000302e80700002a36fe9c9717110000000000000001000000000000001200000000000000036f6c64036e65770831302e302e30"
    "2e370206ac02"
    "0105000000040000000700000000000000";
constexpr std::string_view kV2 =
    "02014d0000000302e80700002a36fe9c9717110000000000000001000000000000001200000000000000036f6c64036e65770831302e302e30"
    "2e370206ac02"
    "0105000000040000000700000000000000ac0205";
constexpr std::string_view kV1WithoutRequest =
    "01013a0000000302e80700002a36fe9c9717110000000000000001000000000000001200000000000000036f6c64036e65770831302e302e30"
    "2e370206ac0200";

OpContext sample_context() {
  return {.request = {0x4'0000'0005, 7}, .protocol = Protocol::kNfs, .cred = {.uid = 1000}, .client = "10.0.0.7"};
}
JournalNote sample_note() {
  return {.kind = ChangeKind::kRename,
          .id = FileId{17},
          .parent = kRootId,
          .name = "old",
          .to_parent = FileId{18},
          .to_name = "new",
          .type = FileType::kDirectory,
          .result = Errc::kAccess,
          .count = 300};
}
constexpr Timestamp kTime{1'700'000'000'000'000'000};

void expect_sample(const JournalRecord& record) {
  EXPECT_EQ(record.kind, ChangeKind::kRename);
  EXPECT_EQ(record.protocol, Protocol::kNfs);
  EXPECT_EQ(record.uid, 1000u);
  EXPECT_EQ(record.time, kTime);
  EXPECT_EQ(record.id, FileId{17});
  EXPECT_EQ(record.parent, kRootId);
  EXPECT_EQ(record.to_parent, FileId{18});
  EXPECT_EQ(record.name, "old");
  EXPECT_EQ(record.to_name, "new");
  EXPECT_EQ(record.client, "10.0.0.7");
}

void expect_answer(const JournalRecord& record) {
  expect_sample(record);
  EXPECT_EQ(record.type, FileType::kDirectory);
  EXPECT_EQ(record.result, Errc::kAccess);
  EXPECT_EQ(record.count, 300u);
  EXPECT_FALSE(record.is_change());
}

TEST(NoteTest, HasTheBytesOfVersion1) {
  EXPECT_EQ(encode_note(sample_note(), sample_context(), kTime), bytes_of(kV1));
  const auto record = JournalRecord::decode(bytes_of(kV1));
  ASSERT_TRUE(record) << describe(record.error());
  expect_answer(*record);
  EXPECT_EQ(record->request, (RequestKey{0x4'0000'0005, 7}));

  OpContext idempotent = sample_context();
  idempotent.request = {};
  EXPECT_EQ(encode_note(sample_note(), idempotent, kTime), bytes_of(kV1WithoutRequest));
  const auto plain = JournalRecord::decode(bytes_of(kV1WithoutRequest));
  ASSERT_TRUE(plain) << describe(plain.error());
  expect_answer(*plain);
  EXPECT_FALSE(plain->request);
}

TEST(NoteTest, EveryCutOrLongerRecordIsRefused) {
  for (const std::string_view golden : {kV1, kV1WithoutRequest}) {
    const std::string whole = bytes_of(golden);
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(JournalRecord::decode(whole.substr(0, size))) << size;
    EXPECT_FALSE(JournalRecord::decode(whole + "x"));
    const std::string body = whole.substr(6);
    EXPECT_TRUE(JournalRecord::decode(encode_record(1, 1, body)));
    EXPECT_EQ(JournalRecord::decode(encode_record(1, 1, body + "x")).error().code, Errc::kCorrupt);
    EXPECT_EQ(JournalRecord::decode(encode_record(1, 1, body.substr(1))).error().code, Errc::kCorrupt);
  }
}

TEST(NoteTest, UnknownWordsAreRefused) {
  const std::string body = bytes_of(kV1WithoutRequest).substr(6);
  const auto changed = [&](std::size_t at, char value) {
    std::string other = body;
    other[at] = value;
    return JournalRecord::decode(encode_record(1, 1, other));
  };
  EXPECT_EQ(changed(0, 0).error().code, Errc::kCorrupt) << "no kind";
  EXPECT_EQ(changed(0, static_cast<char>(kLastChangeKind) + 1).error().code, Errc::kCorrupt)
      << "a kind that is not there yet";
  EXPECT_EQ(changed(1, 9).error().code, Errc::kCorrupt) << "no protocol";
  EXPECT_EQ(changed(body.size() - 5, 8).error().code, Errc::kCorrupt) << "no type";
  EXPECT_EQ(changed(body.size() - 4, 120).error().code, Errc::kCorrupt) << "no error";
  const std::string asked = bytes_of(kV1).substr(6);
  const auto with = [&](std::string tail) {
    return JournalRecord::decode(encode_record(1, 1, asked.substr(0, asked.size() - 17) + tail));
  };
  EXPECT_TRUE(with(asked.substr(asked.size() - 17)));
  EXPECT_EQ(with("\2" + asked.substr(asked.size() - 16)).error().code, Errc::kCorrupt)
      << "neither with a request nor without";
  EXPECT_EQ(with("\1" + std::string(16, '\0')).error().code, Errc::kCorrupt) << "the key of none";
}

TEST(NoteTest, WhatWasAppendedIsOfVersion2) {
  JournalNote note = sample_note();
  note.appended = Appended{.offset = 300, .length = 5};
  EXPECT_EQ(encode_note(note, sample_context(), kTime), bytes_of(kV2));
  const auto record = JournalRecord::decode(bytes_of(kV2));
  ASSERT_TRUE(record) << describe(record.error());
  expect_answer(*record);
  EXPECT_EQ(record->request, (RequestKey{0x4'0000'0005, 7}));
  EXPECT_EQ(record->appended, (Appended{.offset = 300, .length = 5}));
  EXPECT_FALSE(JournalRecord::decode(bytes_of(kV1))->appended);
  const std::string body = bytes_of(kV2).substr(6);
  for (std::size_t cut = 1; cut <= 3; ++cut)
    EXPECT_EQ(JournalRecord::decode(encode_record(2, 1, body.substr(0, body.size() - cut))).error().code,
              Errc::kCorrupt);
  EXPECT_EQ(JournalRecord::decode(encode_record(2, 1, body + "x")).error().code, Errc::kCorrupt);
}

TEST(NoteTest, ANewerVersionIsReadAsFarAsItAllows) {
  const std::string body = bytes_of(kV2).substr(6);
  const auto newer = JournalRecord::decode(encode_record(3, 1, body + "more"));
  ASSERT_TRUE(newer) << describe(newer.error());
  expect_sample(*newer);
  EXPECT_EQ(JournalRecord::decode(encode_record(3, 3, body)).error().code, Errc::kNotSupported);
}

TEST(NoteTest, OperationsHaveWords) {
  EXPECT_EQ(operation_word(ChangeKind::kCreate, FileType::kDirectory), "mkdir");
  EXPECT_EQ(operation_word(ChangeKind::kCreate, FileType::kSymlink), "symlink");
  EXPECT_EQ(operation_word(ChangeKind::kCreate, FileType::kFifo), "mknod");
  EXPECT_EQ(operation_word(ChangeKind::kCreate, {}), "create");
  EXPECT_EQ(operation_word(ChangeKind::kRemove, FileType::kDirectory), "rmdir");
  for (auto kind = static_cast<int>(ChangeKind::kCreate); kind <= static_cast<int>(kLastChangeKind); ++kind) {
    EXPECT_NE(operation_word(static_cast<ChangeKind>(kind), {}), "") << kind;
  }
}

}  // namespace
}  // namespace stoa::core
