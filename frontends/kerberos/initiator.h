// The client's half of a Kerberos context, with mutual authentication.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace stoa::kerberos {

// One thread at a time.
class Initiator {
 public:
  Initiator();
  ~Initiator();
  Initiator(const Initiator&) = delete;

  // The token for SERVICE at HOST, bound to `bindings` (application data of RFC 2743 1.1.6). With the tickets that the
  // environment names: KRB5CCNAME, else KRB5_CLIENT_KTNAME, else where krb5.conf has them. May ask the KDC, and so
  // block for the time that krb5.conf allows it. kNotFound: the realm has no such service; kAccess: no ticket, or it
  // has expired; kIo: no KDC; each with a sentence that says what to do.
  Result<std::vector<std::byte>> begin(const std::string& service, const std::string& host,
                                       std::span<const std::byte> bindings);
  // The server's answer to it. kAccess: the server does not prove to have the service's key.
  Status finish(std::span<const std::byte> token);
  // Once finished: whether the server has signed `message`.
  bool verify_mic(std::span<const std::byte> message, std::span<const std::byte> mic);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace stoa::kerberos
