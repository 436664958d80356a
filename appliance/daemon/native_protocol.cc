#include "appliance/daemon/native_protocol.h"

#include "appliance/config/endpoint.h"
#include "base/log.h"
#include "frontends/native/server/native_server.h"

namespace stoa::appliance {
namespace {

// Clients send again what got no reply.
constexpr std::chrono::seconds kNativePatience{10};

class NativeProtocol final : public Protocol {
 public:
  NativeProtocol(std::unique_ptr<native::NativeServer> server, std::string host)
      : server_(std::move(server)), host_(std::move(host)) {}
  ~NativeProtocol() override {
    if (!server_->drain(kNativePatience))
      log_warning("native", "messages were left when the native server stopped; clients will send them again");
    server_->stop();
  }
  std::string name() const override { return "native"; }
  std::string address() const override { return Endpoint{host_, server_->port()}.to_text(); }

  std::vector<admin::ClientStatus> clients() const override {
    std::vector<admin::ClientStatus> all;
    for (native::NativeClientStatus& client : server_->clients()) {
      all.push_back({.id = static_cast<std::uint64_t>(client.id),
                     .protocol = name(),
                     .version = "native1",
                     .address = std::move(client.address),
                     .name = std::move(client.name),
                     .opens = client.held.opens,
                     .locks = client.held.locks,
                     .leases = client.held.leases,
                     .silent_seconds = client.silent.count()});
    }
    return all;
  }
  Status evict_client(std::uint64_t id) override { return server_->evict(core::HolderId{id}); }

 private:
  std::unique_ptr<native::NativeServer> server_;
  std::string host_;
};

}  // namespace

Result<std::unique_ptr<Protocol>> open_native_protocol(const Config& config, core::Volume& volume,
                                                       const HostKeyFile& host_keys, MetricRegistry& metrics) {
  STOA_TRY(endpoint, parse_endpoint(config.native.listen));
  native::NativeServerOptions options{.address = endpoint.host, .port = endpoint.port};
  options.scheduler = &volume.scheduler();
  options.lease = std::chrono::seconds(config.nfs.lease_seconds);
  auto server =
      native::NativeServer::start(options, volume.ns(), volume.state(), volume.registry(), host_keys, metrics);
  if (!server) {
    return fail(server.error().code, "the native server cannot start at " + config.native.listen + ": " +
                                         describe(server.error()) + "; see native.listen (--native-listen)");
  }
  return std::unique_ptr<Protocol>(std::make_unique<NativeProtocol>(*std::move(server), endpoint.host));
}

}  // namespace stoa::appliance
