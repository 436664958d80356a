#include "frontends/nfs/nfs_server.h"

#include <vector>

#include "base/log.h"
#include "frontends/nfs/export_access.h"
#include "frontends/nfs/mount/program.h"
#include "frontends/nfs/rpc/portmapper.h"
#include "frontends/nfs/v3/program.h"
#include "frontends/nfs/v4/program.h"

namespace stoa::nfs {

struct NfsServer::Parts {
  Parts(core::Namespace& ns, core::StateTable& state, const core::HandleCodec& handles, MetricRegistry& metrics,
        const NfsServerOptions& options)
      : nfs3(ns, handles), nfs4(ns, state, handles, metrics, options.lease_clock), mount3(ns, handles) {}

  nfs3::Nfs3Program nfs3;
  nfs4::Nfs4Program nfs4;
  mount3::MountProgram mount3;
  std::uint16_t portmapper_port = 0;
  std::vector<rpc::PortMapping> registered;
  std::unique_ptr<rpc::Server> server;  // last: it goes first
};

Result<std::unique_ptr<NfsServer>> NfsServer::start(const NfsServerOptions& options, core::Namespace& ns,
                                                    core::StateTable& state, core::Registry& registry,
                                                    const core::HandleCodec& handles,
                                                    MetricRegistry& metrics) {
  auto parts = std::make_unique<Parts>(ns, state, handles, metrics, options);
  rpc::ServerOptions wanted{.listen = {{options.address, options.port}},
                            .workers = options.workers,
                            .limits = options.limits,
                            .duplicates = options.duplicates};
  if (options.mount_port) wanted.listen.push_back({options.address, *options.mount_port});
  rpc::Service service{
      .programs = {&parts->nfs3, &parts->nfs4, &parts->mount3},
      .make_scope = [&registry] { return std::make_unique<ExportAccess>(registry); },
      .settle = [&ns](const core::Unsettled& unsettled) { return ns.settle({}, unsettled); },
      .payload_offset = nfs3::write_payload_offset,
  };
  STOA_TRY(server, rpc::Server::start(wanted, std::move(service), metrics));
  parts->server = std::move(server);
  std::unique_ptr<NfsServer> nfs(new NfsServer(std::move(parts)));
  if (options.register_ports) {
    nfs->parts_->portmapper_port = options.portmapper_port;
    for (const rpc::PortMapping& mapping :
         {rpc::PortMapping{nfs3::kNfsProgram, nfs3::kNfsVersion, nfs->port()},
          rpc::PortMapping{nfs4::kNfsProgram, nfs4::kNfsVersion, nfs->port()},
          rpc::PortMapping{mount3::kMountProgram, mount3::kMountVersion, nfs->mount_port()}}) {
      STOA_CHECK_OK(rpc::register_port(mapping, options.portmapper_port));
      nfs->parts_->registered.push_back(mapping);
    }
  }
  log_info("nfs", "serving NFS versions 3 and 4",
           {{"address", options.address}, {"port", nfs->port()}, {"mount_port", nfs->mount_port()}});
  return nfs;
}

NfsServer::NfsServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
NfsServer::~NfsServer() {
  stop();
}

std::uint16_t NfsServer::port() const {
  return parts_->server->ports().front();
}
std::uint16_t NfsServer::mount_port() const {
  return parts_->server->ports().back();
}

bool NfsServer::drain(std::chrono::milliseconds patience) {
  return parts_->server->drain(patience);
}

void NfsServer::stop() {
  for (const rpc::PortMapping& mapping : parts_->registered) {
    if (const Status gone = rpc::unregister_port(mapping, parts_->portmapper_port); !gone) {
      log_warning("nfs", "the portmapper still names this server", {{"error", describe(gone.error())}});
    }
  }
  parts_->registered.clear();
  parts_->server->stop();
}

}  // namespace stoa::nfs
