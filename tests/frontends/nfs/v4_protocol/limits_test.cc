// Limits of one client and one address: RFC 8881 18.35 (NFS4ERR_DELAY), 18.36.4 (NFS4ERR_NOSPC). Others still get in.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr int kClientsPerPeer = 2000, kSessionsPerPeer = 2048, kSlotsPerPeer = 16'384, kSessionsPerClient = 16,
              kSlotsMax = 64;

class LimitsTest : public ProtocolTest {
 protected:
  LimitsTest() {
    options.limits.connections_per_address_max = options.limits.connections_max = 4000;
    publish("test", {anyone()});
    start_protocol();
  }
  std::unique_ptr<CompoundCaller> holder_of_state(const std::string& name, std::uint32_t slots = 8) {
    auto client = std::make_unique<CompoundCaller>(port, name);
    client->slots = slots;
    client->connect();
    if (root.empty()) root = client->handle_of({"test"});
    EXPECT_EQ(client->open(root, "f", kOpenBoth, 0, true, name).status, Nfs4Status::kOk);
    return client;
  }
  Nfs4Status exchange(const std::string& name, std::uint8_t host = 1) {
    return CompoundCaller(port, name, 1, 0, host).exchange().status;
  }
  // One more for this client; how many slots it has.
  std::uint32_t add_session(CompoundCaller& client, std::uint32_t number, Nfs4Status expected = Nfs4Status::kOk) {
    auto made = client.create_session(client.client, number);
    EXPECT_EQ(made.status, expected);
    if (!made.ok()) return 0;
    made.next(43);
    made.in.fixed(16 + 4 + 4 + 5 * 4);
    return made.in.u32();
  }
  void expect_others_get_in() {
    CompoundCaller other(port, "other", 1, 0, 2);
    other.connect();
    EXPECT_EQ(other.open(root, "f", kOpenBoth, 0, true, "other").status, Nfs4Status::kOk);
    EXPECT_EQ(add_session(other, 2), 8u);
  }
  Bytes root;
};

TEST_F(LimitsTest, TheClientThatWasHeardOfLongestAgoAndHoldsNothingGivesWay) {
  CompoundCaller first(port, "first"), unconfirmed(port, "unconfirmed");
  first.connect();
  auto exchanged = unconfirmed.exchange();
  exchanged.next(42);
  unconfirmed.client = exchanged.in.u64();
  const auto holder = holder_of_state("holder");
  for (int i = 3; i < kClientsPerPeer; ++i) {
    CompoundCaller idle(port, "idle " + std::to_string(i));
    idle.connect();
  }
  EXPECT_EQ(exchange("one more"), Nfs4Status::kOk);
  EXPECT_EQ(unconfirmed.create_session(unconfirmed.client, 1).status, Nfs4Status::kStaleClientId);
  EXPECT_TRUE(first.call({}).ok());
  CompoundCaller another(port, "another");
  another.connect();  // in the place of "one more"
  CompoundCaller last(port, "last");
  last.connect();
  EXPECT_TRUE(first.call({}).ok());
  EXPECT_TRUE(holder->call({}).ok());
  EXPECT_EQ(metric("stoa_nfs4_clients"), kClientsPerPeer + 0u);
  EXPECT_EQ(metric("stoa_nfs4_refused_for_room_total"), 0u);
}

TEST_F(LimitsTest, ClientsWithStateStayAndOtherAddressesGetIn) {
  const auto first = holder_of_state("first");
  for (int i = 1; i < kClientsPerPeer; ++i) holder_of_state("holder " + std::to_string(i));
  EXPECT_EQ(exchange("one more"), Nfs4Status::kDelay);
  auto again = first->exchange();
  EXPECT_TRUE(again.ok());  // it is there already
  EXPECT_EQ(CompoundCaller(port, "4.0")
                .send(Ops().op(35).u64(1).string("4.0").u32(1).string("tcp").string("127.0.0.1.0.1").u32(1), 0)
                .status,
            Nfs4Status::kResource);
  expect_others_get_in();
  EXPECT_EQ(metric("stoa_nfs4_refused_for_room_total"), 2u);
  const auto mine = first->open(root, "g", kOpenBoth, 0, true, "first");
  EXPECT_EQ(mine.status, Nfs4Status::kOk);
}

TEST_F(LimitsTest, SessionsOfOneClientAndOfOneAddress) {
  std::vector<std::unique_ptr<CompoundCaller>> clients;
  for (int i = 0; i < kSessionsPerPeer / kSessionsPerClient; ++i) {
    clients.push_back(holder_of_state("client " + std::to_string(i)));
    for (std::uint32_t number = 2; number <= kSessionsPerClient; ++number)
      EXPECT_EQ(add_session(*clients.back(), number), 8u);
  }
  add_session(*clients.front(), kSessionsPerClient + 1, Nfs4Status::kNoSpc);
  CompoundCaller more(port, "more");
  auto exchanged = more.exchange();
  ASSERT_TRUE(exchanged.ok());
  exchanged.next(42);
  more.client = exchanged.in.u64();
  add_session(more, 1, Nfs4Status::kNoSpc);
  expect_others_get_in();
  ASSERT_TRUE(clients.back()->call(Ops().op(44).fixed(clients.back()->session)).ok());
  EXPECT_EQ(add_session(more, 1), 8u);
}

TEST_F(LimitsTest, TheLastSessionOfAnAddressGetsTheSlotsThatAreLeft) {
  std::vector<std::unique_ptr<CompoundCaller>> clients;
  const auto odd = holder_of_state("odd", 7);
  int slots = 7;
  std::uint32_t number = kSessionsPerClient;
  while (slots + kSlotsMax <= kSlotsPerPeer) {
    if (number == kSessionsPerClient) {
      clients.push_back(holder_of_state("client " + std::to_string(slots), 1000));
      number = 1;
    } else {
      EXPECT_EQ(add_session(*clients.back(), ++number), kSlotsMax + 0u);
    }
    slots += kSlotsMax;
  }
  EXPECT_EQ(add_session(*clients.back(), number + 1), static_cast<std::uint32_t>(kSlotsPerPeer - slots));
  add_session(*odd, 2, Nfs4Status::kNoSpc);
  expect_others_get_in();
}

}  // namespace
}  // namespace stoa::test
