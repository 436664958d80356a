#include "appliance/cli/remedies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "appliance/cli/terminal_error.h"

namespace stoa::cli {
namespace {

// Their sentences say what to do.
constexpr Cause kSayItAll[] = {
    Cause::kNameUnknown,
    Cause::kNameOrNumberUnknown,
    Cause::kExportNameLength,
    Cause::kExportNameCharacters,
    Cause::kBucketNameLength,
    Cause::kBucketNameCharacters,
    Cause::kBucketNameForm,
    Cause::kBucketNameReserved,
    Cause::kAccountNameLength,
    Cause::kAccountNameCharacters,
    Cause::kPrincipalForm,
    Cause::kAccessKeyForm,
    Cause::kSecretKeyForm,
    Cause::kAccessKeyTwice,
    Cause::kTooManyGroups,
    Cause::kTooManyKeys,
    Cause::kTooManyClientRules,
    Cause::kFlavorTwice,
    Cause::kSidForm,
    Cause::kNetworkForm,
    Cause::kNetworkPrefix,
    Cause::kNetworkBits,
    Cause::kTokenNameReserved,
    Cause::kTokenDirectory,
    Cause::kTokenExpiresBefore,
    Cause::kRateRange,
    Cause::kGuaranteeAboveLimit,
    Cause::kBurstRange,
    Cause::kWeightRange,
    Cause::kRecycleDays,
    Cause::kItemForm,
    Cause::kAclLineForm,
    Cause::kAclLineTwice,
    Cause::kAclListFlag,
    Cause::kAclPolicy,
    Cause::kAclEntries,
    Cause::kAclType,
    Cause::kAclEntryFlag,
    Cause::kAclRight,
    Cause::kAclWho,
    Cause::kTooDeep,
    Cause::kTooManyRequests,
    Cause::kTooManyWrongTokens,
    Cause::kBodyNotJson,
    Cause::kBodyNotObject,
    Cause::kMemberTwice,
    Cause::kMemberMissing,
    Cause::kMemberForm,
    Cause::kParameterMissing,
    Cause::kParameterForm,
    Cause::kParameterChoice,
    Cause::kTargetForm,
    Cause::kPathDots,
    Cause::kProtocolUnknown,
    Cause::kFlavorUnknown,
    Cause::kKeyHalf,
    Cause::kNoAuditLog,
    Cause::kAuditDayForm,
    Cause::kNoWatch,
};

TEST(RemediesTest, EachCauseHasARemedyWhereItsSentenceDoesNotSayItAll) {
  for (std::uint16_t number = 1; number <= cause_count(); ++number) {
    const auto cause = static_cast<Cause>(number);
    const std::string text(remedy({.code = code_of(cause), .cause = cause}));
    const bool says_it_all = std::ranges::find(kSayItAll, cause) != std::end(kSayItAll);
    EXPECT_EQ(text.empty(), says_it_all) << to_string(cause);
    EXPECT_FALSE(text.ends_with('.')) << text;
    EXPECT_EQ(text.find('{'), std::string::npos) << text;
  }
}

TEST(RemediesTest, ATerminalIsToldTheSentenceOrElseTheDetail) {
  EXPECT_EQ(terminal_text(fail(Cause::kNameTaken, "user", "ann").error()), "user 'ann' exists already");
  EXPECT_EQ(terminal_text({.code = Errc::kIo, .detail = "what the server said", .cause = Cause::kMetadataFailed}),
            "what the server said");
  EXPECT_EQ(terminal_text(fail(Errc::kBusy).error()), "busy");
  EXPECT_EQ(terminal_text(fail_errno(ENOENT, "open /x").error()), "not_found: open /x (No such file or directory)");
}

TEST(RemediesTest, EachProblemOfTheServerHasARemedy) {
  for (const char* kind :
       {"metadata_failed", "metadata_stalled", "metadata_full", "blob_directory", "damage", "kept_content"})
    EXPECT_NE(problem_remedy(kind), "") << kind;
  EXPECT_EQ(problem_remedy("of_a_newer_server"), "");
}

}  // namespace
}  // namespace stoa::cli
