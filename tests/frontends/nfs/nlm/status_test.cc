#include "frontends/nfs/nlm/status.h"

#include <gtest/gtest.h>

namespace stoa::nlm {
namespace {

TEST(NlmStatuses, EveryErrorOfTheCoreIsARefusal) {
  for (std::uint16_t code = kErrcFirst; code <= kErrcLast; ++code) {
    const NlmStatus status = to_nlm_status(static_cast<Errc>(code));
    EXPECT_NE(status, NlmStatus::kGranted);
    EXPECT_NE(status, NlmStatus::kBlocked);
    EXPECT_LE(status, NlmStatus::kFailed);
  }
}

TEST(NlmStatuses, LaterIsSaidAsInTheGracePeriod) {
  EXPECT_EQ(to_nlm_status(Errc::kRecallPending), NlmStatus::kDeniedGracePeriod);
  EXPECT_EQ(to_nlm_status(Errc::kDeadlock), NlmStatus::kDeadlock);
  EXPECT_EQ(to_nlm_status(Errc::kBusy), NlmStatus::kDeniedNoLocks);
}

}  // namespace
}  // namespace stoa::nlm
