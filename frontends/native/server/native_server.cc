#include "frontends/native/server/native_server.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "frontends/kerberos/keytab_mechanism.h"
#include "frontends/native/server/message_handler.h"
#include "frontends/native/server/native_protocol.h"
#include "frontends/wire/server.h"

namespace stoa::native {

struct NativeServer::Parts {
  Parts(const NativeServerOptions& options, core::Namespace& ns, core::StateTable& state, core::Registry& registry,
        const HostKeys& host_keys, std::unique_ptr<kerberos::KeytabMechanism> opened, MetricRegistry& metrics)
      : security(options.tls_required, options.tls),
        keytab(std::move(opened)),
        protocol(ns, state, registry, host_keys, options.scheduler, options.lease, security,
                 {keytab.get(), keytab == nullptr ? std::string{} : keytab->realm()}, metrics) {}

  // The life of the thread that ends silent sessions.
  void keep_sessions(const std::stop_token& stop) {
    const auto every = std::max<std::chrono::seconds>(protocol.sessions.lease() / 4, std::chrono::seconds(1));
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, stop, every, [&stop] { return stop.stop_requested(); })) {
      lock.unlock();
      protocol.sessions.end_silent(wire::Clock::now());
      lock.lock();
    }
  }

  ServerSecurity security;
  const std::unique_ptr<kerberos::KeytabMechanism> keytab;  // null: there is none
  NativeProtocol protocol;
  std::unique_ptr<wire::Server<NativeProtocol>> server;
  std::mutex mutex;  // guards nothing but the sleep of the thread
  std::condition_variable_any wake;
  std::jthread keeper;  // last: it goes first
};

Result<std::unique_ptr<NativeServer>> NativeServer::start(const NativeServerOptions& options, core::Namespace& ns,
                                                          core::StateTable& state, core::Registry& registry,
                                                          const HostKeys& host_keys, MetricRegistry& metrics) {
  std::unique_ptr<kerberos::KeytabMechanism> keytab;
  if (!options.keytab.empty()) {
    STOA_TRY(opened, kerberos::KeytabMechanism::open(options.keytab));
    keytab = std::move(opened);
  }
  auto parts = std::make_unique<Parts>(options, ns, state, registry, host_keys, std::move(keytab), metrics);
  STOA_TRY(server, wire::Server<NativeProtocol>::start({.name = "native",
                                                        .listen = {{options.address, options.port}},
                                                        .workers = options.workers,
                                                        .limits = options.limits},
                                                       parts->protocol, metrics));
  parts->server = std::move(server);
  parts->keeper = std::jthread([&made = *parts](const std::stop_token& stop) { made.keep_sessions(stop); });
  std::unique_ptr<NativeServer> native(new NativeServer(std::move(parts)));
  log_info("native", "serving the native protocol", {{"address", options.address}, {"port", native->port()}});
  return native;
}

NativeServer::NativeServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
NativeServer::~NativeServer() {
  stop();
}

std::uint16_t NativeServer::port() const {
  return parts_->server->ports().front();
}

std::vector<NativeClientStatus> NativeServer::clients() const {
  std::vector<NativeClientStatus> all;
  const auto now = wire::Clock::now();
  for (const auto& session : parts_->protocol.sessions.list()) {
    const wire::Clock::time_point heard{wire::Clock::duration(session->heard_ns.load())};
    all.push_back({.id = session->holder,
                   .address = session->peer,
                   .name = session->key.principal.text(),
                   .held = parts_->protocol.opens.held_by(session->holder),
                   .silent = std::chrono::duration_cast<std::chrono::seconds>(now - heard)});
  }
  return all;
}

Status NativeServer::evict(core::HolderId client) {
  for (const auto& session : parts_->protocol.sessions.list()) {
    if (session->holder != client) continue;
    parts_->protocol.sessions.end(*session);
    return {};
  }
  return fail(Errc::kNotFound);
}

void NativeServer::renew(std::shared_ptr<const tls::Context> tls) {
  parts_->security.renew(std::move(tls));
}

bool NativeServer::drain(std::chrono::milliseconds patience) {
  return parts_->server->drain(patience);
}

void NativeServer::stop() {
  if (parts_->keeper.joinable()) {
    parts_->keeper.request_stop();
    parts_->keeper.join();
  }
  parts_->protocol.sessions.stop_recalls();
  parts_->server->stop();
}

}  // namespace stoa::native
