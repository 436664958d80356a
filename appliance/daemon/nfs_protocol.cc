#include <unistd.h>

#include "appliance/config/endpoint.h"
#include "appliance/daemon/protocol.h"
#include "base/log.h"
#include "frontends/nfs/nfs_server.h"

namespace stoa::appliance {
namespace {

// Long enough for a large write to a slow disk; clients retransmit calls without a reply.
constexpr std::chrono::seconds kPatience{10};

std::string domain_of_machine() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "localdomain";
  const std::string_view host = name;
  const std::size_t dot = host.find('.');
  return dot == host.npos || dot + 1 == host.size() ? "localdomain" : std::string(host.substr(dot + 1));
}

class NfsProtocol final : public Protocol {
 public:
  NfsProtocol(std::unique_ptr<nfs::NfsServer> server, std::string host)
      : server_(std::move(server)), host_(std::move(host)) {}
  ~NfsProtocol() override {
    if (!server_->drain(kPatience))
      log_warning("nfs", "calls were left when the NFS server stopped; clients will send them again");
    server_->stop();
  }
  std::string name() const override { return "nfs"; }
  std::string address() const override { return Endpoint{host_, server_->port()}.to_text(); }
  std::string mount_address() const override { return Endpoint{host_, server_->mount_port()}.to_text(); }

  std::vector<admin::ClientStatus> clients() const override {
    std::vector<admin::ClientStatus> all;
    for (nfs::ClientStatus& client : server_->clients()) {
      all.push_back({.id = static_cast<std::uint64_t>(client.id),
                     .protocol = name(),
                     .version = std::string(client.protocol),
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
  std::unique_ptr<nfs::NfsServer> server_;
  std::string host_;
};

}  // namespace

Result<std::unique_ptr<Protocol>> open_nfs_protocol(const Config& config, core::Volume& volume,
                                                    MetricRegistry& metrics) {
  STOA_TRY(endpoint, parse_endpoint(config.nfs.listen));
  nfs::NfsServerOptions options{.address = endpoint.host, .port = endpoint.port};
  if (config.nfs.mount_port != 0) options.mount_port = static_cast<std::uint16_t>(config.nfs.mount_port);
  options.workers = static_cast<std::uint32_t>(config.nfs.workers);
  options.limits.connections_max = static_cast<std::uint32_t>(config.nfs.connections_max);
  options.lease = std::chrono::seconds(config.nfs.lease_seconds);
  options.scheduler = &volume.scheduler();
  options.register_ports = config.nfs.portmapper;
  options.keytab = config.nfs.keytab;
  options.id_domain = config.nfs.id_domain.empty() ? domain_of_machine() : config.nfs.id_domain;
  auto server =
      nfs::NfsServer::start(options, volume.ns(), volume.state(), volume.registry(), volume.handles(), metrics);
  if (!server) {
    return fail(server.error().code, "the NFS server cannot start at " + config.nfs.listen + ": " +
                                         describe(server.error()) +
                                         "; see nfs.listen (--nfs-listen) and nfs.keytab (--nfs-keytab)");
  }
  return std::unique_ptr<Protocol>(std::make_unique<NfsProtocol>(*std::move(server), endpoint.host));
}

}  // namespace stoa::appliance
