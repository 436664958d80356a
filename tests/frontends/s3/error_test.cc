#include <gtest/gtest.h>

#include <set>

#include "frontends/s3/error.h"

namespace stoa::s3 {
namespace {

TEST(ErrorTest, EveryCodeHasAUniqueNameAMessageAndAStatus) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kCodes; ++i) {
    const CodeInfo& found = info(static_cast<Code>(i));
    EXPECT_TRUE(names.insert(found.name).second) << found.name;
    EXPECT_FALSE(found.message.empty()) << found.name;
    EXPECT_TRUE(found.status == 304 || (found.status >= 400 && found.status < 600)) << found.name;
  }
}

TEST(ErrorTest, EveryErrcHasAnAnswer) {
  for (std::uint16_t i = kErrcFirst; i <= kErrcLast; ++i) {
    const Errc code{i};
    for (const Missing missing : {Missing::kKey, Missing::kBucket, Missing::kUpload}) {
      const CodeInfo& found = info(to_code(code, missing));
      EXPECT_NE(found.status, 304) << to_string(code);
      // Only the server's own faults may look like them.
      const bool fault = code == Errc::kIo || code == Errc::kCorrupt;
      EXPECT_EQ(found.code == Code::kInternalError, fault) << to_string(code);
    }
  }
  EXPECT_EQ(to_code(Errc::kNotFound, Missing::kKey), Code::kNoSuchKey);
  EXPECT_EQ(to_code(Errc::kStale, Missing::kBucket), Code::kNoSuchBucket);
  EXPECT_EQ(to_code(Errc::kNotFound, Missing::kUpload), Code::kNoSuchUpload);
  EXPECT_EQ(info(to_code(Errc::kBusy)).status, 503);
  EXPECT_EQ(info(to_code(Errc::kQuota)).status, 403);
}

}  // namespace
}  // namespace stoa::s3
