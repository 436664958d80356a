#include "frontends/nfs/rpc/server.h"

#include "frontends/nfs/rpc/call_handler.h"
#include "frontends/nfs/rpc/rpc_protocol.h"
#include "frontends/wire/server.h"

namespace stoa::rpc {

struct Server::Parts {
  Parts(const ServerOptions& options, Service service, MetricRegistry& metrics)
      : protocol(options, std::move(service), metrics) {}
  RpcProtocol protocol;
  std::unique_ptr<wire::Server<RpcProtocol>> server{};  // last: it goes first
};

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Service service, MetricRegistry& metrics) {
  auto parts = std::make_unique<Parts>(options, std::move(service), metrics);
  STOA_TRY(server, wire::Server<RpcProtocol>::start(
                       {.name = "nfs", .listen = options.listen, .workers = options.workers, .limits = options.limits},
                       parts->protocol, metrics));
  parts->server = std::move(server);
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() = default;

std::vector<std::uint16_t> Server::ports() const {
  return parts_->server->ports();
}
bool Server::connected(const std::array<std::uint8_t, 16>& address) const {
  return parts_->server->connected(address);
}
bool Server::drain(std::chrono::milliseconds patience) {
  return parts_->server->drain(patience);
}
void Server::stop() {
  parts_->server->stop();
}

}  // namespace stoa::rpc
