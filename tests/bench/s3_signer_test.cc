#include "bench/load/s3_signer.h"

#include <gtest/gtest.h>

namespace stoa::bench {
namespace {

// The example of the S3 documentation, "Signature Calculations for the Authorization Header".
S3Signer example_signer() {
  return S3Signer({.access_key = "AKIAIOSFODNN7EXAMPLE", .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
                  "examplebucket.s3.amazonaws.com", [] { return std::int64_t{1369353600}; });
}

TEST(S3SignerTest, SignsTheDocumentedExamples) {
  auto signer = example_signer();
  const std::string empty = sha256_hex("");
  const SignedHeaders lifecycle = signer.sign("GET", "/", "lifecycle=", empty);
  EXPECT_EQ(lifecycle.date, "x-amz-date: 20130524T000000Z");
  EXPECT_TRUE(lifecycle.authorization.ends_with("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"))
      << lifecycle.authorization;
  const SignedHeaders list = signer.sign("GET", "/", "max-keys=2&prefix=J", empty);
  EXPECT_TRUE(list.authorization.ends_with("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"))
      << list.authorization;
}

TEST(S3SignerTest, HashesTheEmptyStringAsTheStandardSays) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(S3SignerTest, Md5IsThatOfContentMd5) {
  EXPECT_EQ(md5_base64(""), "1B2M2Y8AsgTpgAmY7PhCfg==");
  EXPECT_EQ(md5_base64("abc"), "kAFQmDzST7DWlj99KOF/cg==");
}

}  // namespace
}  // namespace stoa::bench
