#include "frontends/http/daemon.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace stoa::http {
namespace {

// Versions before TLS 1.2 are deprecated (RFC 8996).
constexpr const char* kTlsPriorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

// After the library's decoding an encoded '/' could not be told from a real one.
std::size_t keep_escapes(void*, MHD_Connection*, char* text) {
  return std::strlen(text);
}

}  // namespace

void Daemon::log(void* self, const char* format, va_list arguments) {
  char line[512];
  // The format comes from the library, never from a client.
  (void)std::vsnprintf(line, sizeof line, format, arguments);
  std::string_view text(line);
  while (text.ends_with('\n')) text.remove_suffix(1);
  log_debug(static_cast<Daemon*>(self)->name_, text);
}

Result<std::unique_ptr<Daemon>> Daemon::start(const Listener& listener, const Certificate& certificate,
                                              DaemonOptions options, const Callbacks& callbacks) {
  STOA_TRY(own, listener.duplicate());
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(own), std::move(options.name)));
  const bool tls = !certificate.chain.empty();
  unsigned flags = options.flags | MHD_USE_ERROR_LOG;
  if (listener.ipv6()) flags |= MHD_USE_IPv6;
  std::vector<MHD_OptionItem>& items = options.items;
  if (tls) {
    flags |= MHD_USE_TLS;
    // The library copies all three.
    items.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(certificate.chain.c_str())});
    items.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(certificate.key.c_str())});
    items.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char*>(kTlsPriorities)});
  }
  items.push_back({MHD_OPTION_END, 0, nullptr});
  void* const closure = callbacks.closure;
  daemon->daemon_ =
      MHD_start_daemon(flags, 0, callbacks.accept, closure, callbacks.request, closure,                     //
                       MHD_OPTION_LISTEN_SOCKET, daemon->listener_.fd(),                                    //
                       MHD_OPTION_EXTERNAL_LOGGER, &Daemon::log, daemon.get(),                              //
                       MHD_OPTION_URI_LOG_CALLBACK, callbacks.uri, closure,                                 //
                       MHD_OPTION_UNESCAPE_CALLBACK, &keep_escapes, nullptr,                                //
                       MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, closure,                           //
                       MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, closure,                         //
                       MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(options.connections_max),         //
                       MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(options.idle_timeout.count()),  //
                       MHD_OPTION_ARRAY, items.data(), MHD_OPTION_END);
  if (daemon->daemon_ != nullptr) return daemon;
  if (!tls) return fail(Errc::kIo, "the HTTP server could not be started");
  return fail(Errc::kInvalid, "the HTTP server could not be started with its certificate and key");
}

Daemon::~Daemon() {
  if (daemon_ == nullptr) return;
  stop_listening();  // else the library would close our socket
  MHD_stop_daemon(daemon_);
}

void Daemon::stop_listening() {
  if (std::exchange(listening_, false)) (void)MHD_quiesce_daemon(daemon_);
}

int socket_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : info->connect_fd;
}

const sockaddr* address_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == nullptr ? nullptr : info->client_addr;
}

}  // namespace stoa::http
