#include "appliance/daemon/native_protocol.h"

#include "appliance/config/endpoint.h"
#include "appliance/data_folder/secret_file.h"
#include "base/log.h"
#include "frontends/http/certificate.h"
#include "frontends/native/server/native_server.h"

namespace stoa::appliance {
namespace {

// Clients send again what got no reply.
constexpr std::chrono::seconds kNativePatience{10};

class NativeProtocol final : public Protocol {
 public:
  NativeProtocol(std::unique_ptr<native::NativeServer> server, std::string host, http::Certificate shown)
      : server_(std::move(server)), host_(std::move(host)), shown_(std::move(shown)) {}
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

  Status reload(const Config& config) override {
    if (shown_.chain.empty()) return {};  // it was started without
    const Config::Native& files = config.native;
    STOA_CHECK_OK(check_secret_file(files.tls_key));
    STOA_TRY(renewed, http::read_renewed_certificate(shown_, files.tls_certificate, files.tls_key));
    if (!renewed) return {};
    STOA_TRY(context, tls::Context::server(renewed->chain, renewed->key));
    server_->renew(std::move(context));
    shown_ = *std::move(renewed);
    log_info("native", "serving with the renewed certificate");
    return {};
  }

 private:
  std::unique_ptr<native::NativeServer> server_;
  std::string host_;
  http::Certificate shown_;  // empty: no TLS is offered
};

}  // namespace

Result<std::unique_ptr<Protocol>> open_native_protocol(const Config& config, core::Volume& volume,
                                                       const HostKeyFile& host_keys, MetricRegistry& metrics) {
  STOA_TRY(endpoint, parse_endpoint(config.native.listen));
  native::NativeServerOptions options{.address = endpoint.host, .port = endpoint.port};
  options.scheduler = &volume.scheduler();
  options.lease = std::chrono::seconds(config.nfs.lease_seconds);
  options.keytab = config.nfs.keytab;
  http::Certificate shown;
  if (!config.native.tls_certificate.empty()) {
    STOA_TRY(read, http::read_certificate(config.native.tls_certificate, config.native.tls_key));
    STOA_TRY(context, tls::Context::server(read.chain, read.key));
    shown = std::move(read);
    options.tls = std::move(context);
    options.tls_required = config.native.tls == "required";
  }
  auto server =
      native::NativeServer::start(options, volume.ns(), volume.state(), volume.registry(), host_keys, metrics);
  if (!server) {
    return fail(server.error().code, "the native server cannot start at " + config.native.listen + ": " +
                                         describe(server.error()) +
                                         "; see native.listen (--native-listen) and nfs.keytab (--nfs-keytab)");
  }
  return std::unique_ptr<Protocol>(
      std::make_unique<NativeProtocol>(*std::move(server), endpoint.host, std::move(shown)));
}

}  // namespace stoa::appliance
