// The examples of "Signing and authenticating REST requests" in the Amazon S3 developer guide, and malformed
// claims.
#include <gtest/gtest.h>

#include "frontends/s3/auth/mechanism.h"
#include "frontends/s3/auth/sigv2.h"

namespace stoa::s3 {
namespace {

constexpr std::string_view kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
constexpr std::int64_t kThen = 1175139620;

Request make(std::string method, std::string_view target, std::vector<Header> headers) {
  Request request;
  request.method = std::move(method);
  request.raw_target = target;
  request.target = *parse_target(target);
  request.headers = std::move(headers);
  return request;
}

Outcome<void> verify(const Request& request, std::string_view host_bucket) {
  STOA_TRY(mechanism, mechanism_of(request));
  STOA_TRY(claim, parse_authorization_v2(request, mechanism == Mechanism::kVersion2Query));
  return check_signature(request, claim, host_bucket, kSecret);
}

TEST(SigV2Test, AcceptsTheDocumentedHeaders) {
  struct Example {
    const char* method;
    const char* target;
    const char* bucket;
    const char* signature;
    std::vector<Header> headers;
  };
  const std::vector<Example> examples{
      {"GET",
       "/photos/puppy.jpg",
       "johnsmith",
       "bWq2s1WEIj+Ydj0vQ697zp+IXMU=",
       {{"Date", "Tue, 27 Mar 2007 19:36:42 +0000"}}},
      {"PUT",
       "/photos/puppy.jpg",
       "johnsmith",
       "MyyxeRY7whkBe+bq8fHCL/2kKUg=",
       {{"Content-Type", "image/jpeg"}, {"Content-Length", "94328"}, {"Date", "Tue, 27 Mar 2007 21:15:45 +0000"}}},
      {"GET",
       "/?prefix=photos&max-keys=50&marker=puppy",
       "johnsmith",
       "htDYFYduRNen8P9ZfE/s9SuKy0U=",
       {{"User-Agent", "Mozilla/5.0"}, {"Date", "Tue, 27 Mar 2007 19:42:41 +0000"}}},
      {"GET", "/?acl", "johnsmith", "c2WLPFtWHVgbEmeEG93a4cG37dM=", {{"Date", "Tue, 27 Mar 2007 19:44:46 +0000"}}},
      {"PUT",
       "/db-backup.dat.gz",
       "static.johnsmith.net",
       "ilyl83RwaSoYIEdixDQcA4OnAnc=",
       {{"User-Agent", "curl/7.15.5"},
        {"Date", "Tue, 27 Mar 2007 21:06:08 +0000"},
        {"x-amz-acl", "public-read"},
        {"content-type", "application/x-download"},
        {"Content-MD5", "4gJE4saaMU4BqNR0kLY+lw=="},
        {"X-Amz-Meta-ReviewedBy", "joe@johnsmith.net"},
        {"X-Amz-Meta-ReviewedBy", "jane@johnsmith.net"},
        {"X-Amz-Meta-FileChecksum", "0x02661779"},
        {"X-Amz-Meta-ChecksumAlgorithm", "crc32"},
        {"Content-Disposition", "attachment; filename=database.dat"}}},
      {"GET", "/", "", "qGdzdERIC03wnaRNKh6OqZehG9s=", {{"Date", "Wed, 28 Mar 2007 01:29:59 +0000"}}},
      {"GET",
       "/dictionary/fran%C3%A7ais/pr%c3%a9f%c3%a8re",
       "",
       "DNEZGsoieTZ92F3bUfSPQcbGmlM=",
       {{"Date", "Wed, 28 Mar 2007 01:49:49 +0000"}}}};
  for (const Example& example : examples) {
    const std::string header = "AWS AKIAIOSFODNN7EXAMPLE:" + std::string(example.signature);
    Request request = make(example.method, example.target, example.headers);
    request.headers.push_back({"Authorization", header});
    EXPECT_TRUE(verify(request, example.bucket)) << example.signature;
    request.method = "HEAD";
    EXPECT_EQ(verify(request, example.bucket).error().code, Code::kSignatureDoesNotMatch);
  }
}

constexpr std::string_view kPresigned =
    "/photos/"
    "puppy.jpg?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D&Expires=1175139620";

TEST(SigV2Test, AcceptsTheDocumentedQueryUntilItExpires) {
  const Request request = make("GET", kPresigned, {{"Host", "johnsmith.s3.amazonaws.com"}});
  EXPECT_TRUE(verify(request, "johnsmith"));
  EXPECT_EQ(verify(request, "").error().code, Code::kSignatureDoesNotMatch);
  const auto claim = parse_authorization_v2(request, true);
  ASSERT_TRUE(claim);
  EXPECT_TRUE(check_time(*claim, kThen - 1));
  EXPECT_EQ(check_time(*claim, kThen).error().code, Code::kAccessDenied);
  EXPECT_EQ(check_time(*claim, kThen).error().message, "Request has expired");
}

TEST(SigV2Test, WhatChoosesAnotherOperationOrAnotherAnswerIsSigned) {
  for (const char* more :
       {"&acl", "&uploads", "&versionId=1", "&response-content-type=text%2Fhtml", "&tagging", "&delete"})
    EXPECT_FALSE(verify(make("GET", std::string(kPresigned) + more, {}), "johnsmith")) << more;
  EXPECT_TRUE(verify(make("GET", std::string(kPresigned) + "&x-id=GetObject", {}), "johnsmith"));
  const auto signed_text = [](std::string_view target) {
    const Request request = make("GET", target, {{"x-amz-b", " 2 "}, {"X-Amz-A", "1"}});
    return string_to_sign(request, {.date = "7"}, "/b/k%20");
  };
  EXPECT_EQ(signed_text("/b/k%20?uploadId=a%2Bb&partNumber=1&acl&x=y&response-expires=a+b"),
            "GET\n\n\n7\nx-amz-a:1\nx-amz-b:2\n/b/k%20?acl&partNumber=1&response-expires=a b&uploadId=a+b");
}

// The guide signs "GET\n\n\nTue, 27 Mar 2007 19:42:41 +0000\n/johnsmith/" for the bucket named by the host.
TEST(SigV2Test, ABucketByItselfMayBeSignedWithASlashThatIsNotSent) {
  for (const char* target : {"/johnsmith/?prefix=photos", "/johnsmith?prefix=photos"}) {
    const Request request = make("GET", target,
                                 {{"Date", "Tue, 27 Mar 2007 19:42:41 +0000"},
                                  {"Authorization", "AWS AKIAIOSFODNN7EXAMPLE:htDYFYduRNen8P9ZfE/s9SuKy0U="}});
    EXPECT_TRUE(verify(request, "")) << target;
  }
  EXPECT_FALSE(verify(make("GET", "/johnsmit",
                           {{"Date", "Tue, 27 Mar 2007 19:42:41 +0000"},
                            {"Authorization", "AWS AKIAIOSFODNN7EXAMPLE:htDYFYduRNen8P9ZfE/s9SuKy0U="}}),
                      ""));
}

// The URLs that botocore 1.29 makes; the same client signs "/bucket/" for a listing of version 1.
TEST(SigV2Test, TheParameterThatNamesTheOperationMayBeSignedWithThePath) {
  const auto listing = [](std::string_view query) {
    return verify(make("GET",
                       "/bucket?" + std::string(query) +
                           "&AWSAccessKeyId=A&Signature=8qsFosx4ILzm3mIcJfbmON6rAos%3D&Expires=1795438533",
                       {}),
                  "")
        .has_value();
  };
  EXPECT_TRUE(listing("list-type=2&prefix=n%2Fx&delimiter=%2F&encoding-type=url"));
  for (const char* other :
       {"prefix=n", "list-type=1", "list-type", "list-type=2&acl", "list-type=2&uploads", "prefix=n&list-type=2"})
    EXPECT_FALSE(listing(other)) << other;
  const auto key = [](std::string_view method, std::string_view query) {
    return verify(make(std::string(method),
                       "/bucket/k?" + std::string(query) +
                           "AWSAccessKeyId=A&Signature=8nQZxPMpYiFdd%2BWy%2FvYPuP0Bm5I%3D&Expires=1795438533",
                       {}),
                  "")
        .has_value();
  };
  EXPECT_TRUE(key("POST", "uploads&"));
  for (const char* other : {"", "acl&", "uploads=&", "uploads&uploads&", "uploads=%3Fuploads&", "uploadId=x&uploads&"})
    EXPECT_FALSE(key("POST", other)) << other;
}

TEST(SigV2Test, HeadersMayStandInTheQueryAndAreThenHeaders) {
  Request request = make("PUT", "/b/k?x-amz-meta-a=1&X-Amz-Meta-B=2&prefix=p", {{"x-amz-meta-a", "sent"}});
  take_headers_of_query(request);
  EXPECT_EQ(request.header("x-amz-meta-a"), "sent");
  EXPECT_EQ(request.header("x-amz-meta-b"), "2");
  EXPECT_EQ(request.headers.size(), 2u);
}

TEST(SigV2Test, NamesTheMistake) {
  const auto of_header = [](const char* header, std::vector<Header> more) {
    more.push_back({"Authorization", header});
    return verify(make("GET", "/b", std::move(more)), "").error().code;
  };
  const std::vector<Header> dated{{"Date", "Tue, 27 Mar 2007 19:36:42 +0000"}};
  for (const char* header : {"AWS HAHAHA", "AWS :", "AWS key:", "AWS :c2lnbmF0dXJl"})
    EXPECT_EQ(of_header(header, dated), Code::kInvalidArgument) << header;
  EXPECT_EQ(of_header("AWS", dated), Code::kInvalidArgument);
  EXPECT_EQ(of_header("AWS key:c2lnbmF0dXJl", dated), Code::kSignatureDoesNotMatch);
  EXPECT_EQ(of_header("AWS key:!", dated), Code::kSignatureDoesNotMatch);
  EXPECT_EQ(of_header("AWS key:c2lnbmF0dXJl", {}), Code::kAccessDenied);
  for (const char* date : {"", "Bad Date", "Tue, 07 Jul 1950 21:53:04 GMT"})
    EXPECT_EQ(of_header("AWS key:c2lnbmF0dXJl", {{"x-amz-date", date}}), Code::kAccessDenied) << date;
  const auto of_query = [](const char* query) {
    return verify(make("GET", std::string("/b?") + query, {}), "").error().code;
  };
  for (const char* query :
       {"AWSAccessKeyId=k&Expires=1", "Signature=c2lnbmF0dXJl&Expires=1", "AWSAccessKeyId=k&Signature=s",
        "AWSAccessKeyId=&Signature=s&Expires=1",
        "AWSAccessKeyId=k&Signature=s&Expires=", "AWSAccessKeyId=k&Signature=s&Expires=-1",
        "AWSAccessKeyId=k&Signature=s&Expires=tomorrow", "AWSAccessKeyId=k&Signature=s&Expires=99999999999999999999",
        "AWSAccessKeyId=k&Signature=s&Expires=9999999999999999"})
    EXPECT_EQ(of_query(query), Code::kAccessDenied) << query;
  const auto late = check_time(AuthorizationV2{.seconds = 1000}, 1901);
  EXPECT_EQ(late.error().code, Code::kRequestTimeTooSkewed);
}

TEST(MechanismTest, OneAtATime) {
  const auto of = [](std::string_view target, std::vector<Header> headers) {
    return mechanism_of(make("GET", target, std::move(headers)));
  };
  EXPECT_EQ(of("/b/k", {}), Mechanism::kNone);
  EXPECT_EQ(of("/b/k", {{"Authorization", "AWS4-HMAC-SHA256 Credential=a"}}), Mechanism::kVersion4Header);
  EXPECT_EQ(of("/b/k", {{"Authorization", "AWS a:b"}}), Mechanism::kVersion2Header);
  EXPECT_EQ(of("/b/k?X-Amz-Signature=x", {}), Mechanism::kVersion4Query);
  EXPECT_EQ(of(kPresigned, {}), Mechanism::kVersion2Query);
  EXPECT_EQ(of("/b/k?X-Amz-Signature=x&Signature=y", {}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(of(kPresigned, {{"Authorization", "AWS a:b"}}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(of("/b/k", {{"Authorization", " "}}).error().code, Code::kAccessDenied);
  EXPECT_EQ(of("/b/k", {{"Authorization", "Basic dTpw"}}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(of("/b/k", {{"Authorization", "AWS4-HMAC-SHA256"}}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(of("/b/k", {{"Authorization", "AWS4-ECDSA-P256-SHA256 x"}}).error().code, Code::kNotImplemented);
}

}  // namespace
}  // namespace stoa::s3
