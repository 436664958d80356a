// Certificates: reading of files, refusals, and detection of renewal.
#include "frontends/http/certificate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace stoa::http {
namespace {

// Made for this test by openssl(1), and valid for a hundred years.
constexpr const char* kChain = R"(-----BEGIN CERTIFICATE-----
MIIBczCCARmgAwIBAgIUW2PaTPoeiUleT77zjMX76iuhFGAwCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDb25lMCAXDTI2MTEyNTA5NTIxMloYDzIxMjYxMTAxMDk1MjEy
WjAOMQwwCgYDVQQDDANvbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARgJuhy
RzawjfheSKqWIvUI3I/GJcK/D2zIxr6Q0BxboAPfwuEjdNqmq0vQuG4qT68JBq8h
KQlvbq8Vfkyw7szxo1MwUTAdBgNVHQ4EFgQUahw7DhK4Vp9ld1zvPI0hr5N0M/Mw
HwYDVR0jBBgwFoAUahw7DhK4Vp9ld1zvPI0hr5N0M/MwDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNIADBFAiBkeipcax8l+c+JgwdwOZ596k5ClsUe8X3DjW2+
7WLXFgIhAPThq1I5wiZITE7XBHQT0jqI+jGc/QlMj22JV4J0Eyh6
-----END CERTIFICATE-----
)";
constexpr const char* kKey = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgb9RW8XDtnFmH83jF
6XBDdpkYugv/lZUxfmVTFO0NMWuhRANCAARgJuhyRzawjfheSKqWIvUI3I/GJcK/
D2zIxr6Q0BxboAPfwuEjdNqmq0vQuG4qT68JBq8hKQlvbq8Vfkyw7szx
-----END PRIVATE KEY-----
)";
constexpr const char* kPin = "sha256//+FJ1DrG+0xzq9w5OAnTdujUff0pZXfcSt8Awq6LzDAE=";
constexpr const char* kOtherChain = R"(-----BEGIN CERTIFICATE-----
MIIBcjCCARmgAwIBAgIUVYt7xE9nTmX08Nf5VM2nN3a5jm8wCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDdHdvMCAXDTI2MTEyNTA5NTIxMloYDzIxMjYxMTAxMDk1MjEy
WjAOMQwwCgYDVQQDDAN0d28wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT/8vmb
277leEqcOxEo5pKlDr6aBewijeKPwcTt22N1abQ2T4RkJXAxojD5GDip5PwvLy3B
MLwE+na/EuadvBVWo1MwUTAdBgNVHQ4EFgQUUv1EchHNZIfNYR2/+x3P4Qkrul0w
HwYDVR0jBBgwFoAUUv1EchHNZIfNYR2/+x3P4Qkrul0wDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNHADBEAiA9wsBc35JIERAcjrB3HxsvonXMbysBz4szkYwB
wO5/RAIgZloV7ImRiYE+VYZGaeWXKA2pruHSkkutCeDTIVC7o9Y=
-----END CERTIFICATE-----
)";
constexpr const char* kOtherKey = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYMk5ILZDjj1QKJPF
rxkWbBq24e2iZKqGmXMhQJ4T/L+hRANCAAT/8vmb277leEqcOxEo5pKlDr6aBewi
jeKPwcTt22N1abQ2T4RkJXAxojD5GDip5PwvLy3BMLwE+na/EuadvBVW
-----END PRIVATE KEY-----
)";

class CertificateTest : public testing::Test {
 protected:
  CertificateTest() {
    std::filesystem::create_directories(folder_);
    put(chain_, kChain);
    put(key_, kKey);
  }
  ~CertificateTest() override { std::filesystem::remove_all(folder_); }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  void expect_refused(const std::string& chain, const std::string& key, const std::string& named) {
    const auto read = read_certificate(chain, key);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::kInvalid);
    EXPECT_NE(read.error().detail.find(named), std::string::npos) << read.error().detail;
  }

  const std::string folder_ = testing::TempDir() + "stoa-certificate-" + std::to_string(getpid());
  const std::string chain_ = folder_ + "/chain.pem", key_ = folder_ + "/key.pem";
};

TEST_F(CertificateTest, ReadsTheChainAndTheKeyAndComputesThePin) {
  const auto read = read_certificate(chain_, key_);
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->chain, kChain);
  EXPECT_EQ(read->key, kKey);
  EXPECT_EQ(read->pin, kPin);
}

TEST_F(CertificateTest, RefusesWhatCannotBeUsedAndNamesTheFile) {
  expect_refused(folder_ + "/none.pem", key_, "none.pem");
  put(folder_ + "/empty.pem", "");
  expect_refused(chain_, folder_ + "/empty.pem", "empty.pem");
  put(folder_ + "/text.pem", "no certificate");
  expect_refused(folder_ + "/text.pem", key_, "text.pem");
  put(folder_ + "/other.pem", kOtherKey);
  expect_refused(chain_, folder_ + "/other.pem", "other.pem");
}

TEST_F(CertificateTest, IsRenewedWhenTheFilesHoldAnotherOne) {
  const auto shown = read_certificate(chain_, key_);
  ASSERT_TRUE(shown);
  const auto same = read_renewed_certificate(*shown, chain_, key_);
  ASSERT_TRUE(same);
  EXPECT_FALSE(same->has_value());
  put(chain_, kOtherChain);
  EXPECT_FALSE(read_renewed_certificate(*shown, chain_, key_)) << "only half of it is there";
  put(key_, kOtherKey);
  const auto renewed = read_renewed_certificate(*shown, chain_, key_);
  ASSERT_TRUE(renewed);
  ASSERT_TRUE(renewed->has_value());
  EXPECT_EQ((*renewed)->chain, kOtherChain);
  EXPECT_NE((*renewed)->pin, shown->pin);
}

}  // namespace
}  // namespace stoa::http
