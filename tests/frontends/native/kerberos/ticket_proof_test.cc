// How the server judges what a mechanism says of a token.
#include "frontends/native/server/ticket_proof.h"

#include <gtest/gtest.h>

#include "frontends/native/protocol/message.h"

namespace stoa::test {
namespace {

using namespace native;  // NOLINT: of this protocol are all names here
using kerberos::GssRefusal;
using kerberos::GssStep;

// Answers any token with `step`.
class FixedMechanism final : public kerberos::GssMechanism {
 public:
  class Context final : public kerberos::GssContext {
   public:
    explicit Context(FixedMechanism& of) : of_(of) {}
    GssStep accept(std::span<const std::byte>) override {
      ++of_.asked;
      return of_.step;
    }
    bool verify_mic(std::span<const std::byte>, std::span<const std::byte>) override { return false; }
    bool append_mic(std::span<const std::byte>, wire::ReplyBuffer&) override { return false; }
    bool unwrap(std::span<const std::byte>, std::vector<std::byte>&) override { return false; }
    bool append_wrapped(std::span<const std::byte>, wire::ReplyBuffer&) override { return false; }

   private:
    FixedMechanism& of_;
  };
  std::unique_ptr<kerberos::GssContext> begin(std::span<const std::byte> bindings) override {
    bound.assign(bindings.begin(), bindings.end());
    return std::make_unique<Context>(*this);
  }
  GssStep step{.token = Bytes(1), .principal = "ann@R", .lifetime = std::chrono::seconds(1)};
  Bytes bound;
  int asked = 0;
};

class NativeTicketProof : public testing::Test {
 protected:
  WireStatus judged(std::size_t bytes = 1) {
    Digest said{};
    said[31] = std::byte{7};
    const TicketVerdict verdict = judge_ticket(mechanism, Bytes(bytes), said);
    EXPECT_EQ(verdict.reason.empty(), verdict.status == WireStatus::ok);
    return verdict.status;
  }
  FixedMechanism mechanism;
};

TEST_F(NativeTicketProof, IsTakenWhenAllIsThere) {
  EXPECT_EQ(judged(), WireStatus::ok);
  EXPECT_EQ(mechanism.bound.size(), sizeof(Digest));
  EXPECT_EQ(mechanism.bound.back(), std::byte{7});
}

TEST_F(NativeTicketProof, IsNoLargerThanTheLimit) {
  EXPECT_EQ(judged(0), WireStatus::ticket_refused);
  EXPECT_EQ(judged(kTokenBytesMax + 1), WireStatus::ticket_refused);
  EXPECT_EQ(mechanism.asked, 0);
  EXPECT_EQ(judged(kTokenBytesMax), WireStatus::ok);
}

TEST_F(NativeTicketProof, IsOneTokenEachWay) {
  mechanism.step.major = GssStep::kContinueNeeded;
  EXPECT_EQ(judged(), WireStatus::ticket_refused);
  mechanism.step.major = GssStep::kComplete;
  mechanism.step.token.clear();
  EXPECT_EQ(judged(), WireStatus::ticket_refused) << "the client does not want to know who the server is";
}

TEST_F(NativeTicketProof, SaysWhyItIsRefused) {
  mechanism.step.major = 1u << 16;
  const std::pair<GssRefusal, WireStatus> told[] = {{GssRefusal::kOther, WireStatus::ticket_refused},
                                                    {GssRefusal::kExpired, WireStatus::ticket_expired},
                                                    {GssRefusal::kClockSkew, WireStatus::clock_skew},
                                                    {GssRefusal::kNoKey, WireStatus::no_key_for_ticket}};
  for (const auto& [why, status] : told) {
    mechanism.step.why = why;
    EXPECT_EQ(judged(), status);
  }
}

TEST_F(NativeTicketProof, HasTimeLeftAndAPrincipalThatMayBeOnRecord) {
  mechanism.step.lifetime = {};
  EXPECT_EQ(judged(), WireStatus::ticket_expired);
  mechanism.step.lifetime = std::chrono::seconds(~0u);
  EXPECT_EQ(judged(), WireStatus::ok);
  mechanism.step.principal = std::string(256, 'a');
  EXPECT_EQ(judged(), WireStatus::ok);
  mechanism.step.principal += 'a';
  EXPECT_EQ(judged(), WireStatus::no_user);
}

}  // namespace
}  // namespace stoa::test
