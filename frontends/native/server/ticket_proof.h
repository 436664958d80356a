// The proof of a client that has a Kerberos ticket, as the server judges it.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "frontends/kerberos/gss_mechanism.h"
#include "frontends/native/protocol/login.h"
#include "frontends/native/protocol/status.h"

namespace stoa::native {

// What the server knows of Kerberos.
struct ServerTickets {
  kerberos::GssMechanism* mechanism = nullptr;  // null: there is no keytab
  std::string realm{};                          // principals of this realm are users by their name
};

struct TicketVerdict {
  WireStatus status = WireStatus::ok;  // else why the ticket is refused, and `reason` for audit
  std::string_view reason{};
  // With ok:
  std::string principal{};
  std::chrono::seconds lifetime{};  // not zero
  Bytes token{};                    // for the client
  std::unique_ptr<kerberos::GssContext> context{};
};

// Takes the client's token if it is bound to `said`, the digest of what was said before. One token each way: a
// mechanism that wants more is refused, and so is a client that does not ask for the server's proof. Takes
// milliseconds, and reads the keytab.
TicketVerdict judge_ticket(kerberos::GssMechanism& mechanism, std::span<const std::byte> token, const Digest& said);

}  // namespace stoa::native
