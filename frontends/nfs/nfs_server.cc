#include "frontends/nfs/nfs_server.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/log.h"
#include "frontends/kerberos/keytab_mechanism.h"
#include "frontends/nfs/export_access.h"
#include "frontends/nfs/mount/program.h"
#include "frontends/nfs/nlm/program.h"
#include "frontends/nfs/nsm/program.h"
#include "frontends/nfs/nsm/restart_notice.h"
#include "frontends/nfs/rpc/datagram_server.h"
#include "frontends/nfs/rpc/portmapper.h"
#include "frontends/nfs/rpc/universal_address.h"
#include "frontends/nfs/rquota/program.h"
#include "frontends/nfs/v3/program.h"
#include "frontends/nfs/v4/program.h"
#include "frontends/wire/peer.h"

namespace stoa::nfs {
namespace {

std::size_t write_payload_offset(std::span<const std::byte> prefix) {
  const std::size_t offset = nfs3::write_payload_offset(prefix);
  return offset != 0 ? offset : nfs4::write_payload_offset(prefix);
}

// The server's address, if that is IPv6; "::" takes IPv4 as well.
std::optional<rpc::UniversalAddress> ipv6_address(const std::string& listen) {
  const auto address = rpc::parse_universal_address(listen + ".0.0", true);
  return address && !wire::is_ipv4(address->host) ? address : std::nullopt;
}

}  // namespace

struct NfsServer::Parts {
  Parts(core::Namespace& ns, core::StateTable& state, const core::HandleCodec& handles, MetricRegistry& metrics,
        const NfsServerOptions& options)
      : caller(dialer, options.client_portmapper_port),
        nfs3(ns, handles),
        nfs4(ns, state, handles, dialer, metrics, options.lease_clock, options.stateids, options.lease),
        mount3(ns, handles),
        nlm4(ns, state, handles, caller,
             {.of_file = [this](core::FileId file) { return nfs4.clients().end_expired(file); },
              .with_lock = [this](core::HolderId holder) { return nfs4.clients().end_expired(holder); }},
             metrics, options.lease_clock),
        rquota2(ns),
        nsm1(nsm::state_of_start(state.start_number()),
             [this](const rpc::Peer& peer, std::string_view name, std::uint32_t monitor_state) {
               nlm4.hosts().restarted(peer.address, name, monitor_state);
             }) {}
  ~Parts() {
    nlm4.know_connections(nullptr);
    dialer.stop();
  }

  IdentityRules identity;
  std::unique_ptr<kerberos::KeytabMechanism> kerberos;
  rpc::Dialer dialer;
  rpc::RemoteCaller caller;
  nfs3::Nfs3Program nfs3;
  nfs4::Nfs4Program nfs4;
  mount3::MountProgram mount3;
  nlm::NlmProgram nlm4;
  rquota::RquotaProgram rquota2;
  nsm::NsmProgram nsm1;
  std::unique_ptr<nsm::RestartNotice> restart_notice;
  std::uint16_t portmapper_port = 0;
  std::vector<rpc::PortMapping> registered;
  std::unique_ptr<rpc::DatagramServer> datagrams;
  std::unique_ptr<rpc::Server> server;  // last: it goes first
};

Result<std::unique_ptr<NfsServer>> NfsServer::start(const NfsServerOptions& options, core::Namespace& ns,
                                                    core::StateTable& state, core::Registry& registry,
                                                    const core::HandleCodec& handles, MetricRegistry& metrics) {
  auto parts = std::make_unique<Parts>(ns, state, handles, metrics, options);
  parts->identity.id_domain = options.id_domain;
  if (!options.keytab.empty()) {
    STOA_TRY(opened, kerberos::KeytabMechanism::open(options.keytab));
    parts->kerberos = std::move(opened);
    parts->identity.kerberos = true;
    parts->identity.realm = parts->kerberos->realm();
  }
  rpc::ServerOptions wanted{.listen = {{options.address, options.port}},
                            .workers = options.workers,
                            .limits = options.limits,
                            .duplicates = options.duplicates};
  if (options.mount_port) wanted.listen.push_back({options.address, *options.mount_port});
  const auto make_access = [&registry, &rules = parts->identity] {
    return std::make_unique<ExportAccess>(registry, rules);
  };
  rpc::Service service{
      .programs = rpc::programs_of<ExportAccess>(
          {&parts->nfs3, &parts->nfs4, &parts->mount3, &parts->nlm4, &parts->nsm1, &parts->rquota2}, make_access),
      .sync = [&ns](const core::PendingDurability& pending) { return ns.sync({}, pending); },
      .payload_offset = write_payload_offset,
      .scheduler = options.scheduler,
      .state = &state,
      .gss = parts->kerberos.get(),
      .report_refused =
          [&ns](const rpc::Peer& peer, std::string_view request, std::string_view reason) {
            ns.refused({.protocol = core::Protocol::kNfs, .client = peer.text},
                       {.request = request, .reason = reason, .claimed = {}});
          },
  };
  STOA_TRY(server, rpc::Server::start(wanted, std::move(service), metrics));
  parts->server = std::move(server);
  parts->nlm4.know_connections(
      [&connected = *parts->server](const nlm::Address& address) { return connected.connected(address); });
  std::unique_ptr<NfsServer> nfs(new NfsServer(std::move(parts)));
  Parts& made = *nfs->parts_;
  if (options.register_ports) {
    STOA_TRY(datagrams, rpc::DatagramServer::start({options.address, options.port == 0 ? options.port : nfs->port()},
                                                   {.programs = rpc::programs_of<ExportAccess>(
                                                        {&made.nlm4, &made.nsm1, &made.rquota2}, make_access)},
                                                   metrics));
    made.datagrams = std::move(datagrams);
    made.portmapper_port = options.portmapper_port;
    const std::uint16_t udp_port = made.datagrams->port();
    const std::optional<rpc::UniversalAddress> ipv6 = ipv6_address(options.address);
    for (rpc::PortMapping mapping : {rpc::PortMapping{nfs3::kNfsProgram, nfs3::kNfsVersion, nfs->port()},
                                     rpc::PortMapping{nfs4::kNfsProgram, nfs4::kNfsVersion, nfs->port()},
                                     rpc::PortMapping{mount3::kMountProgram, mount3::kMountVersion, nfs->mount_port()},
                                     rpc::PortMapping{nlm::kNlmProgram, nlm::kNlmVersion, nfs->port()},
                                     rpc::PortMapping{nlm::kNlmProgram, nlm::kNlmVersion, udp_port, true},
                                     rpc::PortMapping{nsm::kNsmProgram, nsm::kNsmVersion, nfs->port()},
                                     rpc::PortMapping{nsm::kNsmProgram, nsm::kNsmVersion, udp_port, true},
                                     rpc::PortMapping{rquota::kRquotaProgram, rquota::kFirstVersion, nfs->port()},
                                     rpc::PortMapping{rquota::kRquotaProgram, rquota::kFirstVersion, udp_port, true},
                                     rpc::PortMapping{rquota::kRquotaProgram, rquota::kVersion, nfs->port()},
                                     rpc::PortMapping{rquota::kRquotaProgram, rquota::kVersion, udp_port, true}}) {
      const auto tell = [&]() -> Status {
        STOA_CHECK_OK(rpc::register_port(mapping, options.portmapper_port));
        made.registered.push_back(mapping);
        return {};
      };
      const bool both = ipv6 && ipv6->host == std::array<std::uint8_t, 16>{};
      if (!ipv6 || both) STOA_CHECK_OK(tell());
      if (!ipv6) continue;
      mapping.ipv6 = to_text(rpc::UniversalAddress{ipv6->host, mapping.port});
      STOA_CHECK_OK(tell());
    }
  }
  // Once clients can find us: the notice makes them ask for their locks.
  std::vector<nlm::Address> clients;
  for (const nlm::Hosts::Known& client : made.nlm4.hosts().to_notify()) clients.push_back(client.address);
  made.restart_notice =
      std::make_unique<nsm::RestartNotice>(std::move(clients), nsm::state_of_start(state.start_number()), made.caller);
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

std::vector<ClientStatus> NfsServer::clients() const {
  std::vector<ClientStatus> all = parts_->nlm4.hosts().list();
  std::ranges::move(parts_->nfs4.clients().list(), std::back_inserter(all));
  return all;
}

Status NfsServer::evict(core::HolderId client) {
  const Status host = parts_->nlm4.hosts().evict(client);
  if (host || host.error().code != Errc::kNotFound) return host;
  return parts_->nfs4.clients().evict(client);
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
  parts_->dialer.stop();
  parts_->restart_notice.reset();
  parts_->datagrams.reset();
  parts_->server->stop();
}

}  // namespace stoa::nfs
