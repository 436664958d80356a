#include <gtest/gtest.h>

#include <arpa/inet.h>

#include "core/api/registry.h"

namespace stoa::core {
namespace {

std::array<std::uint8_t, 16> address(const std::string& text) {
  const auto network = Network::parse(text);
  EXPECT_TRUE(network) << text;
  return network->address;
}

TEST(NetworkTest, ContainsExactlyItsAddresses) {
  const auto ten = *Network::parse("10.0.0.0/8");
  EXPECT_TRUE(ten.contains(address("10.255.1.2")));
  EXPECT_FALSE(ten.contains(address("11.0.0.1")));
  EXPECT_FALSE(ten.contains(address("::1")));

  const auto odd = *Network::parse("192.168.4.0/22");
  EXPECT_TRUE(odd.contains(address("192.168.7.255")));
  EXPECT_FALSE(odd.contains(address("192.168.8.0")));
  EXPECT_FALSE(odd.contains(address("192.168.3.255")));

  const auto local = *Network::parse("fe80::/10");
  EXPECT_TRUE(local.contains(address("fe80::1")));
  EXPECT_TRUE(local.contains(address("febf::1")));
  EXPECT_FALSE(local.contains(address("fec0::1")));
}

TEST(NetworkTest, AddressWithoutPrefixIsOneHost) {
  const auto host = *Network::parse("127.0.0.1");
  EXPECT_TRUE(host.contains(address("127.0.0.1")));
  EXPECT_FALSE(host.contains(address("127.0.0.2")));
  EXPECT_EQ(Network::parse("::1")->prefix_bits, 128);
}

TEST(NetworkTest, StarIsEveryAddressOfBothFamilies) {
  const auto all = *Network::parse("*");
  EXPECT_TRUE(all.contains(address("8.8.8.8")));
  EXPECT_TRUE(all.contains(address("2001:db8::1")));
  const auto all_v4 = *Network::parse("0.0.0.0/0");
  EXPECT_TRUE(all_v4.contains(address("8.8.8.8")));
  EXPECT_FALSE(all_v4.contains(address("2001:db8::1")));
}

TEST(NetworkTest, TextSurvivesARoundTrip) {
  for (const char* text : {"*", "10.0.0.0/8", "127.0.0.1/32", "0.0.0.0/0", "::1/128", "fe80::/10", "2001:db8::/32"}) {
    const auto network = Network::parse(text);
    ASSERT_TRUE(network) << text;
    EXPECT_EQ(network->to_text(), text);
    EXPECT_EQ(*Network::parse(network->to_text()), *network);
  }
}

TEST(NetworkTest, NonsenseIsRefusedWithTheReason) {
  for (const char* text : {"", "/8", "10.0.0/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "::1/129",
                           "10.0.0.1/8", "fe80::1/10", "host.example", "10.0.0.0/8/8", "**"}) {
    const auto network = Network::parse(text);
    ASSERT_FALSE(network) << text;
    EXPECT_EQ(network.error().code, Errc::kInvalid);
    EXPECT_NE(network.error().cause, Cause::kNone);
    EXPECT_EQ(network.error().arguments.at(0), text);
  }
}

TEST(NetworkTest, FirstMatchingRuleCounts) {
  Export record;
  record.clients.push_back({.network = *Network::parse("10.1.0.0/16"), .read_only = true});
  record.clients.push_back({.network = *Network::parse("10.0.0.0/8"), .read_only = false});
  EXPECT_TRUE(record.rule_for(address("10.1.2.3"))->read_only);
  EXPECT_FALSE(record.rule_for(address("10.2.2.3"))->read_only);
  EXPECT_EQ(record.rule_for(address("192.168.0.1")), nullptr);
}

}  // namespace
}  // namespace stoa::core
