// Callbacks and delegations of NFSv4.0: RFC 7530 10.2.1, 10.4, 15, 16.1, 16.2, 16.16.5, 16.30, 16.33.
#include "frontends/nfs/v4/callback_client.h"
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v40_protocol/callback_listener.h"
#include "tests/frontends/nfs/v40_protocol/caller_40.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kDelegationNone = 0, kDelegationRead = 1;

class Delegation40Test : public ProtocolTest {
 protected:
  explicit Delegation40Test(const core::VolumeOptions& volume_options = {})
      : ProtocolTest(Store::kMemory, volume_options) {
    publish("test", {anyone()});
    start_protocol();
    b = std::make_unique<CompoundCaller>(port, "b");
    b->connect();
    root = b->handle_of({"test"});
    for (const std::string_view name : {"f", "g"}) {
      const auto made = b->open(root, name, kOpenBoth);
      EXPECT_EQ(b->close(made.handle, made.stateid), Nfs4Status::kOk);
    }
    start_client();
  }
  void start_client() {
    a = std::make_unique<Caller40>(port, "a");
    a->callback_address = listener.address();
    a->connect();
    listener.wait_for_null();
  }
  // The answer to CB_NULL is on its way when the listener has sent it.
  Caller40::Open delegated(std::string_view name, std::uint32_t& seqid, const Caller40::How& how) {
    for (;;) {
      const auto open = a->open_confirmed(root, name, seqid, how);
      seqid += open.must_confirm() ? 2 : 1;
      if (open.status != Nfs4Status::kOk || open.delegation.type != kDelegationNone) return open;
      EXPECT_EQ(a->close(open.handle, open.stateid, seqid++).status, Nfs4Status::kOk);
    }
  }
  Caller40::Open delegated(std::string_view name) {
    return delegated(name, seqid, {.access = kOpenRead, .create = false});
  }
  Nfs4Status remove(std::string_view name) { return b->call(Ops().putfh(root).op(28).string(name)).status; }
  Nfs4Status give_back(const Caller40::Open& open) {
    return a->send(Ops().putfh(open.handle).op(8).stateid(open.delegation.stateid)).status;
  }

  CallbackListener listener;
  std::unique_ptr<Caller40> a;
  std::unique_ptr<CompoundCaller> b;
  Bytes root;
  std::uint32_t seqid = 1;
};

TEST_F(Delegation40Test, OneIsGivenToAReaderAndCalledBackAtTheAddressOfTheClient) {
  const auto open = delegated("f");
  EXPECT_EQ(open.delegation.type, kDelegationRead);
  EXPECT_EQ(remove("f"), Nfs4Status::kDelay);
  const auto recalled = listener.take_recall();
  EXPECT_EQ(recalled.program, 0x40000000u);
  EXPECT_EQ(recalled.ident, 7u);
  EXPECT_EQ(recalled.stateid.other, open.delegation.stateid.other);
  EXPECT_EQ(recalled.handle, open.handle);
  EXPECT_EQ(a->renew(a->client), Nfs4Status::kOk);
  // An open that the client has made by itself under the delegation.
  Ops claim;
  claim.putfh(root).op(18).u32(1).u32(kOpenRead).u32(0).u64(a->client).string("by itself").u32(0);
  claim.u32(2).stateid(open.delegation.stateid).string("f").getfh();
  EXPECT_TRUE(a->send(claim).ok());
  EXPECT_EQ(give_back(open), Nfs4Status::kOk);
  EXPECT_EQ(give_back(open), Nfs4Status::kBadStateId);
  EXPECT_EQ(remove("f"), Nfs4Status::kOk);
}

TEST_F(Delegation40Test, AnOwnerThatIsNotConfirmedGetsNone) {
  delegated("f");
  const auto open = a->open(root, "g", 1, {.access = kOpenRead, .create = false, .owner = "new"});
  ASSERT_EQ(open.status, Nfs4Status::kOk);
  EXPECT_TRUE(open.must_confirm());
  EXPECT_EQ(open.delegation.type, kDelegationNone);
}

TEST_F(Delegation40Test, NobodyIsCalledElsewhere) {
  Caller40 far(port, "far");
  for (const std::string address :
       {"127.0.0.2.200.1", "10.0.0.1.8.1", "127.0.0.1.0.0", "127.0.0.1.300.1", "127.0.0.1", "", "::1.8.1"}) {
    far.callback_address = address;
    far.connect();
    const auto open =
        far.open_confirmed(root, "f", 1, {.access = kOpenRead, .create = false, .owner = "to " + address});
    EXPECT_EQ(open.delegation.type, kDelegationNone) << address;
    EXPECT_EQ(far.renew(far.client), Nfs4Status::kOk);
  }
}

TEST(CallbackAddress, IsOfTheHostThatSentIt) {
  std::array<std::uint8_t, 16> v4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3}, v6{0xfd};
  v6[15] = 9;
  const auto port = [](std::string network, std::string address, const std::array<std::uint8_t, 16>& host) {
    return nfs4::callback_port({.program = 1, .network = std::move(network), .address = std::move(address)}, host);
  };
  EXPECT_EQ(port("tcp", "10.1.2.3.8.1", v4), 0x801);
  EXPECT_EQ(port("tcp", "10.1.2.4.8.1", v4), std::nullopt);
  EXPECT_EQ(port("udp", "10.1.2.3.8.1", v4), std::nullopt);
  EXPECT_EQ(port("tcp6", "10.1.2.3.8.1", v4), std::nullopt);
  EXPECT_EQ(port("tcp", "10.1.2.3.8.1.1", v4), std::nullopt);
  EXPECT_EQ(port("tcp", "10.1.2.3.8.-1", v4), std::nullopt);
  EXPECT_EQ(port("tcp", "10.1.2.3.256.1", v4), std::nullopt);
  EXPECT_EQ(port("tcp", "10.1.2.3.0.0", v4), std::nullopt);
  EXPECT_EQ(port("tcp", "..", v4), std::nullopt);
  EXPECT_EQ(port("tcp6", "fd00::9.0.111", v6), 111);
  EXPECT_EQ(port("tcp6", "fd00::8.0.111", v6), std::nullopt);
  EXPECT_EQ(port("tcp", "fd00::9.0.111", v6), std::nullopt);
  EXPECT_EQ(port("tcp6", "::.8.1", {}), std::nullopt);
}

TEST_F(Delegation40Test, AClientThatCannotBeReachedIsToldAndMayGiveANewAddress) {
  const auto open = delegated("f");
  auto second = std::make_unique<CallbackListener>();
  listener.set(CallbackListener::Answers::kRefuse);
  EXPECT_EQ(remove("f"), Nfs4Status::kDelay);
  EXPECT_EQ(a->renew(a->client), Nfs4Status::kOk);  // it answers, if not well
  // The path is lost: an address without a listener.
  a->callback_address = "127.0.0.1.0.1";
  ASSERT_EQ(a->confirm(a->set()), Nfs4Status::kOk);
  while (a->renew(a->client) != Nfs4Status::kCbPathDown) {
  }
  const auto other = a->open_confirmed(root, "g", seqid++, {.access = kOpenRead, .create = false});
  EXPECT_EQ(other.delegation.type, kDelegationNone);
  // A new one: untaken callbacks come there.
  a->callback_address = second->address();
  ASSERT_EQ(a->confirm(a->set()), Nfs4Status::kOk);
  EXPECT_EQ(second->take_recall().stateid.other, open.delegation.stateid.other);
  EXPECT_EQ(a->renew(a->client), Nfs4Status::kOk);
  EXPECT_EQ(give_back(open), Nfs4Status::kOk);
  EXPECT_EQ(remove("f"), Nfs4Status::kOk);
}

TEST_F(Delegation40Test, OneThatWasHeldIsHadBackAfterARestart) {
  const auto open = delegated("f");
  restart();
  start_client();
  const auto again = a->open(open.handle, {}, 1, {.access = kOpenRead, .reclaim = true, .held = kDelegationRead});
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_EQ(again.delegation.type, kDelegationRead);
  const auto bad = a->open(open.handle, {}, 2, {.access = kOpenRead, .reclaim = true, .held = 3});
  EXPECT_EQ(bad.status, Nfs4Status::kBadXdr);
  EXPECT_EQ(give_back(again), Nfs4Status::kOk);
}

class Revocation40Test : public Delegation40Test {
 protected:
  Revocation40Test() : Delegation40Test({.lease_recall_timeout_ms = 1}) {}
};

TEST_F(Revocation40Test, WhoDoesNotAnswerLosesIt) {
  const auto open = delegated("f");
  listener.set(CallbackListener::Answers::kNothing);
  Nfs4Status status;
  while ((status = remove("f")) == Nfs4Status::kDelay) {
  }
  EXPECT_EQ(status, Nfs4Status::kOk);
  EXPECT_EQ(give_back(open), Nfs4Status::kBadStateId);
}

}  // namespace
}  // namespace stoa::test
