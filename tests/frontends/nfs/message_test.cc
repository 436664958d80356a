#include "frontends/nfs/rpc/message.h"

#include <gtest/gtest.h>

#include "tests/frontends/nfs/wire_client.h"

namespace stoa::rpc {
namespace {

using test::auth_sys;
using test::Bytes;
using test::CallSpec;
using test::encode;

AuthStatus auth_of(const CallSpec& spec) {
  const Bytes record = encode(spec);
  CallHeader call;
  EXPECT_TRUE(decode_call(record, call));
  return call.auth;
}

TEST(CallHeader, IsDecodedWithItsCredential) {
  CallSpec spec{.xid = 9,
                .program = 100003,
                .version = 3,
                .procedure = 1,
                .auth_flavor = 1,
                .auth_body = auth_sys(1000, 100, {4, 27})};
  const Bytes record = encode(spec, test::Xdr().u32(42));
  CallHeader call;
  ASSERT_TRUE(decode_call(record, call));
  EXPECT_EQ(call.xid, 9u);
  EXPECT_EQ(call.program, 100003u);
  EXPECT_EQ(call.auth, AuthStatus::kOk);
  EXPECT_TRUE(call.credential.sys);
  EXPECT_EQ(call.credential.uid, 1000u);
  EXPECT_EQ(call.credential.gid, 100u);
  EXPECT_EQ(call.credential.group_count, 2u);
  EXPECT_EQ(call.credential.groups[1], 27u);
  EXPECT_EQ(call.credential.machine, "test");
  EXPECT_EQ(call.arguments.size(), 4u);
}

TEST(CallHeader, TakesSixteenGroupsAndNotSeventeen) {
  EXPECT_EQ(auth_of({.auth_flavor = 1, .auth_body = auth_sys(1, 1, std::vector<std::uint32_t>(16, 5))}),
            AuthStatus::kOk);
  EXPECT_EQ(auth_of({.auth_flavor = 1, .auth_body = auth_sys(1, 1, std::vector<std::uint32_t>(17, 5))}),
            AuthStatus::kBadCredential);
}

TEST(CallHeader, TakesAMachineNameOf255BytesAndNotOf256) {
  EXPECT_EQ(auth_of({.auth_flavor = 1, .auth_body = auth_sys(1, 1, {}, std::string(255, 'm'))}), AuthStatus::kOk);
  EXPECT_EQ(auth_of({.auth_flavor = 1, .auth_body = auth_sys(1, 1, {}, std::string(256, 'm'))}),
            AuthStatus::kBadCredential);
}

TEST(CallHeader, TakesAuthNoneOnlyWithoutABody) {
  EXPECT_EQ(auth_of({}), AuthStatus::kOk);
  EXPECT_EQ(auth_of({.auth_body = Bytes(4)}), AuthStatus::kBadCredential);
}

TEST(CallHeader, RefusesACutCredentialAndFlavorsThatWeDoNotHave) {
  EXPECT_EQ(auth_of({.auth_flavor = 1, .auth_body = Bytes(8)}), AuthStatus::kBadCredential);
  EXPECT_EQ(auth_of({.auth_flavor = 2, .auth_body = Bytes(8)}), AuthStatus::kRejectedCredential);
  EXPECT_EQ(auth_of({.auth_flavor = 6, .auth_body = Bytes(8)}), AuthStatus::kBadCredential);
  EXPECT_EQ(auth_of({.auth_flavor = 77}), AuthStatus::kBadCredential);
}

TEST(CallHeader, RefusesABodyBeyond400Bytes) {
  EXPECT_EQ(auth_of({.auth_flavor = 1, .auth_body = Bytes(404)}), AuthStatus::kBadCredential);
}

TEST(CallHeader, RefusesAVerifierThatIsNotNone) {
  EXPECT_EQ(auth_of({.verifier_flavor = 1}), AuthStatus::kBadVerifier);
  EXPECT_EQ(auth_of({.verifier_body = Bytes(4)}), AuthStatus::kBadVerifier);
}

TEST(CallHeader, IsNoCallWhenShortOrAReply) {
  CallHeader call;
  Bytes record = encode({});
  EXPECT_FALSE(decode_call(std::span(record).first(23), call));
  record[7] = std::byte{1};  // REPLY
  EXPECT_FALSE(decode_call(record, call));
}

}  // namespace
}  // namespace stoa::rpc
