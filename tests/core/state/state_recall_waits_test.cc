// Requests that wait for the recalls of a file are woken by their answers, and by those of no other file.
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class RecallWaitsTest : public TableTest {
 protected:
  Errc change(const Client& who, FileId file) {
    const Touched files[] = {{.file = file}};
    const Status may = table().before_mutate(who.ctx(), files);
    table().send_recalls();
    if (!may) {
      EXPECT_EQ(FileId{may.error().subject}, file);
    }
    return code(may);
  }
  std::optional<RecallWait> wait(FileId file, int& woken) {
    const auto waits = table().when_clear(file, [&woken] { ++woken; });
    EXPECT_TRUE(waits);
    return *waits;
  }
};

TEST_F(RecallWaitsTest, EndWithTheAnswer) {
  const Client a = client();
  const Client b = client();
  const auto lease = grant(table(), kFile, a.id, kAll);
  const auto other = grant(table(), kOther, a.id, kAll);
  ASSERT_TRUE(lease && other);
  int one = 0, two = 0, of_other = 0;
  EXPECT_FALSE(wait(kFile, one)) << "nothing is recalled";
  EXPECT_EQ(change(b, kFile), Errc::kRecallPending);
  EXPECT_EQ(change(b, kOther), Errc::kRecallPending);
  const auto waits = wait(kFile, one);
  ASSERT_TRUE(waits && wait(kFile, two) && wait(kOther, of_other));
  EXPECT_EQ(waits->lapses, now_ + options_.lease_recall_timeout);
  table().return_lease(*lease);
  EXPECT_EQ(one, 1);
  EXPECT_EQ(two, 1);
  EXPECT_EQ(of_other, 0);
  EXPECT_EQ(change(b, kFile), Errc{});
  EXPECT_FALSE(wait(kFile, one));
  table().remove_holder(a.id);
  EXPECT_EQ(of_other, 1);
  EXPECT_EQ(one, 1);
}

TEST_F(RecallWaitsTest, EndWithTheLastOfSeveralAnswers) {
  const Client a = client();
  const Client b = client();
  const Client c = client();
  const auto one = grant(table(), kFile, a.id, kReads);
  const auto two = grant(table(), kFile, b.id, kReads);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(change(c, kFile), Errc::kRecallPending);
  int woken = 0;
  ASSERT_TRUE(wait(kFile, woken));
  table().return_lease(*one);
  EXPECT_EQ(woken, 0);
  table().return_lease(*two);
  EXPECT_EQ(woken, 1);
}

TEST_F(RecallWaitsTest, EndWithBitsThatAreGivenUp) {
  const Client a = client();
  const Client b = client();
  const auto lease = grant(table(), kFile, a.id, kAll);
  ASSERT_TRUE(lease);
  EXPECT_EQ(code(table().before_read(b.ctx(), kFile)), Errc::kRecallPending);
  int woken = 0;
  ASSERT_TRUE(wait(kFile, woken));
  ASSERT_TRUE(table().acknowledge(*lease, kReadCaching));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(code(table().before_read(b.ctx(), kFile)), Errc{});
}

// No timer runs: the request that meets the lapsed lease goes on, and wakes the others.
TEST_F(RecallWaitsTest, EndWhenALapseIsNoticed) {
  const Client a = client();
  const Client b = client();
  ASSERT_TRUE(grant(table(), kFile, a.id, kAll));
  EXPECT_EQ(change(b, kFile), Errc::kRecallPending);
  int woken = 0;
  ASSERT_TRUE(wait(kFile, woken));
  now_ += options_.lease_recall_timeout;
  EXPECT_EQ(woken, 0);
  int late = 0;
  EXPECT_FALSE(wait(kFile, late)) << "it is in the way no more";
  EXPECT_EQ(change(b, kFile), Errc{});
  EXPECT_EQ(woken, 1);
}

TEST_F(RecallWaitsTest, MayBeGivenUp) {
  const Client a = client();
  const Client b = client();
  const auto lease = grant(table(), kFile, a.id, kAll);
  ASSERT_TRUE(lease);
  EXPECT_EQ(change(b, kFile), Errc::kRecallPending);
  int gone = 0, stays = 0;
  const auto first = wait(kFile, gone);
  ASSERT_TRUE(first && wait(kFile, stays));
  table().stop_waiting(*first);
  table().stop_waiting(*first);
  table().return_lease(*lease);
  EXPECT_EQ(gone, 0);
  EXPECT_EQ(stays, 1);
  table().stop_waiting(*first);
}

TEST_F(RecallWaitsTest, MayAskAgainFromTheCall) {
  const Client a = client();
  const Client b = client();
  const auto lease = grant(table(), kFile, a.id, kAll);
  ASSERT_TRUE(lease);
  EXPECT_EQ(change(b, kFile), Errc::kRecallPending);
  Errc again = Errc::kRecallPending;
  const auto waits = table().when_clear(kFile, [&] { again = change(b, kFile); });
  ASSERT_TRUE(waits && *waits);
  table().return_lease(*lease);
  EXPECT_EQ(again, Errc{});
}

}  // namespace
}  // namespace stoa::core::test
