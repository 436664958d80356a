// What the TLS connections of a server, or of a client, have in common.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"

struct ssl_ctx_st;

namespace stoa::tls {

// Immutable, thread-safe; connections keep what they need of it, so it may go before they do.
class Context {
 public:
  // PEM texts: the certificate and those that it stands on, and its key without a passphrase. kInvalid: one is none, or
  // they do not belong together.
  static Result<std::shared_ptr<const Context>> server(const std::string& chain, const std::string& key);
  // `verify`: the server must show a certificate for its name, from an authority of `ca_file` (PEM; empty: those that
  // the system trusts). Without, any certificate will do: the caller proves the channel by its binding. kInvalid: the
  // file has no certificate.
  static Result<std::shared_ptr<const Context>> client(bool verify, const std::string& ca_file);

  bool verifies() const { return verifies_; }
  ssl_ctx_st* get() const { return context_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  using Pointer = std::unique_ptr<ssl_ctx_st, Free>;
  Context(Pointer context, bool verifies) : context_(std::move(context)), verifies_(verifies) {}
  static Result<Pointer> make(bool server);

  const Pointer context_;
  const bool verifies_;
};

}  // namespace stoa::tls
