// The client's half of a Kerberos context.
#pragma once

#include <gssapi/gssapi.h>

#include <optional>
#include <string>

#include "frontends/nfs/rpc/gss_contexts.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::test {

class Initiator final : public rpc::GssContext {
 public:
  // `cache`: of Kdc::login(); `service`: as "nfs@localhost".
  Initiator(const std::string& cache, const std::string& service);
  ~Initiator() override;

  // The next token for the server; empty when there is none. Empty: it cannot go on.
  std::optional<Bytes> step(std::span<const std::byte> token = {});
  bool complete() const { return complete_; }

  // A client accepts no context.
  rpc::GssStep accept(std::span<const std::byte>) override { return {.major = GSS_S_UNAVAILABLE}; }
  bool verify_mic(std::span<const std::byte> message, std::span<const std::byte> mic) override;
  bool append_mic(std::span<const std::byte> message, rpc::ReplyBuffer& out) override;
  bool unwrap(std::span<const std::byte> token, std::vector<std::byte>& message) override;
  bool append_wrapped(std::span<const std::byte> message, rpc::ReplyBuffer& out) override;

 private:
  gss_cred_id_t credential_ = GSS_C_NO_CREDENTIAL;
  gss_ctx_id_t context_ = GSS_C_NO_CONTEXT;
  gss_name_t target_ = GSS_C_NO_NAME;
  bool complete_ = false;
};

}  // namespace stoa::test
