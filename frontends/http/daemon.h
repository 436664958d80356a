// A libmicrohttpd daemon on one listening socket.
#pragma once

#include <microhttpd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "frontends/http/certificate.h"
#include "frontends/http/listener.h"

namespace stoa::http {

// All callbacks with their closure; they may come from several threads. Null: the library's own way.
struct Callbacks {
  void* closure;
  MHD_AcceptPolicyCallback accept = nullptr;
  MHD_AccessHandlerCallback request;
  void* (*uri)(void* closure, const char* uri, MHD_Connection* connection);
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection;
};

struct DaemonOptions {
  std::string name;               // of the server, for the log
  unsigned flags;                 // of the library: how it uses threads
  std::uint32_t connections_max;  // including those that were cut off and have not gone yet
  std::chrono::seconds idle_timeout;
  std::vector<MHD_OptionItem> items{};  // others of the library, without an end
};

class Daemon {
 public:
  // Serves until it is destroyed. With TLS when the certificate has a chain. Targets reach the callbacks with their
  // escapes. kInvalid: the certificate cannot be used; kIo.
  static Result<std::unique_ptr<Daemon>> start(const Listener& listener, const Certificate& certificate,
                                               DaemonOptions options, const Callbacks& callbacks);
  // Ends all connections; a suspended one must have been resumed.
  ~Daemon();
  Daemon(const Daemon&) = delete;

  // Accepts no more; connections go on. Idempotent, but not thread-safe.
  void stop_listening();

 private:
  Daemon(Listener listener, std::string name) : listener_(std::move(listener)), name_(std::move(name)) {}
  static void log(void* self, const char* format, va_list arguments);

  // Ours: while the library serves, it may still look at the socket after it has stopped listening.
  const Listener listener_;
  const std::string name_;
  MHD_Daemon* daemon_ = nullptr;
  bool listening_ = true;
};

// The object that the callback `connection` has put into its context. Null: nothing yet.
template <class Context>
Context* context_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == nullptr ? nullptr : static_cast<Context*>(info->socket_context);
}
int socket_of(MHD_Connection* connection);               // -1: it has none
const sockaddr* address_of(MHD_Connection* connection);  // null: unknown

}  // namespace stoa::http
