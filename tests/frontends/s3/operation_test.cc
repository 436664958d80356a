#include <gtest/gtest.h>

#include "frontends/s3/operation.h"

namespace stoa::s3 {
namespace {

std::string routed(std::string method, std::string_view target, std::vector<Header> headers = {},
                   std::string_view domain = "") {
  Request request;
  request.method = std::move(method);
  request.target = *parse_target(target);
  request.headers = std::move(headers);
  const auto route = route_request(request, domain);
  if (!route) return std::string(info(route.error().code).name);
  return std::string(to_string(route->operation)) + " " + route->bucket + " " + route->key;
}

TEST(RouteTest, FindsEachOperation) {
  EXPECT_EQ(routed("GET", "/"), "ListBuckets  ");
  EXPECT_EQ(routed("PUT", "/b"), "CreateBucket b ");
  EXPECT_EQ(routed("PUT", "/b/"), "CreateBucket b ");
  EXPECT_EQ(routed("DELETE", "/b"), "DeleteBucket b ");
  EXPECT_EQ(routed("HEAD", "/b"), "HeadBucket b ");
  EXPECT_EQ(routed("GET", "/b?location"), "GetBucketLocation b ");
  EXPECT_EQ(routed("GET", "/b?acl"), "GetBucketAcl b ");
  EXPECT_EQ(routed("PUT", "/b?acl"), "PutBucketAcl b ");
  EXPECT_EQ(routed("GET", "/b?versioning"), "GetBucketConfiguration b ");
  EXPECT_EQ(routed("GET", "/b?prefix=x"), "ListObjects b ");
  EXPECT_EQ(routed("GET", "/b?list-type=2"), "ListObjectsV2 b ");
  EXPECT_EQ(routed("GET", "/b?versions"), "ListObjectVersions b ");
  EXPECT_EQ(routed("GET", "/b?uploads"), "ListMultipartUploads b ");
  EXPECT_EQ(routed("POST", "/b?delete"), "DeleteObjects b ");
  EXPECT_EQ(routed("GET", "/b/k?x-id=GetObject"), "GetObject b k");
  EXPECT_EQ(routed("HEAD", "/b/k"), "HeadObject b k");
  EXPECT_EQ(routed("PUT", "/b/k"), "PutObject b k");
  EXPECT_EQ(routed("PUT", "/b/k", {{"X-Amz-Copy-Source", "/b/x"}}), "CopyObject b k");
  EXPECT_EQ(routed("DELETE", "/b/k"), "DeleteObject b k");
  EXPECT_EQ(routed("GET", "/b/k?acl"), "GetObjectAcl b k");
  EXPECT_EQ(routed("PUT", "/b/k?acl"), "PutObjectAcl b k");
  EXPECT_EQ(routed("GET", "/b/k?attributes"), "GetObjectAttributes b k");
  EXPECT_EQ(routed("GET", "/b/k?tagging"), "GetObjectTagging b k");
  EXPECT_EQ(routed("POST", "/b/k?uploads"), "CreateMultipartUpload b k");
  EXPECT_EQ(routed("PUT", "/b/k?uploadId=1&partNumber=1"), "UploadPart b k");
  EXPECT_EQ(routed("PUT", "/b/k?uploadId=1&partNumber=1", {{"x-amz-copy-source", "x"}}), "UploadPartCopy b k");
  EXPECT_EQ(routed("GET", "/b/k?uploadId=1"), "ListParts b k");
  EXPECT_EQ(routed("POST", "/b/k?uploadId=1"), "CompleteMultipartUpload b k");
  EXPECT_EQ(routed("DELETE", "/b/k?uploadId=1"), "AbortMultipartUpload b k");
}

TEST(RouteTest, KeepsOddKeysRaw) {
  EXPECT_EQ(routed("GET", "/b//a"), "GetObject b /a");
  EXPECT_EQ(routed("GET", "/b/../x/."), "GetObject b ../x/.");
  EXPECT_EQ(routed("GET", "/b/dir/"), "GetObject b dir/");
  EXPECT_EQ(routed("GET", "/b/" + std::string(1025, 'k')), "KeyTooLongError");
}

TEST(RouteTest, RefusesWhatIsNotOffered) {
  for (const char* target : {"/b?versioning", "/b?policy", "/b?lifecycle", "/b?tagging", "/b/k?tagging"})
    EXPECT_EQ(routed("PUT", target), "NotImplemented") << target;
  EXPECT_EQ(routed("POST", "/b"), "NotImplemented");
  EXPECT_EQ(routed("POST", "/b/k?restore"), "NotImplemented");
  EXPECT_EQ(routed("DELETE", "/b?policy"), "NotImplemented");
  EXPECT_EQ(routed("GET", "/b/k?torrent"), "NotImplemented");
  EXPECT_EQ(routed("PUT", "/b/k?retention"), "InvalidRequest") << "a bucket without object lock";
  EXPECT_EQ(routed("GET", "/b/k?legal-hold"), "InvalidRequest");
  EXPECT_EQ(routed("PUT", "/b/k?partNumber=1"), "InvalidArgument") << "a part without its upload";
  EXPECT_EQ(routed("PATCH", "/b/k"), "MethodNotAllowed");
  EXPECT_EQ(routed("POST", "/b/k"), "MethodNotAllowed");
  EXPECT_EQ(routed("PUT", "/"), "MethodNotAllowed");
  EXPECT_EQ(routed("OPTIONS", "/b/k"), "BadRequest");
  EXPECT_EQ(routed("OPTIONS", "/b/k", {{"Origin", "http://a"}, {"Access-Control-Request-Method", "PATCH"}}),
            "BadRequest");
  EXPECT_EQ(routed("OPTIONS", "/b/k", {{"Origin", "http://a"}, {"Access-Control-Request-Method", "GET"}}),
            "AccessForbidden");
}

TEST(RouteTest, TakesTheBucketFromTheHostBelowTheDomain) {
  EXPECT_EQ(routed("GET", "/k", {{"Host", "b.s3.example:9000"}}, "s3.example"), "GetObject b k");
  EXPECT_EQ(routed("GET", "/", {{"Host", "b.c.s3.example"}}, "s3.example"), "ListObjects b.c ");
  EXPECT_EQ(routed("GET", "/b/k", {{"Host", "s3.example"}}, "s3.example"), "GetObject b k");
  EXPECT_EQ(routed("GET", "/b/k", {{"Host", "[::1]:9000"}}, "s3.example"), "GetObject b k");
  EXPECT_EQ(routed("GET", "/b/k", {{"Host", "xs3.example"}}, "s3.example"), "GetObject b k");
}

TEST(BucketNameTest, FollowsTheRules) {
  for (const char* good :
       {"abc", "a-b.c", "1ab", "my.bucket.name", "a23456789012345678901234567890123456789012345678901234567890123"})
    EXPECT_TRUE(valid_bucket_name(good)) << good;
  for (const char* bad : {"", "ab", "Abc", "-abc", "abc-", ".abc", "abc.", "a..b", "foo.-bar", "foo-.bar", "a_b",
                          "192.168.5.4", "xn--abc", "abc-s3alias", "sthree-abc", "a b", "a/b",
                          "a234567890123456789012345678901234567890123456789012345678901234"})
    EXPECT_FALSE(valid_bucket_name(bad)) << bad;
}

}  // namespace
}  // namespace stoa::s3
