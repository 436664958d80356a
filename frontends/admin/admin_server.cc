#include "frontends/admin/admin_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "frontends/admin/router.h"

namespace stoa::admin {
namespace {

constexpr std::size_t kBodyBytesMax = 1u << 20;

struct SocketCloser {
  int fd = -1;
  ~SocketCloser() {
    if (fd >= 0) close(fd);
  }
  int release() { return std::exchange(fd, -1); }
};

struct DaemonStopper {
  void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
};
using Daemon = std::unique_ptr<MHD_Daemon, DaemonStopper>;

// One request while it arrives.
struct Arrival {
  Request request;
  bool too_large = false;
  bool known_method = true;
};

MHD_Result collect_query(void* target, MHD_ValueKind, const char* key, const char* value) {
  auto& query = *static_cast<std::map<std::string, std::string>*>(target);
  query[percent_decode(key)] = value == nullptr ? "" : percent_decode(value);
  return MHD_YES;
}

// The router decodes by itself: after MHD's decoding an encoded '/' could not be told from a real one.
std::size_t keep_escapes(void*, MHD_Connection*, char* text) {
  return std::strlen(text);
}

void describe_client(MHD_Connection* connection, Request& request) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  const sockaddr* address = info == nullptr ? nullptr : info->client_addr;
  request.client = "unix";
  request.local = true;
  if (address == nullptr || address->sa_family == AF_UNIX) return;
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text, sizeof text);
  }
  request.client = text;
  request.local =
      request.client.starts_with("127.") || request.client == "::1" || request.client.starts_with("::ffff:127.");
}

MHD_Result send(MHD_Connection* connection, const Reply& reply, std::uint64_t id) {
  MHD_Response* response =
      MHD_create_response_from_buffer(reply.body.size(), const_cast<char*>(reply.body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  if (!reply.content_type.empty())
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply.content_type.c_str());
  if (!reply.allow.empty()) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply.allow.c_str());
  if (reply.status == 401) MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
  for (const auto& [name, value] : reply.headers) MHD_add_response_header(response, name.c_str(), value.c_str());
  if (reply.headers.empty()) MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(response, "X-Request-Id", std::to_string(id).c_str());
  const MHD_Result queued = MHD_queue_response(connection, reply.status, response);
  MHD_destroy_response(response);
  return queued;
}

class Server final : public AdminServer {
 public:
  explicit Server(Service& service) : service_(service) {}
  ~Server() override {
    tcp_.reset();
    unix_.reset();
    if (!socket_path_.empty()) unlink(socket_path_.c_str());
  }

  Status open(const ServerOptions& options) {
    if (!options.host.empty()) {
      STOA_TRY(fd, listen_tcp(options));
      STOA_CHECK_OK(serve(fd, options, tcp_));
    }
    if (!options.socket_path.empty()) {
      STOA_TRY(fd, listen_unix(options));
      socket_path_ = options.socket_path;
      STOA_CHECK_OK(serve(fd, options, unix_));
    }
    return {};
  }
  std::uint16_t port() const override { return port_; }

 private:
  Result<int> listen_tcp(const ServerOptions& options) {
    const bool v6 = options.host.find(':') != std::string::npos;
    sockaddr_storage storage{};
    socklen_t size = 0;
    if (v6) {
      auto* address = reinterpret_cast<sockaddr_in6*>(&storage);
      address->sin6_family = AF_INET6;
      address->sin6_port = htons(options.port);
      if (inet_pton(AF_INET6, options.host.c_str(), &address->sin6_addr) != 1)
        return fail(Errc::kInvalid, options.host + " is not an address");
      size = sizeof *address;
    } else {
      auto* address = reinterpret_cast<sockaddr_in*>(&storage);
      address->sin_family = AF_INET;
      address->sin_port = htons(options.port);
      if (inet_pton(AF_INET, options.host.c_str(), &address->sin_addr) != 1)
        return fail(Errc::kInvalid, options.host + " is not an address");
      size = sizeof *address;
    }
    SocketCloser socket{::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int on = 1;
    if (socket.fd < 0) return fail_errno(errno, "admin socket");
    setsockopt(socket.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const std::string where = options.host + " port " + std::to_string(options.port);
    if (bind(socket.fd, reinterpret_cast<sockaddr*>(&storage), size) != 0) {
      return fail(errno == EADDRINUSE ? Errc::kBusy
                  : errno == EACCES   ? Errc::kAccess
                                      : Errc::kIo,
                  "the admin interface cannot listen on " + where + ": " + std::strerror(errno) +
                      "; choose another with admin.listen");
    }
    if (listen(socket.fd, 64) != 0) return fail_errno(errno, "listen on " + where);
    getsockname(socket.fd, reinterpret_cast<sockaddr*>(&storage), &size);
    port_ = ntohs(v6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                     : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
    return socket.release();
  }

  static Result<int> listen_unix(const ServerOptions& options) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (options.socket_path.size() >= sizeof address.sun_path)
      return fail(Errc::kInvalid, "the path of the admin socket is longer than 107 bytes: " + options.socket_path);
    std::memcpy(address.sun_path, options.socket_path.data(), options.socket_path.size());
    SocketCloser socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (socket.fd < 0) return fail_errno(errno, "admin socket");
    struct stat old{};
    // Only ever a socket: a mistyped path must not cost a file.
    if (lstat(address.sun_path, &old) == 0 && S_ISSOCK(old.st_mode)) unlink(address.sun_path);
    if (bind(socket.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      return fail_errno(errno, "the admin interface cannot make the socket " + options.socket_path);
    }
    if (chmod(address.sun_path, options.socket_mode) != 0) return fail_errno(errno, "chmod " + options.socket_path);
    if (listen(socket.fd, 64) != 0) return fail_errno(errno, "listen on " + options.socket_path);
    return socket.release();
  }

  Status serve(int fd, const ServerOptions& options, Daemon& daemon) {
    daemon.reset(MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, nullptr, nullptr, &Server::on_request, this,
                                  MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, options.threads,
                                  MHD_OPTION_CONNECTION_LIMIT, options.connections_max, MHD_OPTION_CONNECTION_TIMEOUT,
                                  options.idle_seconds, MHD_OPTION_UNESCAPE_CALLBACK, &keep_escapes, nullptr,
                                  MHD_OPTION_NOTIFY_COMPLETED, &Server::on_completed, nullptr, MHD_OPTION_END));
    if (daemon) return {};
    close(fd);
    return fail(Errc::kIo, "the admin interface did not start");
  }

  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url, const char* method, const char*,
                               const char* upload, std::size_t* upload_size, void** state) {
    return static_cast<Server*>(self)->advance(connection, url, method, upload, upload_size, state);
  }

  static void on_completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
    delete static_cast<Arrival*>(*state);
    *state = nullptr;
  }

  // Called by MHD with the headers, with each piece of the body, and once more at the end.
  MHD_Result advance(MHD_Connection* connection, const char* url, const char* method, const char* upload,
                     std::size_t* upload_size, void** state) {
    auto* arrival = static_cast<Arrival*>(*state);
    if (arrival == nullptr) {
      auto fresh = std::make_unique<Arrival>();
      // MHD leaves the body away by itself (RFC 9110 9.3.2).
      const auto known = parse_method(method == std::string_view(MHD_HTTP_METHOD_HEAD) ? MHD_HTTP_METHOD_GET : method);
      fresh->known_method = known.has_value();
      fresh->request.method = known.value_or(Method::kGet);
      fresh->request.path = url;
      fresh->request.id = next_id_.fetch_add(1, std::memory_order_relaxed);
      *state = fresh.release();
      return MHD_YES;
    }
    if (*upload_size > 0) {
      arrival->too_large = arrival->too_large || arrival->request.body.size() + *upload_size > kBodyBytesMax;
      if (!arrival->too_large) arrival->request.body.append(upload, *upload_size);
      *upload_size = 0;
      return MHD_YES;
    }
    Request request = std::move(arrival->request);
    const std::uint64_t id = request.id;
    if (arrival->too_large) return send(connection, plain_error(413, "too_large", "the body is larger than 1 MiB"), id);
    if (!arrival->known_method)
      return send(connection, plain_error(501, "not_supported", "the method is not known"), id);
    if (const char* header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION)) {
      request.authorization = header;
    }
    if (const char* header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH)) {
      request.if_none_match = header;
    }
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, &collect_query, &request.query);
    describe_client(connection, request);
    return send(connection, dispatch(service_, std::move(request)), id);
  }

  static Reply plain_error(unsigned status, const char* code, const char* message) {
    return {.status = status,
            .body = std::string(R"({"error":{"code":")") + code + R"(","message":")" + message + "\"}}\n"};
  }

  Service& service_;
  std::atomic<std::uint64_t> next_id_{1};
  std::uint16_t port_ = 0;
  std::string socket_path_;
  Daemon tcp_;
  Daemon unix_;
};

}  // namespace

Result<std::unique_ptr<AdminServer>> AdminServer::start(Service& service, const ServerOptions& options) {
  auto server = std::make_unique<Server>(service);
  STOA_CHECK_OK(server->open(options));
  return std::unique_ptr<AdminServer>(std::move(server));
}

}  // namespace stoa::admin
