// Ranges and counts at which arithmetic goes wrong. The answer is RFC 9110's or AWS's; a refused request has
// changed nothing.
#include "tests/frontends/s3/protocol_fixture.h"

namespace stoa::s3::test {
namespace {

constexpr const char* kNumbers[] = {"0",
                                    "1",
                                    "3",
                                    "9",
                                    "10",
                                    "11",
                                    "4095",
                                    "4096",
                                    "69999",
                                    "70000",
                                    "70001",
                                    "2147483647",
                                    "2147483648",
                                    "4294967295",
                                    "4294967296",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "18446744073709551614",
                                    "18446744073709551615",
                                    "18446744073709551616",
                                    "99999999999999999999999"};

// As a mathematician reads it, but not beyond 2^64-1, where no object reaches.
std::uint64_t value_of(const char* text) {
  const std::string_view digits = text;
  return digits.size() > 20 || (digits.size() == 20 && digits > "18446744073709551615") ? UINT64_MAX
                                                                                        : std::stoull(text);
}

class S3Awkward : public MemoryProtocolTest {
 protected:
  void SetUp() override {
    MemoryProtocolTest::SetUp();
    for (std::size_t i = 0; i < 70'000; ++i) content_ += static_cast<char>('a' + i * 7 % 26);
    ASSERT_TRUE(client_->put("object", content_).ok());
  }
  std::string content_;
};

TEST_F(S3Awkward, ARangeGivesWhatIsThereAndNoMore) {
  const auto check = [&](const std::string& range, std::uint64_t first, std::uint64_t last) {
    const auto reply = client_->get("object", {{"Range", "bytes=" + range}});
    if (first >= content_.size()) {
      EXPECT_EQ(reply.status, 416) << range;
      EXPECT_EQ(reply.headers.at("content-range"), "bytes */70000");
      return;
    }
    last = std::min<std::uint64_t>(last, content_.size() - 1);
    EXPECT_EQ(reply.status, 206) << range;
    EXPECT_TRUE(reply.body == content_.substr(first, last - first + 1)) << range;
    EXPECT_EQ(reply.headers.at("content-range"),
              "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/70000");
  };
  for (const char* first : kNumbers) {
    const std::uint64_t from = value_of(first);
    check(std::string(first) + "-", from, UINT64_MAX);
    const std::uint64_t suffix = std::min<std::uint64_t>(from, content_.size());
    check("-" + std::string(first), suffix == 0 ? UINT64_MAX : content_.size() - suffix, UINT64_MAX);
    for (const char* last : kNumbers) {
      if (value_of(last) >= from) check(std::string(first) + "-" + last, from, value_of(last));
    }
  }
}

TEST_F(S3Awkward, ACopyOfARangeThatIsNotThereIsRefusedAndMakesNoPart) {
  const std::string upload = client_->create_multipart("joined").element("UploadId");
  const auto copy = [&](const std::string& range, const std::string& number) {
    return client_->request("PUT", "joined", {{"partNumber", number}, {"uploadId", upload}}, "",
                            {{"x-amz-copy-source", "/bucket/object"}, {"x-amz-copy-source-range", "bytes=" + range}});
  };
  for (const char* first : kNumbers) {
    for (const char* last : kNumbers) {
      if (value_of(last) < value_of(first) || value_of(last) < content_.size()) continue;
      EXPECT_EQ(copy(std::string(first) + "-" + last, "1").status, 416) << first << '-' << last;
    }
  }
  for (const char* number : {"0", "-1", "10001", "2147483648", "4294967297", "18446744073709551617", "1x"}) {
    EXPECT_EQ(copy("0-9", number).status, 400) << number;
  }
  const auto parts = client_->request("GET", "joined", {{"uploadId", upload}}, "");
  EXPECT_TRUE(parts.elements("PartNumber").empty());
  ASSERT_TRUE(copy("69999-69999", "10000").ok());
  ASSERT_TRUE(client_->request("DELETE", "joined", {{"uploadId", upload}}, "").ok());
}

TEST_F(S3Awkward, AListingIsNeverLongerThanWasAskedFor) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client_->put("key" + std::to_string(i), "x").ok());
  for (const char* count : kNumbers) {
    const auto reply = client_->request("GET", "", {{"list-type", "2"}, {"max-keys", count}}, "");
    if (value_of(count) > INT32_MAX) {
      EXPECT_EQ(reply.status, 400) << count;
      EXPECT_EQ(reply.element("Code"), "InvalidArgument");
      continue;
    }
    EXPECT_EQ(reply.status, 200) << count;
    EXPECT_EQ(reply.elements("Key").size(), std::min<std::uint64_t>(value_of(count), 6)) << count;
  }
  EXPECT_EQ(client_->request("GET", "", {{"list-type", "2"}, {"max-keys", "-1"}}, "").status, 400);
}

}  // namespace
}  // namespace stoa::s3::test
