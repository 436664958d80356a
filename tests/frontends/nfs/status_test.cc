#include "frontends/nfs/v3/status.h"

#include <gtest/gtest.h>

#include <set>

namespace stoa::nfs3 {
namespace {

TEST(NfsStatus, EveryErrorOfTheCoreHasAWordOfTheProtocol) {
  // RFC 1813 2.6.
  const std::set<std::uint32_t> known{1,  2,  5,  6,  13, 17, 18,    19,    20,    21,    22,    27,    28,    30,
                                      31, 63, 66, 69, 70, 71, 10001, 10002, 10003, 10004, 10005, 10006, 10007, 10008};
  for (std::uint16_t code = kErrcFirst; code <= kErrcLast; ++code) {
    const auto errc = static_cast<Errc>(code);
    EXPECT_TRUE(known.contains(static_cast<std::uint32_t>(to_nfs_status(errc)))) << to_string(errc);
  }
}

TEST(NfsStatus, OnlyWhatNoCallAsksForIsAServerFault) {
  const std::set<Errc> faults{Errc::kPreconditionFailed, Errc::kNoAttribute, Errc::kNoMoreData, Errc::kDeadlock};
  for (std::uint16_t code = kErrcFirst; code <= kErrcLast; ++code) {
    const auto errc = static_cast<Errc>(code);
    EXPECT_EQ(to_nfs_status(errc) == NfsStatus::kServerFault, faults.contains(errc)) << to_string(errc);
  }
}

TEST(NfsStatus, BusyMeansTryAgain) {
  EXPECT_EQ(to_nfs_status(Errc::kBusy), NfsStatus::kJukebox);
  EXPECT_EQ(to_nfs_status(Errc::kRecallPending), NfsStatus::kJukebox);
  EXPECT_EQ(to_nfs_status(Errc::kShutdown), NfsStatus::kJukebox);
}

}  // namespace
}  // namespace stoa::nfs3
