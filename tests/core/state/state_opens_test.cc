#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class OpenTableTest : public TableTest {};

TEST_F(OpenTableTest, ShareDenyHoldsUntilClose) {
  const Client a = client();
  const auto first = open(a, kShareRead, kShareWrite);
  ASSERT_TRUE(first);
  EXPECT_EQ(code(open(a, kShareWrite)), Errc::kShareConflict);
  EXPECT_TRUE(open(a, kShareRead));
  table().close(*first);
  EXPECT_TRUE(open(a, kShareWrite));
}

TEST_F(OpenTableTest, AnOpenIsChangedOnlyWhenNobodyObjects) {
  const Client a = client();
  const Client b = client();
  const auto mine = open(a, kShareRead);
  const auto other = open(b, kShareRead, kShareWrite);
  ASSERT_TRUE(mine && other);
  EXPECT_EQ(code(table().change_open(*mine, kShareBoth, kShareNone)), Errc::kShareConflict);
  EXPECT_EQ(code(table().change_open(*mine, kShareRead, kShareRead)), Errc::kShareConflict);
  ASSERT_TRUE(table().change_open(*other, kShareRead, kShareNone));
  EXPECT_TRUE(table().change_open(*mine, kShareBoth, kShareNone));
  EXPECT_EQ(code(table().change_open(*other, kShareRead, kShareWrite)), Errc::kShareConflict);
  ASSERT_TRUE(table().change_open(*mine, kShareRead, kShareNone));
  EXPECT_TRUE(table().change_open(*other, kShareRead, kShareWrite));
}

// The checks of front ends that allow reads or writes without an open, or beyond its access.
TEST_F(OpenTableTest, WhatAnOpenDeniesHoldsForReadingAndWriting) {
  const Client a = client();
  const Client b = client();
  const auto denied = [&](OpenId through, std::uint32_t access, FileId file = kFile) {
    const Status may = table().check_denied(file, through, access);
    EXPECT_TRUE(may || may.error().code == Errc::kShareConflict);
    return !may;
  };
  const auto plain = open(a, kShareBoth);
  EXPECT_FALSE(denied(kNoOpen, kShareBoth));
  const auto denies = open(b, kShareRead);
  ASSERT_TRUE(plain && denies);
  table().close(*plain);
  ASSERT_TRUE(table().change_open(*denies, kShareRead, kShareWrite));
  EXPECT_TRUE(denied(kNoOpen, kShareWrite));
  EXPECT_TRUE(denied(kNoOpen, kShareBoth));
  EXPECT_FALSE(denied(kNoOpen, kShareRead));
  EXPECT_FALSE(denied(*denies, kShareWrite)) << "its own open does not stand against it";
  EXPECT_TRUE(denied(OpenId{12345}, kShareWrite));
  EXPECT_FALSE(denied(kNoOpen, kShareWrite, kOther));
  const auto other = open(b, kShareRead, kShareWrite, kOther);
  ASSERT_TRUE(other);
  EXPECT_TRUE(denied(*other, kShareWrite)) << "of another file";
  EXPECT_FALSE(denied(*other, kShareWrite, kOther));
  ASSERT_TRUE(table().change_open(*denies, kShareRead, kShareNone));
  EXPECT_FALSE(denied(kNoOpen, kShareWrite));
  table().remove_holder(b.id);
  EXPECT_FALSE(denied(kNoOpen, kShareWrite, kOther));
}

TEST_F(OpenTableTest, AnOpenOfTheAttributesHindersNothing) {
  const Client a = client();
  const Client b = client();
  const auto denies_all = open(a, kShareAll, kShareAll);
  const auto looks = open(b, kShareNone, kShareAll);
  ASSERT_TRUE(denies_all && looks);
  EXPECT_TRUE(table().is_open(kFile));
  table().close(*denies_all);
  EXPECT_TRUE(open(a, kShareAll, kShareAll));
  EXPECT_EQ(code(table().change_open(*looks, kShareRead, kShareNone)), Errc::kShareConflict);
}

TEST_F(OpenTableTest, WhatMayNotBeDeletedIsNotOpenedForIt) {
  const Client a = client();
  const Client b = client();
  const auto denies = open(a, kShareRead, kShareDelete);
  ASSERT_TRUE(denies);
  EXPECT_EQ(code(open(b, kShareDelete)), Errc::kShareConflict);
  EXPECT_TRUE(open(b, kShareBoth));
  table().close(*denies);
  ASSERT_TRUE(open(b, kShareDelete));
  EXPECT_EQ(code(open(a, kShareRead, kShareDelete)), Errc::kShareConflict);
}

TEST_F(OpenTableTest, NonsenseIsRefused) {
  const Client a = client();
  EXPECT_EQ(code(open(a, 8)), Errc::kInvalid);
  EXPECT_EQ(code(open(a, kShareRead, 8)), Errc::kInvalid);
  EXPECT_EQ(code(open(Client{HolderId{12345}, {}}, kShareRead)), Errc::kInvalid);
  EXPECT_EQ(code(open(Client{kNoHolder, {}}, kShareRead)), Errc::kInvalid);
  EXPECT_EQ(code(table().change_open(OpenId{99}, kShareRead, kShareNone)), Errc::kInvalid);
  table().close(OpenId{99});
  files_.gone.insert(kFile);
  EXPECT_EQ(code(open(a, kShareRead)), Errc::kStale);
  EXPECT_FALSE(table().holds_state(a.id));
}

TEST_F(OpenTableTest, AHolderTakesAllItHasAlong) {
  const Client a = client();
  const Client b = client();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const FileId file{1000 + i};
    ASSERT_TRUE(open(a, kShareBoth, kShareBoth, file));
    ASSERT_TRUE(table().lock(file, {a.id, "x"}, {}, true));
    ASSERT_TRUE(grant(table(), file, a.id, kWriteDelegation));
  }
  EXPECT_TRUE(table().holds_state(a.id));
  table().remove_holder(a.id);
  table().remove_holder(a.id);
  EXPECT_FALSE(table().holds_state(a.id));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const FileId file{1000 + i};
    ASSERT_TRUE(open(b, kShareBoth, kShareBoth, file));
    const auto locked = table().lock(file, {b.id, "x"}, {}, true);
    ASSERT_TRUE(locked && !*locked);
    ASSERT_TRUE(grant(table(), file, b.id, kWriteDelegation));
  }
  EXPECT_TRUE(a.recalled->empty());
  // A new holder in the same place is another one.
  const Client c = client();
  EXPECT_NE(c.id, a.id);
  EXPECT_EQ(code(open(a, kShareRead, kShareNone, kOther)), Errc::kInvalid);
}

TEST_F(OpenTableTest, StopsAtTheLimit) {
  options_.opens_max = 2;
  const Client a = client();
  const auto first = open(a, kShareRead);
  ASSERT_TRUE(first && open(a, kShareRead));
  EXPECT_EQ(code(open(a, kShareRead)), Errc::kBusy);
  table().close(*first);
  EXPECT_TRUE(open(a, kShareRead));
  EXPECT_NE(metrics_.render().find("stoa_opens 2"), std::string::npos);
}

TEST_F(OpenTableTest, OneHolderAndOnePeerHaveLessThanAll) {
  options_.of_holder = {.opens = 2, .locks = 2, .leases = 2};
  options_.of_peer = {.opens = 3, .locks = 3, .leases = 3};
  const Client a = client("near"), b = client("near"), far = client("far"), alone = client();
  std::uint64_t next = 1000;
  const auto fresh = [&] { return FileId{next++}; };
  const auto opens = [&](const Client& who) { return code(open(who, kShareRead, kShareNone, fresh())); };
  const auto locks = [&](const Client& who) { return code(table().lock(fresh(), {who.id, "o"}, {0, 1}, true)); };
  const auto leases = [&](const Client& who) {
    return grant(table(), fresh(), who.id, kReadDelegation) ? Errc{} : Errc::kBusy;
  };
  const auto check = [&](const std::function<Errc(const Client&)>& take) {
    EXPECT_EQ(take(a), Errc{});
    EXPECT_EQ(take(a), Errc{});
    EXPECT_EQ(take(a), Errc::kBusy);  // its own
    EXPECT_EQ(take(b), Errc{});
    EXPECT_EQ(take(b), Errc::kBusy);  // of both
    for (const Client& other : {far, alone}) {
      EXPECT_EQ(take(other), Errc{});
      EXPECT_EQ(take(other), Errc{});
      EXPECT_EQ(take(other), Errc::kBusy);
    }
  };
  check(opens);
  check(locks);
  check(leases);
  // A refused request has not been counted, and removed state is given back.
  table().remove_holder(a.id);
  EXPECT_EQ(opens(b), Errc{});
  EXPECT_EQ(locks(b), Errc{});
  EXPECT_EQ(leases(b), Errc{});
  const Client c = client("near");
  for (const auto& take : std::initializer_list<std::function<Errc(const Client&)>>{opens, locks, leases}) {
    EXPECT_EQ(take(c), Errc{});
    EXPECT_EQ(take(c), Errc::kBusy);
  }
}

TEST_F(OpenTableTest, AFileWithoutANameIsToldOfItsLastClose) {
  const Client a = client();
  EXPECT_FALSE(table().keeps(kFile));
  const auto first = open(a, kShareRead);
  const auto second = open(a, kShareRead);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(table().keeps(kFile));
  table().close(*first);
  EXPECT_TRUE(files_.closed.empty());
  table().close(*second);
  EXPECT_EQ(files_.closed, std::vector{kFile});
  EXPECT_FALSE(table().keeps(kFile));
  // One that had no name before it was opened.
  files_.orphan_files.insert(kOther);
  const auto adopted = open(a, kShareRead, kShareNone, kOther);
  ASSERT_TRUE(adopted);
  table().remove_holder(a.id);
  EXPECT_EQ(files_.closed, (std::vector{kFile, kOther}));
}

}  // namespace
}  // namespace stoa::core::test
