// Whether the connections of a client speak TLS, and how they begin.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "frontends/native/client/client_login.h"
#include "frontends/native/client/connection.h"
#include "frontends/native/client/tls_wish.h"
#include "frontends/tls/context.h"

namespace stoa::native {

struct Entered {
  std::shared_ptr<ClientConnection> connection;
  Welcome welcome;
};

// Thread-safe.
class ChannelSecurity {
 public:
  // kInvalid: the file of authorities has none.
  static Result<std::unique_ptr<ChannelSecurity>> make(TlsWish wish, const std::string& ca_file);

  // A fresh connection, with TLS if that is required, or was offered before.
  Result<std::unique_ptr<ClientConnection>> open(const std::string& host, std::uint16_t port,
                                                 std::chrono::milliseconds patience);
  // Logs in on it; or, when the server turns out to offer TLS, on a new one with TLS. Errors as open() and log_in().
  Result<Entered> enter(std::unique_ptr<ClientConnection> connection, const std::string& host, std::uint16_t port,
                        std::chrono::milliseconds patience, const ClientKey& key, LoginWish wish,
                        std::chrono::milliseconds& wait);
  // Whether a refusal of plain calls is answered by a new connection, which will have TLS.
  bool may_start_tls() const { return wish_ != TlsWish::kOff; }

 private:
  ChannelSecurity(TlsWish wish, std::shared_ptr<const tls::Context> context)
      : wish_(wish), context_(std::move(context)) {}

  const TlsWish wish_;
  const std::shared_ptr<const tls::Context> context_;
  std::atomic<bool> offered_{false};  // by the server, as it last said
};

}  // namespace stoa::native
