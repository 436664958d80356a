// RPCSEC_GSS with Kerberos of a real KDC: the three services, and refusals.
#include <chrono>
#include <thread>

#include "tests/frontends/nfs/kerberos/kerberos_fixture.h"

namespace stoa::test {
namespace {

using rpc::GssService;

constexpr std::array kServices{GssService::kNone, GssService::kIntegrity, GssService::kPrivacy};
enum : std::uint32_t { kCredentialProblem = 13, kContextProblem = 14 };

class KerberosServiceTest : public KerberosTest {};

TEST_F(KerberosServiceTest, FilesAreWrittenAndReadWithEachService) {
  const Handle root = root_of("test");
  const std::string cache = kdc()->login("ann");
  for (const GssService service : kServices) {
    Ticket ann(port, cache, service);
    ASSERT_TRUE(ann.made && ann.made->major == 0);
    ASSERT_TRUE(ann.context.complete()) << "the server has proven itself, too";
    ASSERT_TRUE(ann.mount("/test").ok());

    const std::string name = "by" + std::to_string(static_cast<int>(service));
    Xdr create;
    create.opaque(root).string(name).u32(1);
    put(create, {.mode = 0600});
    auto made = ann.nfs3(kCreate, create);
    ASSERT_TRUE(made.ok()) << static_cast<int>(made.status);
    ASSERT_TRUE(made.in.boolean());
    const auto bytes = made.in.opaque(64);
    const Handle file(bytes.begin(), bytes.end());
    EXPECT_EQ(read_post_op(made.in)->uid, 1001u);

    // All sizes that are read and written in different ways: in place, by another worker, without a copy.
    for (const std::uint32_t size : {1u, 3u, 5000u, 13'497u, 16'815u, 21'915u, 65'535u, 70'001u, 1u << 20}) {
      Bytes data(size);
      for (std::uint32_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 31 + size);
      auto written = ann.nfs3(kWrite, Xdr().opaque(file).u64(0).u32(size).u32(2).opaque(data));
      ASSERT_TRUE(written.ok());
      auto read = ann.nfs3(kRead, Xdr().opaque(file).u64(0).u32(size));
      ASSERT_TRUE(read.ok());
      read_post_op(read.in);
      EXPECT_EQ(read.in.u32(), size);
      read.in.boolean();
      const auto back = read.in.opaque(1 << 20);
      ASSERT_TRUE(std::ranges::equal(back, data)) << size;
    }
    auto results = ann.compound(Ops().putfh(file).op(10));
    EXPECT_TRUE(results.ok());
    const auto gone = ann.caller.destroy();
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->accept_status, 0u);
    const auto after = ann.nfs3(kGetattr, Xdr().opaque(root));
    EXPECT_EQ(after.reply.auth_status, kCredentialProblem);
  }
}

TEST_F(KerberosServiceTest, WhatWasChangedOnTheWayIsRefused) {
  const Handle root = root_of("test");
  const std::string cache = kdc()->login("ann");
  for (const GssService service : kServices) {
    Ticket ann(port, cache, service);
    EXPECT_EQ(ann.nfs3(kGetattr, Xdr().opaque(root), {.bad_mic = true}).reply.auth_status, kCredentialProblem);
    EXPECT_EQ(ann.nfs3(kGetattr, Xdr().opaque(root), {.sequence = 0x8000'0001}).reply.auth_status, kContextProblem);
    ann.caller.sequence = 100;
    if (service != GssService::kNone) {
      EXPECT_EQ(ann.nfs3(kGetattr, Xdr().opaque(root), {.bad_body = true}).reply.accept_status, 4u);
      EXPECT_EQ(ann.nfs3(kGetattr, Xdr().opaque(root), {.inner_sequence = 9}).reply.accept_status, 4u);
    }
    // A replay gets no answer: the next call's is the next one.
    const CallSpec getattr{.xid = 77, .program = 100003, .version = 3, .procedure = kGetattr};
    const Bytes record = ann.caller.encode_call(getattr, Xdr().opaque(root));
    const std::uint32_t sequence = ann.caller.sequence;
    ASSERT_TRUE(ann.wire.send_record(record));
    ASSERT_TRUE(ann.caller.read_reply(sequence));
    ASSERT_TRUE(ann.wire.send_record(record));
    EXPECT_TRUE(ann.nfs3(kGetattr, Xdr().opaque(root)).ok());
  }
}

TEST_F(KerberosServiceTest, TokensForOthersAndNoTokensMakeNoContext) {
  const std::string cache = kdc()->login("ann");
  Ticket ann(port, cache, GssService::kNone);
  ASSERT_TRUE(ann.made);
  const auto refused = [&](std::span<const std::byte> token) {
    const auto result = ann.caller.init(token);
    ASSERT_TRUE(result);
    EXPECT_NE(result->major, 0u);
    EXPECT_TRUE(result->handle.empty());
    EXPECT_EQ(result->window, 0u);
  };
  refused({});
  refused(Bytes(1000, std::byte{0x60}));
  // A key that the server does not have.
  kdc()->login("host/elsewhere");
  Initiator other(cache, "host@elsewhere");
  const auto token = other.step();
  ASSERT_TRUE(token);
  refused(*token);
  // A good token with one bit changed.
  Initiator again(cache, "nfs@localhost");
  Bytes changed = *again.step();
  changed[changed.size() - 20] ^= std::byte{1};
  refused(changed);
  EXPECT_EQ(metric("stoa_nfs_gss_contexts"), 1u);
}

TEST_F(KerberosServiceTest, WhatIsRefusedIsToldToAudit) {
  audit_denials();
  const Handle root = root_of("test");
  const std::string cache = kdc()->login("ann");
  Ticket ann(port, cache, GssService::kIntegrity);
  ASSERT_TRUE(ann.nfs3(kGetattr, Xdr().opaque(root)).ok());
  EXPECT_TRUE(refusals().empty());
  // A ticket that is not good, a call that was changed on the way, one of a context that there is not.
  Initiator again(cache, "nfs@localhost");
  Bytes changed = *again.step();
  changed[changed.size() - 20] ^= std::byte{1};
  WireClient wire(port);
  GssCaller forger(wire, ann.context, GssService::kNone, {.program = 100003, .version = 3});
  ASSERT_NE(forger.init(changed)->major, 0u);
  EXPECT_EQ(ann.nfs3(kGetattr, Xdr().opaque(root), {.bad_mic = true}).reply.auth_status, kCredentialProblem);
  EXPECT_EQ(ann.nfs3(kGetattr, Xdr().opaque(root), {.bad_body = true}).reply.accept_status, 4u);
  ASSERT_TRUE(ann.caller.destroy());
  EXPECT_EQ(ann.nfs3(kGetattr, Xdr().opaque(root)).reply.auth_status, kCredentialProblem);
  const std::vector<std::string> told = refusals();
  ASSERT_EQ(told.size(), 4u);
  EXPECT_TRUE(told[0].starts_with(": RPCSEC_GSS token: GSS error ")) << told[0];
  EXPECT_EQ(told[1], ": RPCSEC_GSS call: its context is not known, or its verifier is wrong");
  EXPECT_EQ(told[2], ": RPCSEC_GSS call: its arguments are not what was signed");
  EXPECT_EQ(told[3], told[1]);
}

TEST_F(KerberosServiceTest, AContextEndsWithTheTicket) {
  const Handle root = root_of("test");
  const std::string cache = kdc()->login("shortly", "4s");
  Ticket shortly(port, cache, GssService::kIntegrity);
  ASSERT_TRUE(shortly.made && shortly.made->major == 0) << "within the life of the ticket";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto result = shortly.nfs3(kGetattr, Xdr().opaque(root));
    if (result.reply.reply_status == 1) {
      EXPECT_EQ(result.reply.auth_status, kContextProblem);
      return;
    }
    ASSERT_TRUE(result.ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  FAIL() << "it lives on";
}

TEST_F(KerberosServiceTest, WithoutAKeytabThereIsNoKerberos) {
  server.reset();
  options.keytab.clear();
  start_protocol();
  const std::string cache = kdc()->login("ann");
  Ticket ann(port, cache, GssService::kNone);
  EXPECT_FALSE(ann.made);
  EXPECT_EQ(ann.caller.last_reply.auth_status, 1u) << "AUTH_BADCRED";
  // And a keytab that is none stops the start.
  options.keytab = "/nonexistent/keytab";
  const auto started =
      nfs::NfsServer::start(options, volume->ns(), volume->state(), volume->registry(), volume->handles(), metrics);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Errc::kInvalid);
  EXPECT_NE(describe(started.error()).find("/nonexistent/keytab"), std::string::npos);
}

}  // namespace
}  // namespace stoa::test
