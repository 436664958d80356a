// RPCSEC_GSS on the server (RFC 2203) with a test mechanism: contexts, the sequence window, the three services, denied,
// dropped and malformed calls, and duplicates of wrapped calls.
#include "frontends/nfs/rpc/gss_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "frontends/nfs/rpc/server.h"
#include "tests/frontends/nfs/gss_caller.h"
#include "tests/frontends/nfs/no_scope.h"
#include "tests/frontends/nfs/toy_mechanism.h"

namespace stoa::rpc {
namespace {

using test::Bytes;
using test::CallSpec;
using test::GssCaller;
using test::ToyContext;
using test::WireClient;
using test::Xdr;

constexpr std::uint32_t kToy = 400'000;
constexpr std::uint32_t kBulkMax = 1 << 20;
enum ToyProcedure : std::uint32_t { kNull = 0, kWho = 1, kCount = 2, kBulk = 3 };
enum : std::uint32_t { kBadCredential = 1, kBadVerifier = 3, kCredentialProblem = 13, kContextProblem = 14 };

// WHO: returns the principal, and the text that was sent; COUNT: a change that is not idempotent; BULK: returns this
// many bytes, without a copy.
class ToyProgram final : public test::PlainProgram {
 public:
  std::uint32_t number() const override { return kToy; }
  std::string_view name() const override { return "toy"; }
  std::uint32_t version_low() const override { return 1; }
  std::uint32_t version_high() const override { return 1; }
  std::span<const Procedure> procedures() const override {
    static constexpr std::array<Procedure, 4> kList{{{"null"}, {"who"}, {"count", false}, {"bulk"}}};
    return kList;
  }
  CostClass cost_class(const CallHeader& header) const override {
    constexpr CostClass kList[] = {CostClass::kMemory, CostClass::kMemory, CostClass::kChange, CostClass::kHeavy};
    return kList[header.procedure];
  }
  Outcome run(const test::PlainCall& call, Reply& reply) override {
    XdrReader in(call.header.arguments);
    switch (call.header.procedure) {
      case kWho: {
        const auto text = in.string(100'000);
        if (!in.ok() || in.left() != 0) return {.accept = AcceptStatus::kGarbageArguments};
        reply.out.string(call.header.credential.principal);
        reply.out.u32(static_cast<std::uint32_t>(call.header.credential.service));
        reply.out.string(text);
        return {};
      }
      case kCount:
        reply.out.u32(++count);
        if (call.pending != nullptr) call.pending->add(core::ShardId{}, core::CommitTicket{count.load()});
        return {};
      case kBulk: {
        const std::uint32_t size = std::min(in.u32(), kBulkMax);
        reply.out.u32(size);
        if (!reply.takes_slices) {
          reply.out.fixed(Bytes(padded(size), std::byte{7}));
          return {};
        }
        auto memory = std::make_shared<Bytes>(size, std::byte{7});
        reply.slices.push_back({.bytes = *memory, .length = size, .keep = memory});
        reply.slice_bytes = size;
        return {};
      }
      default:
        return {};
    }
  }
  void encode_not_durable(const CallHeader&, Errc, XdrWriter& out) override { out.u32(999); }
  std::atomic<std::uint32_t> count{0};
};

class GssServerTest : public testing::Test {
 protected:
  void start(const GssLimits& limits = {}) {
    Service service{.programs = test::plain_programs({&toy_}),
                    .sync = [this](const core::PendingDurability&) -> Status {
                      if (store_failed_) return fail(Errc::kIo, "the disk is gone");
                      return {};
                    },
                    .gss = &mechanism_,
                    .report_refused =
                        [this](const Peer& peer, std::string_view request, std::string_view reason) {
                          EXPECT_EQ(peer.text, "127.0.0.1");
                          const std::lock_guard lock(told_mutex_);
                          told_.push_back(std::string(request) + ": " + std::string(reason));
                        }};
    auto server = Server::start({.gss = limits}, std::move(service), metrics_);
    ASSERT_TRUE(server) << describe(server.error());
    server_ = std::move(*server);
    port_ = server_->ports().front();
  }
  static CallSpec spec(std::uint32_t procedure, std::uint32_t xid = 1) {
    return {.xid = xid, .program = kToy, .version = 1, .procedure = procedure};
  }
  static Bytes token(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    return {bytes.begin(), bytes.end()};
  }
  double contexts() {
    const std::string text = metrics_.render();
    return std::stod(text.substr(text.find("\nstoa_nfs_gss_contexts ") + 23));
  }
  // No answer: the next call is answered first.
  static void expect_dropped(WireClient& wire, GssCaller& caller, const Bytes& record) {
    ASSERT_TRUE(wire.send_record(record));
    const auto next = caller.call(spec(kNull, 4711));
    ASSERT_TRUE(next);
    EXPECT_EQ(next->xid, 4711u);
  }

  std::vector<std::string> told() {
    const std::lock_guard lock(told_mutex_);
    return std::exchange(told_, {});
  }

  std::mutex told_mutex_;
  std::vector<std::string> told_;
  MetricRegistry metrics_;
  ToyProgram toy_;
  test::ToyMechanism mechanism_;
  std::atomic<bool> store_failed_{false};
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

// A client with a context of "ann".
struct Ann {
  explicit Ann(std::uint16_t port, GssService service = GssService::kNone)
      : wire(port), caller(wire, context, service, {.program = kToy, .version = 1}) {
    made = caller.init(std::as_bytes(std::span("ann", 3)));
  }
  WireClient wire;
  ToyContext context{"ann"};
  GssCaller caller;
  std::optional<test::GssInitResult> made;
};

void expect_denied(const std::optional<test::WireReply>& reply, std::uint32_t why) {
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->reply_status, 1u);
  EXPECT_EQ(reply->reject_status, 1u);
  EXPECT_EQ(reply->auth_status, why);
}

TEST_F(GssServerTest, MakesAContextAndAnswersWithAVerifierOfTheWindow) {
  start();
  Ann ann(port_);
  ASSERT_TRUE(ann.made);
  EXPECT_EQ(ann.made->major, 0u);
  EXPECT_EQ(ann.made->handle.size(), 16u);
  EXPECT_EQ(ann.made->window, 128u);
  EXPECT_EQ(ann.made->token, Bytes{std::byte{2}});
  EXPECT_EQ(ann.caller.last_reply.verifier_flavor, 6u);
  EXPECT_TRUE(ann.context.verify_mic(Xdr().u32(128).bytes(), ann.caller.last_reply.verifier));
  Ann other(port_);
  EXPECT_NE(ann.made->handle, other.made->handle);
  EXPECT_EQ(contexts(), 2);
}

TEST_F(GssServerTest, EachServiceBringsArgumentsAndResultsAcross) {
  start();
  for (const GssService service : {GssService::kNone, GssService::kIntegrity, GssService::kPrivacy}) {
    Ann ann(port_, service);
    for (const std::size_t length : {0, 1, 5, 90'000}) {
      const std::string text(length, 'x');
      const auto reply = ann.caller.call(spec(kWho), Xdr().string(text));
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->results, Xdr().string("ann").u32(static_cast<std::uint32_t>(service)).string(text).bytes());
    }
    for (const std::uint32_t size : {0u, 3u, 70'000u, kBulkMax}) {
      const auto reply = ann.caller.call(spec(kBulk), Xdr().u32(size));
      ASSERT_TRUE(reply);
      ASSERT_EQ(reply->results.size(), 4 + padded(size));
      EXPECT_EQ(load_be32(reply->results.data()), size);
      if (size > 0) {
        EXPECT_EQ(reply->results[4 + size / 2], std::byte{7});
      }
    }
  }
}

TEST_F(GssServerTest, OneContextMayBeUsedWithAnyServiceAndOnAnyConnection) {
  start();
  Ann ann(port_);
  WireClient other(port_);
  GssCaller there(other, ann.context, GssService::kPrivacy, {.program = kToy, .version = 1});
  there.handle = ann.caller.handle;
  there.sequence = 50;
  const auto reply = there.call(spec(kWho), Xdr().string("x"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->results, Xdr().string("ann").u32(3).string("x").bytes());
}

TEST_F(GssServerTest, ErrorsOfTheRpcLayerHaveAVerifierToo) {
  start();
  for (const GssService service : {GssService::kNone, GssService::kIntegrity, GssService::kPrivacy}) {
    Ann ann(port_, service);
    auto wrong = spec(kNull);
    wrong.version = 9;
    auto reply = ann.caller.call(wrong);  // the caller checks the verifier
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->accept_status, 2u) << "PROG_MISMATCH";
    reply = ann.caller.call(spec(99));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->accept_status, 3u) << "PROC_UNAVAIL";
    reply = ann.caller.call(spec(kWho), Xdr().u32(5));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->accept_status, 4u) << "GARBAGE_ARGS of the program";
  }
}

TEST_F(GssServerTest, WhoDoesNotShowWellWhoHeIsIsTold) {
  start();
  Ann ann(port_, GssService::kIntegrity);
  EXPECT_TRUE(ann.caller.call(spec(kWho), Xdr().string("x")));
  expect_dropped(ann.wire, ann.caller, ann.caller.encode_call(spec(kNull), {}, {.sequence = 1}));  // a replay
  expect_denied(ann.caller.call(spec(kNull), {}, {.sequence = 0x8000'0001}), kContextProblem);  // an end like any other
  EXPECT_TRUE(told().empty());
  const std::string call = "RPCSEC_GSS call: its context is not known, or its verifier is wrong";
  WireClient wire(port_);
  GssCaller broken(wire, ann.context, GssService::kNone, {.program = kToy, .version = 1});
  EXPECT_EQ(broken.init(token("bad"))->major, 9u << 16);
  EXPECT_EQ(told(), std::vector<std::string>{"RPCSEC_GSS token: GSS error 9, minor 7"});
  expect_denied(ann.caller.call(spec(kNull), {}, {.sequence = 50, .bad_mic = true}), kCredentialProblem);
  EXPECT_EQ(told(), std::vector<std::string>{call});
  EXPECT_EQ(ann.caller.call(spec(kWho), Xdr().string("x"), {.sequence = 51, .bad_body = true})->accept_status, 4u);
  EXPECT_EQ(told(), std::vector<std::string>{"RPCSEC_GSS call: its arguments are not what was signed"});
  expect_denied(ann.caller.call(spec(kNull), {}, {.version = 2, .sequence = 52}), kBadCredential);
  EXPECT_EQ(told(), std::vector<std::string>{"RPC call: its credential or verifier is not one that this server takes"});
  ann.caller.handle[0] ^= std::byte{1};
  expect_denied(ann.caller.call(spec(kNull), {}, {.sequence = 53}), kCredentialProblem);
  EXPECT_EQ(told(), std::vector<std::string>{call});
}

TEST_F(GssServerTest, AContextOfSeveralStepsIsGoodOnlyAfterTheLast) {
  start();
  WireClient wire(port_);
  ToyContext context("ann");
  GssCaller caller(wire, context, GssService::kNone, {.program = kToy, .version = 1});
  const auto first = caller.init(token("more ann"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->major, 1u);
  EXPECT_EQ(first->handle.size(), 16u);
  EXPECT_EQ(caller.last_reply.verifier_flavor, 0u);
  expect_denied(caller.call(spec(kNull)), kCredentialProblem);
  const auto second = caller.init(token("ann"), true);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->major, 0u);
  EXPECT_EQ(second->handle, first->handle);
  EXPECT_TRUE(caller.call(spec(kNull)));
  // Complete is complete.
  EXPECT_FALSE(caller.init(token("ann"), true));
  EXPECT_EQ(caller.last_reply.auth_status, kCredentialProblem);
  EXPECT_TRUE(caller.call(spec(kNull)));
}

TEST_F(GssServerTest, ATokenThatIsRefusedLeavesNothingBehind) {
  start();
  WireClient wire(port_);
  ToyContext context("ann");
  GssCaller caller(wire, context, GssService::kNone, {.program = kToy, .version = 1});
  auto result = caller.init(token("bad"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->major, 9u << 16);
  EXPECT_EQ(result->minor, 7u);
  EXPECT_TRUE(result->handle.empty());
  EXPECT_EQ(caller.last_reply.verifier_flavor, 0u);
  EXPECT_EQ(contexts(), 0);
  ASSERT_TRUE(caller.init(token("more ann")));
  EXPECT_EQ(contexts(), 1);
  result = caller.init(token("bad"), true);
  ASSERT_TRUE(result);
  EXPECT_NE(result->major, 0u);
  EXPECT_EQ(contexts(), 0);
  caller.handle = Bytes(16);
  EXPECT_FALSE(caller.init(token("ann"), true));
  EXPECT_EQ(caller.last_reply.auth_status, kCredentialProblem);
}

TEST_F(GssServerTest, WhatMakesAContextMustBeInOrder) {
  start();
  WireClient wire(port_);
  const auto credential = [](std::uint32_t procedure, const Bytes& handle) {
    return Xdr().u32(1).u32(procedure).u32(0).u32(0).opaque(handle).bytes();
  };
  CallSpec s = spec(kNull);
  s.auth_flavor = 6;
  s.auth_body = credential(1, {});
  auto reply = wire.call(s, Xdr().u32(400));  // a token that is not there
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->accept_status, 4u);
  reply = wire.call(s, Xdr().string("ann").u32(0));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->accept_status, 4u);
  s.procedure = kWho;  // on anything but NULL
  expect_denied(wire.call(s, Xdr().string("ann")), kBadCredential);
  s.procedure = kNull;
  s.verifier_flavor = 1;
  expect_denied(wire.call(s, Xdr().string("ann")), kBadVerifier);
  s.verifier_flavor = 0;
  s.auth_body = credential(1, Bytes(16));
  expect_denied(wire.call(s, Xdr().string("ann")), kBadCredential);
  s.auth_body = Xdr().u32(1).u32(1).u32(0).u32(0).opaque(Bytes{}).u32(0).bytes();
  expect_denied(wire.call(s, Xdr().string("ann")), kBadCredential);
  s.auth_body = Xdr().u32(1).u32(1).u32(0).bytes();
  expect_denied(wire.call(s, Xdr().string("ann")), kBadCredential);
  EXPECT_EQ(contexts(), 0);
}

TEST_F(GssServerTest, CredentialsOfNoKindThatThereIsAreBad) {
  start();
  Ann ann(port_);
  for (const std::uint32_t version : {0u, 2u, 3u, 1024u})
    expect_denied(ann.caller.call(spec(kNull), {}, {.version = version}), kBadCredential);
  for (const std::uint32_t procedure : {4u, 5u, 1024u})
    expect_denied(ann.caller.call(spec(kNull), {}, {.procedure = procedure}), kBadCredential);
  for (const std::uint32_t service : {0u, 4u, 1024u})
    expect_denied(ann.caller.call(spec(kNull), {}, {.service = service}), kBadCredential);
  EXPECT_TRUE(ann.caller.call(spec(kNull)));
}

TEST_F(GssServerTest, AWrongVerifierOrHandleIsACredentialProblem) {
  start();
  Ann ann(port_);
  expect_denied(ann.caller.call(spec(kNull), {}, {.bad_mic = true}), kCredentialProblem);
  const Bytes handle = ann.caller.handle;
  for (Bytes wrong : {Bytes(16), Bytes{}, Bytes(15), Bytes(40)}) {
    ann.caller.handle = wrong;
    expect_denied(ann.caller.call(spec(kNull)), kCredentialProblem);
  }
  // Another one's handle with one's own key.
  ToyContext bobs("bob");
  GssCaller bob(ann.wire, bobs, GssService::kNone, {.program = kToy, .version = 1});
  ASSERT_TRUE(bob.init(token("bob")));
  ann.caller.handle = bob.handle;
  expect_denied(ann.caller.call(spec(kNull)), kCredentialProblem);
  // A verifier of another flavour.
  CallSpec s = spec(kNull);
  s.auth_flavor = 6;
  s.auth_body = Xdr().u32(1).u32(0).u32(9).u32(1).opaque(handle).bytes();
  expect_denied(ann.wire.call(s), kCredentialProblem);
  ann.caller.handle = handle;
  EXPECT_TRUE(ann.caller.call(spec(kNull)));
}

TEST_F(GssServerTest, AReplayIsDroppedAndSoIsWhatIsOlderThanTheWindow) {
  start();
  Ann ann(port_);
  const Bytes record = ann.caller.encode_call(spec(kCount, 9), {});
  ASSERT_TRUE(ann.wire.send_record(record));
  ASSERT_TRUE(ann.caller.read_reply(ann.caller.sequence));
  expect_dropped(ann.wire, ann.caller, record);
  EXPECT_EQ(toy_.count, 1u);
  // Numbers may come in any order within the window, each once.
  ASSERT_TRUE(ann.caller.call(spec(kNull), {}, {.sequence = 500}));
  ASSERT_TRUE(ann.caller.call(spec(kNull), {}, {.sequence = 373}));
  EXPECT_TRUE(ann.caller.call(spec(kNull), {}, {.sequence = 499}));
  std::uint32_t next = 500;
  for (const std::uint32_t sequence : {373u, 372u, 10u, 499u, 500u}) {
    const Bytes old = ann.caller.encode_call(spec(kNull, 1), {}, {.sequence = sequence});
    ann.caller.sequence = next++;
    expect_dropped(ann.wire, ann.caller, old);
  }
}

TEST_F(GssServerTest, ASequenceNumberBeyondTheLastIsAContextProblem) {
  start();
  Ann ann(port_);
  ASSERT_TRUE(ann.caller.call(spec(kNull), {}, {.sequence = 0x8000'0000}));
  expect_denied(ann.caller.call(spec(kNull), {}, {.sequence = 0x8000'0001}), kContextProblem);
  expect_denied(ann.caller.call(spec(kNull), {}, {.sequence = ~0u}), kContextProblem);
}

TEST_F(GssServerTest, ACallWithAWrongVerifierUsesUpNoSequenceNumber) {
  start();
  Ann ann(port_);
  expect_denied(ann.caller.call(spec(kNull), {}, {.sequence = 77, .bad_mic = true}), kCredentialProblem);
  EXPECT_TRUE(ann.caller.call(spec(kNull), {}, {.sequence = 77}));
}

TEST_F(GssServerTest, ABodyThatWasChangedIsGarbage) {
  start();
  for (const GssService service : {GssService::kIntegrity, GssService::kPrivacy}) {
    Ann ann(port_, service);
    auto reply = ann.caller.call(spec(kCount), {}, {.bad_body = true});
    ASSERT_TRUE(reply) << "with a verifier that is right";
    EXPECT_EQ(reply->accept_status, 4u);
    reply = ann.caller.call(spec(kCount), {}, {.inner_sequence = 5000});
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->accept_status, 4u);
    // The header has another service than that of the body.
    for (const std::uint32_t said : {2u, 3u}) {
      if (said == static_cast<std::uint32_t>(service)) continue;
      reply = ann.caller.call(spec(kCount), {}, {.service = said});
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->accept_status, 4u);
    }
  }
  EXPECT_EQ(toy_.count, 0u);
}

TEST_F(GssServerTest, ADestroyedContextIsGone) {
  start();
  for (const GssService service : {GssService::kNone, GssService::kIntegrity, GssService::kPrivacy}) {
    Ann ann(port_, service);
    expect_denied(ann.caller.call(spec(kNull), {}, {.procedure = 3, .bad_mic = true}), kCredentialProblem);
    EXPECT_TRUE(ann.caller.call(spec(kNull)));
    const auto gone = ann.caller.destroy();
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->accept_status, 0u);
    EXPECT_TRUE(gone->results.empty());
    expect_denied(ann.caller.call(spec(kNull)), kCredentialProblem);
    expect_denied(ann.caller.destroy(), kCredentialProblem);
  }
  EXPECT_EQ(contexts(), 0);
}

TEST_F(GssServerTest, AContextEndsWithItsTicket) {
  mechanism_.lifetime = std::chrono::seconds(0);
  start();
  Ann ann(port_);
  ASSERT_TRUE(ann.made);
  expect_denied(ann.caller.call(spec(kNull)), kContextProblem);
  expect_denied(ann.caller.call(spec(kNull)), kCredentialProblem);
  EXPECT_EQ(contexts(), 0);
}

TEST_F(GssServerTest, ACallSentAgainWithAnotherSequenceNumberIsNotRunTwice) {
  start();
  for (const GssService service : {GssService::kNone, GssService::kIntegrity, GssService::kPrivacy}) {
    Ann ann(port_, service);
    const std::uint32_t xid = 1000 + static_cast<std::uint32_t>(service);
    const std::uint32_t before = toy_.count;
    const auto first = ann.caller.call(spec(kCount, xid));
    ASSERT_TRUE(first);
    EXPECT_EQ(first->results, Xdr().u32(before + 1).bytes());
    const auto again = ann.caller.call(spec(kCount, xid));
    ASSERT_TRUE(again) << "wrapped anew, for the new number";
    EXPECT_EQ(again->results, first->results);
    EXPECT_EQ(toy_.count, before + 1);
    // The same call of another user is another call.
    ToyContext bobs("bob");
    GssCaller bob(ann.wire, bobs, service, {.program = kToy, .version = 1});
    ASSERT_TRUE(bob.init(token("bob")));
    EXPECT_EQ(bob.call(spec(kCount, xid))->results, Xdr().u32(before + 2).bytes());
  }
}

TEST_F(GssServerTest, SaysSoWhenAChangeIsNotDurable) {
  start();
  Ann ann(port_, GssService::kPrivacy);
  store_failed_ = true;
  const auto reply = ann.caller.call(spec(kCount));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->results, Xdr().u32(999).bytes());
}

TEST_F(GssServerTest, CallsOfOneReceiveAreEachWrappedForThemselves) {
  start();
  Ann ann(port_, GssService::kPrivacy);
  Bytes stream;
  std::vector<std::uint32_t> sequences;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const Bytes arguments = i % 3 == 1 ? Xdr().string("x").bytes() : i % 3 == 2 ? Xdr().u32(100'000).bytes() : Bytes{};
    const std::uint32_t procedure = i % 3 == 0 ? kCount : i % 3 == 1 ? kWho : kBulk;
    const Bytes record = ann.caller.encode_call(spec(procedure, i), arguments);
    const Bytes framed = Xdr().u32(0x8000'0000u | static_cast<std::uint32_t>(record.size())).raw(record).bytes();
    stream.insert(stream.end(), framed.begin(), framed.end());
    sequences.push_back(ann.caller.sequence);
  }
  ASSERT_TRUE(ann.wire.send_raw(stream));
  std::vector<bool> seen(60);
  for (int i = 0; i < 60; ++i) {
    const auto record = ann.wire.receive_record();
    ASSERT_TRUE(record);
    const auto reply = WireClient::parse(*record);
    ASSERT_TRUE(reply);
    ASSERT_LT(reply->xid, 60u);
    ASSERT_FALSE(seen[reply->xid]);
    seen[reply->xid] = true;
    EXPECT_TRUE(ann.context.verify_mic(Xdr().u32(sequences[reply->xid]).bytes(), reply->verifier));
  }
  EXPECT_EQ(toy_.count, 20u);
}

TEST_F(GssServerTest, TooManyContextsCostTheOldestOfThatAddress) {
  start({.contexts_per_address_max = 3});
  Ann first(port_), second(port_), third(port_);
  EXPECT_TRUE(first.caller.call(spec(kNull)));  // used last
  Ann fourth(port_);
  EXPECT_EQ(contexts(), 3);
  EXPECT_TRUE(first.caller.call(spec(kNull)));
  EXPECT_TRUE(fourth.caller.call(spec(kNull)));
  expect_denied(second.caller.call(spec(kNull)), kCredentialProblem);
}

TEST_F(GssServerTest, ContextsThatAreNeverCompletedPushOutOnlyEachOther) {
  start({.forming_max = 2});
  Ann ann(port_);
  WireClient wire(port_);
  ToyContext context("bob");
  std::vector<Bytes> handles;
  for (int i = 0; i < 5; ++i) {
    GssCaller caller(wire, context, GssService::kNone, {.program = kToy, .version = 1});
    const auto begun = caller.init(token("more bob"));
    ASSERT_TRUE(begun);
    handles.push_back(begun->handle);
  }
  EXPECT_EQ(contexts(), 3);
  EXPECT_TRUE(ann.caller.call(spec(kNull)));
  GssCaller late(wire, context, GssService::kNone, {.program = kToy, .version = 1});
  late.handle = handles.front();
  EXPECT_FALSE(late.init(token("bob"), true));
  late.handle = handles.back();
  EXPECT_TRUE(late.init(token("bob"), true));
}

TEST(GssContextsTest, AddressesDoNotPushOutEachOtherAndForgottenBeginningsGo) {
  MetricRegistry metrics;
  GssContexts contexts(
      {.contexts_max = 100, .contexts_per_address_max = 2, .forming_timeout = std::chrono::seconds(30)}, metrics);
  const auto now = GssEntry::Clock::now();
  const auto add = [&](std::uint8_t address, std::chrono::seconds at, bool complete) {
    const auto entry = contexts.add({address}, std::make_unique<ToyContext>("x"), now + at);
    if (complete) contexts.establish(*entry, "x", now + std::chrono::seconds(1000));
    return entry->handle;
  };
  using std::chrono::seconds;
  const GssHandle one = add(1, seconds(0), true);
  for (int i = 0; i < 10; ++i) add(2, seconds(1), true);
  EXPECT_NE(contexts.find(one, now), nullptr);
  EXPECT_EQ(contexts.size(), 3u);
  const GssHandle begun = add(3, seconds(2), false);
  EXPECT_NE(contexts.find(begun, now), nullptr);
  add(4, seconds(60), true);
  EXPECT_EQ(contexts.find(begun, now), nullptr);
  EXPECT_NE(contexts.find(one, now), nullptr);
  add(5, seconds(2000), true);
  EXPECT_EQ(contexts.find(one, now), nullptr);
  EXPECT_EQ(contexts.size(), 1u);
}

TEST(GssWindowTest, TakesEachNumberOnceWithinTheWindow) {
  GssWindow window;
  EXPECT_TRUE(window.take(0));
  EXPECT_FALSE(window.take(0));
  EXPECT_TRUE(window.take(127));
  EXPECT_TRUE(window.take(1));
  EXPECT_TRUE(window.take(128));
  EXPECT_FALSE(window.take(0)) << "fell out";
  EXPECT_FALSE(window.take(1));
  EXPECT_TRUE(window.take(2));
  EXPECT_TRUE(window.take(0x8000'0000));
  EXPECT_FALSE(window.take(128));
  EXPECT_TRUE(window.take(0x8000'0000 - 127));
  EXPECT_FALSE(window.take(0x8000'0000 - 128));
}

}  // namespace
}  // namespace stoa::rpc
