// Targets, ranges, dates and conditions.
#include <gtest/gtest.h>

#include "frontends/s3/http/conditions.h"
#include "frontends/s3/http/date.h"
#include "frontends/s3/http/range.h"
#include "frontends/s3/http/uri.h"

namespace stoa::s3 {
namespace {

TEST(RequestTest, AHeadThatCanBeReadInTwoWaysIsDoubtful) {
  const auto doubtful = [](std::vector<Header> headers) {
    Request request;
    request.headers = std::move(headers);
    return head_is_doubtful(request);
  };
  EXPECT_FALSE(doubtful({{"Host", "h"}, {"Content-Length", "5"}, {"x-amz-meta-a_b.c~", ""}}));
  EXPECT_FALSE(doubtful({{"Host", "h"}, {"Transfer-Encoding", "Chunked"}}));
  EXPECT_TRUE(doubtful({{"Host", "h"}, {"host", "h"}}));
  EXPECT_TRUE(doubtful({{"Content-Length", "5"}, {"content-length", "5"}}));
  EXPECT_TRUE(doubtful({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}));
  for (const char* length : {"", "+5", "-1", "5,5", "0x5"})
    EXPECT_TRUE(doubtful({{"Content-Length", length}})) << length;
  for (const char* coding : {"", "gzip", "chunked, chunked", "identity"})
    EXPECT_TRUE(doubtful({{"Transfer-Encoding", coding}})) << coding;
  for (const char* name : {"", "Content-Length ", "Transfer-Encoding\t", "a b", "a:b", "a\x01", "\xc3\xbc"})
    EXPECT_TRUE(doubtful({{name, "5"}})) << name;
}

TEST(TargetTest, KeepsThePathAsItIs) {
  EXPECT_EQ(parse_target("/b//a/./../%2e%2e/")->path, "/b//a/./../../");
  EXPECT_EQ(parse_target("/b/a+b%2Bc%20d")->path, "/b/a+b+c d");
  EXPECT_EQ(parse_target("http://h:1/b/k?x")->path, "/b/k");
  EXPECT_EQ(parse_target("http://h")->path, "/");
  EXPECT_EQ(parse_target("/%ff%FE")->path, "/\xff\xfe");
}

TEST(TargetTest, RefusesWhatCannotBeDecoded) {
  for (const char* bad : {"", "b", "/%", "/%1", "/%zz", "/a%00b", "/?%", "/?a=%g0", "*"})
    EXPECT_FALSE(parse_target(bad)) << bad;
  std::string many = "/?";
  for (std::size_t i = 0; i <= kQueryParametersMax; ++i) many += "a&";
  EXPECT_FALSE(parse_target(many));
}

TEST(TargetTest, ReadsQueriesWithAndWithoutValues) {
  const auto target = parse_target("/b?uploads&prefix=a%2Fb+c&empty=&&x=1=2");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->query.size(), 4u);
  EXPECT_FALSE(target->find("uploads")->has_value);
  EXPECT_EQ(target->value("prefix"), "a/b c");
  EXPECT_EQ(target->value("empty"), "");
  EXPECT_EQ(target->value("x"), "1=2");
  EXPECT_FALSE(target->value("missing"));
}

TEST(UriTest, EncodesAllButUnreserved) {
  EXPECT_EQ(uri_encode("a-b_c.d~e/f g+h%\xff", true), "a-b_c.d~e/f%20g%2Bh%25%FF");
  EXPECT_EQ(uri_encode("/", false), "%2F");
}

TEST(RangeTest, FollowsRfc9110) {
  const auto range = [](std::string_view header, std::uint64_t size) {
    const auto parsed = parse_range(header, size);
    if (!parsed) return std::string("416");
    if (!*parsed) return std::string("all");
    return std::to_string((*parsed)->offset) + "+" + std::to_string((*parsed)->length);
  };
  EXPECT_EQ(range("bytes=0-0", 10), "0+1");
  EXPECT_EQ(range("bytes=4-", 10), "4+6");
  EXPECT_EQ(range("bytes=4-100", 10), "4+6");
  EXPECT_EQ(range("bytes=-3", 10), "7+3");
  EXPECT_EQ(range("bytes=-30", 10), "0+10");
  EXPECT_EQ(range("bytes=9-9", 10), "9+1");
  EXPECT_EQ(range("bytes=10-", 10), "416");
  EXPECT_EQ(range("bytes=-0", 10), "416");
  EXPECT_EQ(range("bytes=0-", 0), "416");
  EXPECT_EQ(range("bytes=-1", 0), "416");
  // "MUST anticipate potentially large decimal numerals" (14.1.2).
  EXPECT_EQ(range("bytes=99999999999999999999-", 10), "416");
  EXPECT_EQ(range("bytes=99999999999999999999-99999999999999999999", 10), "416");
  EXPECT_EQ(range("bytes=3-99999999999999999999", 10), "3+7");
  EXPECT_EQ(range("bytes=-99999999999999999999", 10), "0+10");
  EXPECT_EQ(range("bytes=0-18446744073709551615", 10), "0+10");
  for (const char* ignored : {"bytes=5-4", "bytes=a-b", "bytes=", "bytes=-", "lines=1-2", "bytes=0-1,3-4", "bytes=--1",
                              "bytes=99999999999999999999a-", "bytes 0-1"})
    EXPECT_EQ(range(ignored, 10), "all") << ignored;
}

TEST(RangeTest, TheRangeOfACopyIsStrict) {
  EXPECT_EQ(parse_copy_range("bytes=2-4", 10)->length, 3u);
  for (const char* bad : {"bytes=-3", "bytes=3-", "bytes=4-3", "2-4", "bytes=a-b", "bytes=0-1,2-3"})
    EXPECT_EQ(parse_copy_range(bad, 10).error().code, Code::kInvalidArgument) << bad;
  EXPECT_EQ(parse_copy_range("bytes=0-10", 10).error().code, Code::kInvalidRange);
  EXPECT_EQ(parse_copy_range("bytes=0-99999999999999999999", 10).error().code, Code::kInvalidRange);
  EXPECT_EQ(parse_copy_range("bytes=0-18446744073709551615", 10).error().code, Code::kInvalidRange);
}

TEST(DateTest, ReadsTheThreeFormsOfHttpAndIso) {
  constexpr std::int64_t kTime = 784111777;  // RFC 9110 5.6.7
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), kTime);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), kTime);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), kTime);
  EXPECT_EQ(parse_http_date("1994-11-06T08:49:37.123Z"), kTime);
  EXPECT_EQ(http_date(Timestamp::from(kTime, 5)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(iso_date(Timestamp::from(kTime, 120'000'000)), "1994-11-06T08:49:37.120Z");
  EXPECT_EQ(parse_amz_date(amz_date(kTime)), kTime);
  for (const char* bad : {"", "Sun", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "19941106T084937Z ",
                          "Sun, 06 Nov 1994 25:49:37 GMT"})
    EXPECT_FALSE(parse_http_date(bad)) << bad;
}

Request with(std::vector<Header> headers) {
  Request request;
  request.headers = std::move(headers);
  return request;
}

TEST(ConditionsTest, ReadsFollowThePrecedenceOfRfc9110) {
  const Timestamp modified = Timestamp::from(784111777, 0);
  const auto code = [&](std::vector<Header> headers) {
    const Request request = with(std::move(headers));
    const auto checked = check_read(read_conditions(request), "abc", modified);
    return checked ? 200 : info(checked.error().code).status;
  };
  constexpr const char* kBefore = "Sun, 06 Nov 1994 08:49:36 GMT";
  constexpr const char* kThen = "Sun, 06 Nov 1994 08:49:37 GMT";
  EXPECT_EQ(code({}), 200);
  EXPECT_EQ(code({{"If-Match", "\"abc\""}}), 200);
  EXPECT_EQ(code({{"If-Match", "abc"}}), 200);
  EXPECT_EQ(code({{"If-Match", "\"x\", \"abc\""}}), 200);
  EXPECT_EQ(code({{"If-Match", "*"}}), 200);
  EXPECT_EQ(code({{"If-Match", "\"x\""}}), 412);
  EXPECT_EQ(code({{"If-None-Match", "\"abc\""}}), 304);
  EXPECT_EQ(code({{"If-None-Match", "W/\"abc\""}}), 304);
  EXPECT_EQ(code({{"If-None-Match", "*"}}), 304);
  EXPECT_EQ(code({{"If-None-Match", "\"x\""}}), 200);
  EXPECT_EQ(code({{"If-Modified-Since", kThen}}), 304);
  EXPECT_EQ(code({{"If-Modified-Since", kBefore}}), 200);
  EXPECT_EQ(code({{"If-Unmodified-Since", kThen}}), 200);
  EXPECT_EQ(code({{"If-Unmodified-Since", kBefore}}), 412);
  EXPECT_EQ(code({{"If-Modified-Since", "whenever"}}), 200);
  // An entity tag outweighs a date.
  EXPECT_EQ(code({{"If-Match", "\"abc\""}, {"If-Unmodified-Since", kBefore}}), 200);
  EXPECT_EQ(code({{"If-None-Match", "\"x\""}, {"If-Modified-Since", kThen}}), 200);
  EXPECT_EQ(code({{"If-None-Match", "\"abc\""}, {"If-Modified-Since", kBefore}}), 304);
}

TEST(ConditionsTest, OnTheSourceOfACopyEverythingIsAPrecondition) {
  const Timestamp modified = Timestamp::from(784111777, 0);
  const Request request = with({{"x-amz-copy-source-if-none-match", "\"abc\""}});
  EXPECT_EQ(check_copy_source(read_conditions(request, "x-amz-copy-source-"), "abc", modified).error().code,
            Code::kPreconditionFailed);
  EXPECT_TRUE(check_copy_source(read_conditions(request, "x-amz-copy-source-"), "abd", modified));
}

}  // namespace
}  // namespace stoa::s3
