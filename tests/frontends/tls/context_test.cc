// What a server shows, and whom a client trusts: what is none is refused.
#include "frontends/tls/context.h"

#include <gtest/gtest.h>

#include "tests/frontends/tls/certificates.h"

namespace stoa::test {
namespace {

TEST(TlsContext, TakesACertificateAndItsKey) {
  const TestAuthority authority;
  const TestCertificate one = authority.issue("DNS:one.example");
  const auto made = tls::Context::server(one.chain + authority.pem(), one.key);
  ASSERT_TRUE(made) << describe(made.error());
  EXPECT_FALSE((*made)->verifies());
}

TEST(TlsContext, RefusesWhatIsNoneOrDoesNotBelongTogether) {
  const TestAuthority authority;
  const TestCertificate one = authority.issue("DNS:one.example"), other = authority.issue("DNS:other.example");
  const auto refused = [](const std::string& chain, const std::string& key) {
    const auto made = tls::Context::server(chain, key);
    return !made && made.error().code == Errc::kInvalid && !made.error().detail.empty();
  };
  EXPECT_TRUE(refused("", one.key));
  EXPECT_TRUE(refused("nonsense", one.key));
  EXPECT_TRUE(refused(one.chain, ""));
  EXPECT_TRUE(refused(one.chain, "nonsense"));
  EXPECT_TRUE(refused(one.chain, one.chain));
  EXPECT_TRUE(refused(one.chain, other.key));
}

TEST(TlsContext, AFileWithoutAuthoritiesIsRefused) {
  EXPECT_EQ(tls::Context::client(true, "/dev/null").error().code, Errc::kInvalid);
  EXPECT_EQ(tls::Context::client(true, "/nowhere/ca.pem").error().code, Errc::kInvalid);
  EXPECT_TRUE(tls::Context::client(false, "")) << "nothing is verified, so nothing is needed";
}

}  // namespace
}  // namespace stoa::test
