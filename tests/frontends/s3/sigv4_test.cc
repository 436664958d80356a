// The examples of "Authenticating Requests (AWS Signature Version 4)" in the Amazon S3 API reference, and every way in
// which a claim can be malformed.
#include <gtest/gtest.h>

#include "frontends/s3/auth/clock_skew.h"
#include "frontends/s3/auth/mechanism.h"
#include "frontends/s3/auth/sigv4.h"
#include "frontends/s3/http/date.h"

namespace stoa::s3 {
namespace {

constexpr std::string_view kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
constexpr std::string_view kEmptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::int64_t kThen = 1369353600;  // 20130524T000000Z

Request make(std::string method, std::string_view target, std::vector<Header> headers) {
  Request request;
  request.method = std::move(method);
  request.target = *parse_target(target);
  request.headers = std::move(headers);
  return request;
}

std::string authorization(std::string_view names, std::string_view signature) {
  return "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=" +
         std::string(names) + ",Signature=" + std::string(signature);
}

Outcome<Authorization> parse(const Request& request) {
  STOA_TRY(mechanism, mechanism_of(request));
  return parse_authorization(request, mechanism == Mechanism::kVersion4Query);
}

Outcome<void> verify(const Request& request, std::string_view hash) {
  STOA_TRY(claim, parse(request));
  STOA_CHECK_OK(check_time(claim, kThen));
  return check_signature(request, claim, hash, signing_key(kSecret, claim.scope));
}

TEST(SigV4Test, AcceptsTheDocumentedGetObject) {
  const std::string header = authorization("host;range;x-amz-content-sha256;x-amz-date",
                                           "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  const Request request = make("GET", "/test.txt",
                               {{"Host", "examplebucket.s3.amazonaws.com"},
                                {"Authorization", header},
                                {"Range", "bytes=0-9"},
                                {"x-amz-content-sha256", kEmptyHash},
                                {"x-amz-date", "20130524T000000Z"}});
  EXPECT_TRUE(verify(request, kEmptyHash));
}

TEST(SigV4Test, AcceptsTheDocumentedPutObjectWithDollarInItsKey) {
  constexpr std::string_view kHash = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
  const std::string header = authorization("date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                                           "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  const Request request = make("PUT", "/test$file.text",
                               {{"Host", "examplebucket.s3.amazonaws.com"},
                                {"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                                {"Authorization", header},
                                {"x-amz-date", "20130524T000000Z"},
                                {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                                {"x-amz-content-sha256", kHash}});
  EXPECT_TRUE(verify(request, kHash));
}

TEST(SigV4Test, AcceptsTheDocumentedQueriesWithAndWithoutValues) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"/?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
      {"/?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
      {"/?prefix=J&max-keys=2", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"}};
  for (const auto& [target, signature] : cases) {
    const std::string header = authorization("host;x-amz-content-sha256;x-amz-date", signature);
    const Request request = make("GET", target,
                                 {{"Host", "examplebucket.s3.amazonaws.com"},
                                  {"x-amz-date", "20130524T000000Z"},
                                  {"x-amz-content-sha256", kEmptyHash},
                                  {"Authorization", header}});
    EXPECT_TRUE(verify(request, kEmptyHash)) << target;
  }
}

constexpr std::string_view kPresigned =
    "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F"
    "aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";

TEST(SigV4Test, AcceptsTheDocumentedPresignedUrlUntilItExpires) {
  const Request request = make("GET", kPresigned, {{"Host", "examplebucket.s3.amazonaws.com"}});
  const auto claim = parse(request);
  ASSERT_TRUE(claim);
  EXPECT_TRUE(claim->presigned);
  EXPECT_TRUE(check_signature(request, *claim, "UNSIGNED-PAYLOAD", signing_key(kSecret, claim->scope)));
  EXPECT_TRUE(check_time(*claim, kThen + 86399));
  const auto late = check_time(*claim, kThen + 86400);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kAccessDenied);
  EXPECT_EQ(late.error().message, "Request has expired");
  EXPECT_EQ(check_time(*claim, kThen - 901).error().code, Code::kAccessDenied);
}

TEST(SigV4Test, RefusesAnythingThatWasChangedAfterSigning) {
  std::string header = authorization("host;range;x-amz-content-sha256;x-amz-date",
                                     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  const std::vector<Header> headers{{"Host", "examplebucket.s3.amazonaws.com"},
                                    {"Authorization", header},
                                    {"Range", "bytes=0-9"},
                                    {"x-amz-content-sha256", kEmptyHash},
                                    {"x-amz-date", "20130524T000000Z"}};
  const auto code_of = [&](const Request& request) { return verify(request, kEmptyHash).error().code; };
  EXPECT_EQ(code_of(make("PUT", "/test.txt", headers)), Code::kSignatureDoesNotMatch);
  EXPECT_EQ(code_of(make("GET", "/test.tx", headers)), Code::kSignatureDoesNotMatch);
  EXPECT_EQ(code_of(make("GET", "/test.txt?acl", headers)), Code::kSignatureDoesNotMatch);
  auto changed = headers;
  changed[2].value = "bytes=0-8";
  EXPECT_EQ(code_of(make("GET", "/test.txt", changed)), Code::kSignatureDoesNotMatch);
  auto added = headers;
  added.push_back({"x-amz-acl", "private"});
  EXPECT_EQ(code_of(make("GET", "/test.txt", added)), Code::kAccessDenied);
  auto short_signature = headers;
  const std::string cut = header.substr(0, header.size() - 1);
  short_signature[1].value = cut;
  EXPECT_EQ(code_of(make("GET", "/test.txt", short_signature)), Code::kSignatureDoesNotMatch);
}

TEST(SigV4Test, RefusesClocksThatAreTooFarApart) {
  Authorization claim{.scope = {"AKID", "20130524", "us-east-1"}, .date_time = "20130524T000000Z", .seconds = kThen};
  EXPECT_TRUE(check_time(claim, kThen + 900));
  EXPECT_TRUE(check_time(claim, kThen - 900));
  EXPECT_EQ(check_time(claim, kThen + 901).error().code, Code::kRequestTimeTooSkewed);
  EXPECT_EQ(check_time(claim, kThen - 901).error().code, Code::kRequestTimeTooSkewed);
  claim.scope.date = "20130523";
  EXPECT_EQ(check_time(claim, kThen).error().code, Code::kAuthorizationHeaderMalformed);
  EXPECT_EQ(check_time(claim, kThen + 901).error().code, Code::kRequestTimeTooSkewed);
}

TEST(SigV4Test, NamesTheMistakeOfAMalformedHeader) {
  const std::vector<std::pair<std::string, Code>> cases{
      {"", Code::kAccessDenied},
      {"Basic dXNlcjpwYXNz", Code::kInvalidArgument},
      {"AWS4-HMAC-SHA256", Code::kInvalidArgument},
      {"AWS4-HMAC-SHA256 Credential=a", Code::kAuthorizationHeaderMalformed},
      {"AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/s3/aws4_request,SignedHeaders=host",
       Code::kAuthorizationHeaderMalformed},
      {"AWS4-HMAC-SHA256 Credential=a/2013/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=0",
       Code::kAuthorizationHeaderMalformed},
      {"AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/ec2/aws4_request,SignedHeaders=host,Signature=0",
       Code::kAuthorizationHeaderMalformed},
      {"AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/s3/aws3,SignedHeaders=host,Signature=0",
       Code::kAuthorizationHeaderMalformed},
      {"AWS4-HMAC-SHA256 Credential=a/20130524//s3/aws4_request,SignedHeaders=host,Signature=0",
       Code::kAuthorizationHeaderMalformed},
      {"AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/s3/aws4_request,SignedHeaders=,Signature=0",
       Code::kAuthorizationHeaderMalformed},
      {"AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=",
       Code::kAuthorizationHeaderMalformed},
      {"AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=0,Extra=1",
       Code::kAuthorizationHeaderMalformed}};
  for (const auto& [header, code] : cases) {
    const Request request =
        make("GET", "/b/k", {{"Host", "h"}, {"Authorization", header}, {"x-amz-date", "20130524T000000Z"}});
    const auto claim = parse(request);
    ASSERT_FALSE(claim) << header;
    EXPECT_EQ(claim.error().code, code) << header;
  }
}

TEST(SigV4Test, NeedsADate) {
  const std::string header = authorization("host", std::string(64, '0'));
  for (const char* date : {"", "yesterday", "2013-05-24"}) {
    const Request request = make("GET", "/b/k", {{"Host", "h"}, {"Authorization", header}, {"x-amz-date", date}});
    const auto claim = parse(request);
    ASSERT_FALSE(claim) << date;
    EXPECT_EQ(claim.error().code, Code::kAccessDenied);
  }
  const Request dated =
      make("GET", "/b/k", {{"Host", "h"}, {"Authorization", header}, {"Date", "Fri, 24 May 2013 00:00:00 GMT"}});
  const auto claim = parse(dated);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->date_time, "20130524T000000Z");
}

TEST(SigV4Test, NamesTheMistakeOfAMalformedQuery) {
  const auto replaced = [](std::string_view from, std::string_view to) {
    std::string target(kPresigned);
    target.replace(target.find(from), from.size(), to);
    return target;
  };
  for (const std::string& target :
       {replaced("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1"), replaced("X-Amz-Expires=86400", "X-Amz-Expires=604801"),
        replaced("X-Amz-Expires=86400", "X-Amz-Expires=-1"), replaced("X-Amz-Expires=86400", "X-Amz-Expires=soon"),
        replaced("X-Amz-Expires=86400&", ""), replaced("X-Amz-Date=20130524T000000Z", "X-Amz-Date=now"),
        replaced("%2Fs3%2F", "%2Fec2%2F")}) {
    const auto claim = parse(make("GET", target, {{"Host", "h"}}));
    ASSERT_FALSE(claim) << target;
    EXPECT_EQ(claim.error().code, Code::kAuthorizationQueryParametersError) << target;
  }
}

TEST(SigV4Test, AnotherRegionIsToldWhichOneToSignFor) {
  Authorization claim{.scope = {"AKID", "20130524", "eu-west-1"}};
  EXPECT_TRUE(check_region(claim, "eu-west-1"));
  for (const bool presigned : {false, true}) {
    claim.presigned = presigned;
    const auto wrong = check_region(claim, "us-east-1");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code,
              presigned ? Code::kAuthorizationQueryParametersError : Code::kAuthorizationHeaderMalformed);
    EXPECT_TRUE(wrong.error().message.ends_with("the region 'eu-west-1' is wrong; expecting 'us-east-1'"))
        << wrong.error().message;
    EXPECT_EQ(wrong.error().details.front(), std::make_pair(std::string("Region"), std::string("us-east-1")));
  }
}

TEST(SigV4Test, SortsQueriesByNameBeforeValue) {
  const Request request = make("GET", "/b?a-b=1&a=2&a=1&A=%20+x", {{"host", "h"}});
  const Authorization claim{.signed_headers = {"host"}};
  EXPECT_NE(canonical_request(request, claim, "H").find("\nA=%20%20x&a=1&a=2&a-b=1\n"), std::string::npos);
}

}  // namespace
}  // namespace stoa::s3
