#include "frontends/native/mount/process_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace stoa::native::mount {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ProcessStatus, GroupsAreReadFromTheirLineAlone) {
  EXPECT_THAT(parse_groups("Name:\tGroups: 1\nGid:\t5\nGroups:\t4 24 4294967295 \nNStgid:\t9\n"),
              ElementsAre(4u, 24u, 4294967295u));
  EXPECT_THAT(parse_groups("Groups:\t \n"), IsEmpty());
  EXPECT_THAT(parse_groups(""), IsEmpty());
  EXPECT_THAT(parse_groups("Groups:"), IsEmpty());
  EXPECT_THAT(parse_groups("Groups:\t99999999999 7"), ElementsAre(7u));
}

TEST(ProcessStatus, AProcessWithSigkillPendingIsKilled) {
  EXPECT_TRUE(parse_killed("SigPnd:\t0000000000000100\n"));
  EXPECT_FALSE(parse_killed("SigPnd:\t0000000000004000\nShdPnd:\t0000000000000100\n"));
  EXPECT_FALSE(parse_killed(""));
}

TEST(ProcessStatus, OwnGroupsAreFoundAndRememberedWithinABound) {
  ProcessGroups groups;
  std::vector<gid_t> own(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  if (!own.empty()) {
    ASSERT_GE(::getgroups(static_cast<int>(own.size()), own.data()), 0);
  }
  const auto pid = static_cast<std::uint32_t>(::getpid());
  EXPECT_EQ(groups.of(pid, 1, 1).size(), own.size());
  EXPECT_THAT(groups.of(0, 1, 1), IsEmpty());
  for (std::uint32_t uid = 0; uid < 2 * ProcessGroups::kEntriesMost; ++uid) groups.of(pid, uid, 0);
  EXPECT_LE(groups.size(), ProcessGroups::kEntriesMost);
  EXPECT_FALSE(is_dying(pid));
  EXPECT_TRUE(is_dying(0x7ffffff0));  // there is none
}

}  // namespace
}  // namespace stoa::native::mount
