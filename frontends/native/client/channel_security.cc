#include "frontends/native/client/channel_security.h"

namespace stoa::native {

Result<std::unique_ptr<ChannelSecurity>> ChannelSecurity::make(TlsWish wish, const std::string& ca_file) {
  std::shared_ptr<const tls::Context> context;
  if (wish != TlsWish::kOff) {
    STOA_TRY(made, tls::Context::client(wish == TlsWish::kRequired, ca_file));
    context = std::move(made);
  }
  return std::unique_ptr<ChannelSecurity>(new ChannelSecurity(wish, std::move(context)));
}

Result<std::unique_ptr<ClientConnection>> ChannelSecurity::open(const std::string& host, std::uint16_t port,
                                                                std::chrono::milliseconds patience) {
  STOA_TRY(connection, ClientConnection::open(host, port, patience));
  if (wish_ != TlsWish::kRequired && !offered_.load()) return std::move(connection);
  if (const Status started = connection->start_tls(*context_, host, patience); !started) {
    // A server that was set up anew without TLS says so in its challenge, under the proof of the key.
    offered_.store(false);
    return fail(started.error());
  }
  return std::move(connection);
}

Result<Entered> ChannelSecurity::enter(std::unique_ptr<ClientConnection> connection, const std::string& host,
                                       std::uint16_t port, std::chrono::milliseconds patience, const ClientKey& key,
                                       LoginWish wish, std::chrono::milliseconds& wait) {
  wish.host = host;
  bool offered = false;
  if (wish_ == TlsWish::kOffered && connection->binding().empty()) wish.offers_tls = &offered;
  auto welcome = log_in(*connection, key, wish, wait);
  if (offered) {
    offered_.store(true);
    STOA_TRY(secured, open(host, port, patience));
    connection = std::move(secured);
    wish.offers_tls = nullptr;
    welcome = log_in(*connection, key, wish, wait);
  }
  if (!welcome) return fail(welcome.error());
  return Entered{std::move(connection), *welcome};
}

}  // namespace stoa::native
