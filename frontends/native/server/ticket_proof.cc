#include "frontends/native/server/ticket_proof.h"

#include "frontends/native/protocol/message.h"

namespace stoa::native {
namespace {

// No user on record has a longer one.
constexpr std::size_t kPrincipalBytesMax = 256;

TicketVerdict refused(WireStatus status, std::string_view reason) {
  return {.status = status, .reason = reason};
}

TicketVerdict refused(kerberos::GssRefusal why) {
  switch (why) {
    case kerberos::GssRefusal::kExpired:
      return refused(WireStatus::ticket_expired, "the ticket has expired");
    case kerberos::GssRefusal::kClockSkew:
      return refused(WireStatus::clock_skew, "the clocks differ too much for Kerberos");
    case kerberos::GssRefusal::kNoKey:
      return refused(WireStatus::no_key_for_ticket, "the keytab has no key for the ticket");
    case kerberos::GssRefusal::kOther:
      break;
  }
  return refused(WireStatus::ticket_refused, "wrong ticket");
}

}  // namespace

TicketVerdict judge_ticket(kerberos::GssMechanism& mechanism, std::span<const std::byte> token, const Digest& said) {
  if (token.empty() || token.size() > kTokenBytesMax) return refused(kerberos::GssRefusal::kOther);
  TicketVerdict verdict{.context = mechanism.begin(said)};
  kerberos::GssStep step = verdict.context->accept(token);
  if (step.major != kerberos::GssStep::kComplete)
    return refused(step.major == kerberos::GssStep::kContinueNeeded ? kerberos::GssRefusal::kOther : step.why);
  if (step.token.empty()) return refused(kerberos::GssRefusal::kOther);
  if (step.lifetime.count() <= 0) return refused(kerberos::GssRefusal::kExpired);
  if (step.principal.size() > kPrincipalBytesMax)
    return refused(WireStatus::no_user, "no user has a principal of this length");
  verdict.principal = std::move(step.principal);
  verdict.lifetime = step.lifetime;
  verdict.token = std::move(step.token);
  return verdict;
}

}  // namespace stoa::native
