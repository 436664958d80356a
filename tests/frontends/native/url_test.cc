// URLs and key files, as people write them.
#include "frontends/native/client/url.h"
#include "frontends/native/client/key_file.h"
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

TEST(NativeUrl, AllPartsAreFound) {
  const auto url = parse_url("stoa://ann@nas.example:77/data/train/one/");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->user, "ann");
  ASSERT_EQ(url->hosts.size(), 1u);
  EXPECT_EQ(url->hosts[0], (Url::Host{"nas.example", 77}));
  EXPECT_EQ(url->export_name, "data");
  EXPECT_EQ(url->path, "train/one");
}

TEST(NativeUrl, TheSchemeSaysWhetherTlsIsRequired) {
  EXPECT_FALSE(parse_url("stoa://h/e")->tls);
  const auto url = parse_url("stoas://h:9/e");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->hosts.at(0).port, 9);
  EXPECT_FALSE(parse_url("stoass://h/e"));
}

TEST(NativeUrl, WhatIsLeftOutHasADefault) {
  const auto url = parse_url("stoa://[::1]/data");
  ASSERT_TRUE(url);
  ASSERT_EQ(url->hosts.size(), 1u);
  EXPECT_EQ(url->hosts[0], (Url::Host{"::1", kDefaultPort}));
  EXPECT_EQ(url->path, "");
}

TEST(NativeUrl, SeveralHostsShareThePortOfTheLast) {
  const auto url = parse_url("stoa://ann@one,[fe80::2]:7,[fe80::3],four:77/data");
  ASSERT_TRUE(url);
  const std::vector<Url::Host> hosts{{"one", 77}, {"fe80::2", 7}, {"fe80::3", 77}, {"four", 77}};
  EXPECT_EQ(url->hosts, hosts);
  EXPECT_EQ(url->user, "ann");
  EXPECT_EQ(parse_url("stoa://one,two/data")->hosts[1].port, kDefaultPort);
}

TEST(NativeUrl, WhatIsNoneIsRefusedWithASentence) {
  for (const char* text :
       {"", "nfs://h/e", "stoa://", "stoa:///e", "stoa://h", "stoa://h/", "stoa://@h/e", "stoa://h:0/e",
        "stoa://h:65536/e", "stoa://h:x/e", "stoa://h:/e", "stoa://[::1/e", "stoa://[::1]7/e", "stoa://h,/e",
        "stoa://,h/e", "stoa://h,,i/e", "stoa://a,[::1/e", "stoa://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/e"}) {
    const auto url = parse_url(text);
    EXPECT_FALSE(url) << text;
    if (!url) {
      EXPECT_EQ(url.error().code, Errc::kInvalid);
      EXPECT_NE(url.error().detail.find("stoa://[user@]host"), std::string::npos) << text;
    }
  }
}

class NativeKeyFile : public NativeTest {};

TEST_F(NativeKeyFile, OneLineIsAKey) {
  const auto key = read_key_file(key_file("# of node1\n\nhost KEY SECRET\n"));
  ASSERT_TRUE(key);
  EXPECT_EQ(key->kind, KeyKind::kHost);
  EXPECT_EQ(key->key, "KEY");
  EXPECT_EQ(key->secret, "SECRET");
}

TEST_F(NativeKeyFile, WhatOthersMayReadIsRefused) {
  const auto key = read_key_file(key_file("host KEY SECRET\n", 0640));
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().code, Errc::kAccess);
}

TEST_F(NativeKeyFile, WhatIsNoKeyIsRefusedWithoutItsSecret) {
  for (const char* text : {"", "host KEY\n", "group KEY SECRET\n", "host KEY SECRET more\n", "KEY SECRET\n"}) {
    const auto key = read_key_file(key_file(text));
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(describe(key.error()).find("SECRET more"), std::string::npos);
  }
  EXPECT_EQ(read_key_file("/nowhere/key").error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace stoa::test
