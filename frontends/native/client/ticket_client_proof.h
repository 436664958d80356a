// The proof of a client that has Kerberos tickets.
#pragma once

#include <string>

#include "frontends/kerberos/initiator.h"
#include "frontends/native/client/client_proof.h"

namespace stoa::native {

class TicketClientProof final : public ClientProof {
 public:
  // The server is to prove to be stoa/HOST, or nfs/HOST where the realm does not know that.
  explicit TicketClientProof(std::string host) : host_(std::move(host)) {}
  Result<Bytes> make(std::initializer_list<std::span<const std::byte>> said,
                     std::span<const std::byte> binding) override;
  Status verify(const RecordView& shown, std::initializer_list<std::span<const std::byte>> said,
                std::span<const std::byte> binding) override;

 private:
  const std::string host_;
  kerberos::Initiator context_;
};

}  // namespace stoa::native
