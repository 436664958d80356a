#include "frontends/admin/admin_server.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "frontends/admin/phase.h"
#include "frontends/admin/request_head.h"
#include "frontends/admin/router.h"
#include "frontends/http/client_address.h"
#include "frontends/http/daemon.h"

namespace stoa::admin {
namespace {

constexpr std::size_t kBodyBytesMax = 1u << 20;

constexpr std::chrono::seconds kPatience{10};
// Connections of one port or socket; beyond it they wait in the kernel for us to accept.
constexpr int kBacklog = 256;

// Browser rules for pages from here: no content from elsewhere, no framing, no guessing of types. There is no CORS, so
// pages from elsewhere read nothing.
constexpr std::pair<const char*, const char*> kSecurityHeaders[] = {
    {"Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
    {"X-Frame-Options", "DENY"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
};

// One request while it arrives.
struct Arrival {
  Request request;
  bool too_large = false;
  bool known_method = true;
  bool host_is_here = false;
};

struct Query {
  std::map<std::string, std::string> values;
  bool repeated = false;  // a name came twice: which of the values is meant?
};

MHD_Result collect_query(void* target, MHD_ValueKind, const char* key, const char* value) {
  auto& query = *static_cast<Query*>(target);
  const bool fresh = query.values.emplace(percent_decode(key), value == nullptr ? "" : percent_decode(value)).second;
  query.repeated = query.repeated || !fresh;
  return MHD_YES;
}

MHD_Result collect_head(void* target, MHD_ValueKind, const char* name, std::size_t name_bytes, const char* value,
                        std::size_t value_bytes) {
  static_cast<RequestHead*>(target)->add({name, name_bytes},
                                         value == nullptr ? std::string_view() : std::string_view(value, value_bytes));
  return MHD_YES;
}

// "unix" of the local socket.
std::string peer_of(MHD_Connection* connection) {
  std::string text = http::client_address(http::address_of(connection)).text;
  return text.empty() ? "unix" : text;
}

bool is_loopback(std::string_view client) {
  return client.starts_with("127.") || client == "::1";
}

Counter& ended(MetricRegistry& metrics, const char* why) {
  return metrics.counter("stoa_admin_connections_cut_total", "Connections of the admin port that the server ended.",
                         {{"why", why}});
}

// The error text for the administrator: `about` is its subject, `remedy` the alternative.
Error refused(const Error& error, std::string about, std::string_view remedy = {}) {
  return {error.code, error.sys_errno, about.append(error.detail).append(remedy)};
}

// The source that MHD reads a reply without an end from. While there are none the connection is suspended and costs no
// thread.
struct Streaming {
  MHD_Connection* connection;
  std::shared_ptr<EventStream> stream;
};

ssize_t take_events(void* target, std::uint64_t, char* into, std::size_t most) {
  const auto* streaming = static_cast<Streaming*>(target);
  std::size_t taken = 0;
  MHD_Connection* const connection = streaming->connection;
  switch (streaming->stream->take(
      into, most, taken, [connection] { MHD_suspend_connection(connection); },
      [connection] { MHD_resume_connection(connection); })) {
    case EventStream::Take::kSome:
      return static_cast<ssize_t>(taken);
    case EventStream::Take::kNone:
      return 0;
    case EventStream::Take::kEnd:
      break;
  }
  return MHD_CONTENT_READER_END_OF_STREAM;
}

void end_events(void* target) {
  const std::unique_ptr<Streaming> streaming(static_cast<Streaming*>(target));
  streaming->stream->close();
}

MHD_Response* make_response(MHD_Connection* connection, const Reply& reply) {
  constexpr std::size_t kPiece = 16384;
  if (reply.stream) {
    auto streaming = std::make_unique<Streaming>(connection, reply.stream);
    MHD_Response* response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kPiece, &take_events, streaming.get(), &end_events);
    if (response != nullptr) streaming.release();
    return response;
  }
  return MHD_create_response_from_buffer(reply.body.size(), const_cast<char*>(reply.body.data()),
                                         MHD_RESPMEM_MUST_COPY);
}

MHD_Result send(MHD_Connection* connection, const Reply& reply, std::uint64_t id) {
  MHD_Response* response = make_response(connection, reply);
  if (response == nullptr) return MHD_NO;
  if (!reply.content_type.empty())
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply.content_type.c_str());
  if (!reply.allow.empty()) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply.allow.c_str());
  if (!reply.retry_after.empty())
    MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, reply.retry_after.c_str());
  if (reply.status == 401) MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
  for (const auto& [name, value] : kSecurityHeaders) {
    if (std::ranges::find(reply.headers, name, &std::pair<std::string, std::string>::first) != reply.headers.end())
      continue;
    MHD_add_response_header(response, name, value);
  }
  for (const auto& [name, value] : reply.headers) MHD_add_response_header(response, name.c_str(), value.c_str());
  if (reply.headers.empty()) MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(response, "X-Request-Id", std::to_string(id).c_str());
  const MHD_Result queued = MHD_queue_response(connection, reply.status, response);
  MHD_destroy_response(response);
  return queued;
}

class Server final : public AdminServer {
 public:
  Server(Service& service, const ServerOptions& options) : service_(service), options_(options) {}
  ~Server() override {
    // Wakes the connections that wait for events: MHD does not stop while one is suspended.
    if (service_.watch != nullptr) service_.watch->stop();
    tcp_.reset();
    unix_.reset();
    if (!socket_path_.empty()) unlink(socket_path_.c_str());
  }

  Status open() {
    const ServerOptions& options = options_;
    if (!options.host.empty()) {
      auto listener = http::listen_tcp(options.host, options.port, kBacklog);
      if (!listener)
        return fail(refused(listener.error(), "the admin interface: ", "; choose another with admin.listen"));
      tcp_listener_ = std::move(*listener);
      if (!options.tls_certificate_file.empty()) {
        STOA_TRY(certificate, http::read_certificate(options.tls_certificate_file, options.tls_key_file));
        certificate_ = std::move(certificate);
      }
      STOA_CHECK_OK(serve_tcp(certificate_));
    }
    if (!options.socket_path.empty()) {
      const auto listener = http::listen_unix(options.socket_path, options.socket_mode, kBacklog);
      if (!listener) return fail(refused(listener.error(), "the admin interface: "));
      socket_path_ = options.socket_path;
      STOA_TRY(serving, serve(*listener, {}));
      unix_ = std::move(serving);
    }
    return {};
  }
  std::uint16_t port() const override { return tcp_listener_.port(); }
  std::string pin() const override { return certificate_.pin; }

  Status renew() override {
    if (certificate_.pin.empty()) return {};
    STOA_TRY(fresh, http::read_renewed_certificate(certificate_, options_.tls_certificate_file, options_.tls_key_file));
    if (!fresh) return {};
    STOA_CHECK_OK(serve_tcp(*fresh));
    certificate_ = std::move(*fresh);
    log_info("admin", "serving with the renewed certificate", {{"pin", certificate_.pin}});
    return {};
  }

 private:
  // One port or socket while it is served.
  struct Serving {
    explicit Serving(Server& owner)
        : server(owner),
          connections({owner.options_.limits.connections_max, owner.options_.limits.connections_max},
                      {ended(owner.service_.metrics, "late"), ended(owner.service_.metrics, "gave_way")}) {}
    ~Serving() { daemon.reset(); }
    void enter(MHD_Connection* connection, Phase phase) {
      if (auto* known = http::context_of<http::Connection>(connection))
        admin::enter(*known, phase, server.options_.limits);
    }
    // Takes no more connections, and waits for the present ones.
    void drain() {
      daemon->stop_listening();
      // Streams of events have no end of their own, and MHD must not be stopped while a connection is suspended.
      // Watchers reconnect with their cursor.
      draining = true;
      if (server.service_.watch != nullptr) server.service_.watch->end_all();
      std::unique_lock lock(mutex);
      if (!idle.wait_for(lock, kPatience, [this] { return requests.load() == 0; }))
        log_warning("admin", "requests were cut off");
    }
    void end_request() {
      if (requests.fetch_sub(1) != 1) return;
      const std::lock_guard lock(mutex);
      idle.notify_all();
    }

    Server& server;
    std::unique_ptr<http::Daemon> daemon;
    std::atomic<int> requests{0};
    std::atomic<bool> draining{false};
    http::Connections connections;
    std::mutex mutex;  // for waiting
    std::condition_variable idle;
  };

  // The port stays open when a certificate is renewed.
  Status serve_tcp(const http::Certificate& certificate) {
    STOA_TRY(serving, serve(tcp_listener_, certificate));
    tcp_.swap(serving);
    if (serving != nullptr) serving->drain();
    return {};
  }

  Result<std::unique_ptr<Serving>> serve(const http::Listener& listener, const http::Certificate& certificate) {
    auto serving = std::make_unique<Serving>(*this);
    // The library divides its limit by the threads, and a connection that gives way stays until its thread has seen it.
    // Not epoll: MHD_quiesce_daemon() and a thread of the pool may both take the listening socket out of an epoll set,
    // and the library ends the process when the second one fails.
    http::DaemonOptions options{
        .name = "admin",
        .flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME,
        .connections_max = static_cast<std::uint32_t>(2 * options_.limits.connections_max * options_.threads),
        .idle_timeout = options_.limits.idle,
        .items = {{MHD_OPTION_THREAD_POOL_SIZE, options_.threads, nullptr}}};
    auto daemon = http::Daemon::start(listener, certificate, std::move(options),
                                      {.closure = serving.get(),
                                       .request = &Server::on_request,
                                       .uri = &Server::on_uri,
                                       .completed = &Server::on_completed,
                                       .connection = &Server::on_connection});
    if (!daemon) return fail(refused(daemon.error(), "the admin interface: "));
    serving->daemon = std::move(*daemon);
    return serving;
  }

  static void on_connection(void* serving, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode code) {
    auto& one = *static_cast<Serving*>(serving);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      http::ClientAddress client = http::client_address(http::address_of(connection));
      client.bytes = http::network_of(client.bytes);
      // The library's limit leaves room for one more when none gives way.
      (void)one.connections.make_room(client);
      http::Connection* const added = one.connections.add(http::socket_of(connection), std::move(client));
      admin::enter(*added, Phase::kFresh, one.server.options_.limits);
      *context = added;
    } else if (*context != nullptr) {
      one.connections.remove(static_cast<http::Connection*>(std::exchange(*context, nullptr)));
    }
  }

  static void* on_uri(void* serving, const char*, MHD_Connection* connection) {
    static_cast<Serving*>(serving)->enter(connection, Phase::kHeaders);
    return nullptr;
  }

  static MHD_Result on_request(void* serving, MHD_Connection* connection, const char* url, const char* method,
                               const char* version, const char* upload, std::size_t* upload_size, void** state) {
    auto& one = *static_cast<Serving*>(serving);
    if (*state == nullptr) one.requests.fetch_add(1);
    return one.server.advance(one, connection, url, method, version, upload, upload_size, state);
  }

  static void on_completed(void* serving, MHD_Connection* connection, void** state, MHD_RequestTerminationCode) {
    static_cast<Serving*>(serving)->enter(connection, Phase::kIdle);
    if (*state == nullptr) return;
    delete static_cast<Arrival*>(*state);
    *state = nullptr;
    static_cast<Serving*>(serving)->end_request();
  }

  // Called by MHD with the headers, with each piece of the body, and once more at the end.
  MHD_Result advance(Serving& serving, MHD_Connection* connection, const char* url, const char* method,
                     const char* version, const char* upload, std::size_t* upload_size, void** state) {
    auto* arrival = static_cast<Arrival*>(*state);
    if (arrival == nullptr) {
      auto fresh = std::make_unique<Arrival>();
      // MHD omits the body by itself (RFC 9110 9.3.2).
      const auto known = parse_method(method == std::string_view(MHD_HTTP_METHOD_HEAD) ? MHD_HTTP_METHOD_GET : method);
      fresh->known_method = known.has_value();
      fresh->request.method = known.value_or(Method::kGet);
      fresh->request.path = url;
      fresh->request.id = next_id_.fetch_add(1, std::memory_order_relaxed);
      RequestHead head;
      MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &collect_head, &head);
      fresh->host_is_here = head.host_is_here();
      const std::uint64_t id = fresh->request.id;
      *state = fresh.release();
      if (const auto problem = head.problem(version)) {
        serving.enter(connection, Phase::kAnswer);
        Reply error_reply = plain_error(400, "invalid", *problem);
        error_reply.headers = {{"Connection", "close"}, {"Cache-Control", "no-store"}};
        return send(connection, error_reply, id);
      }
      serving.enter(connection, Phase::kBody);
      return MHD_YES;
    }
    if (*upload_size > 0) {
      arrival->too_large = arrival->too_large || arrival->request.body.size() + *upload_size > kBodyBytesMax;
      if (!arrival->too_large) arrival->request.body.append(upload, *upload_size);
      *upload_size = 0;
      return MHD_YES;
    }
    serving.enter(connection, Phase::kAtWork);
    const std::uint64_t id = arrival->request.id;
    const Reply reply = answer(connection, *arrival);
    if (reply.stream && serving.draining) reply.stream->end();
    serving.enter(connection, reply.stream ? Phase::kStreaming : Phase::kAnswer);
    return send(connection, reply, id);
  }

  Reply answer(MHD_Connection* connection, Arrival& arrival) {
    if (arrival.too_large) return plain_error(413, "too_large", "the body is larger than 1 MiB");
    if (!arrival.known_method) return plain_error(501, "not_supported", "the method is not known");
    Request request = std::move(arrival.request);
    if (const char* header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION)) {
      request.authorization = header;
    }
    if (const char* header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH)) {
      request.if_none_match = header;
    }
    Query query;
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, &collect_query, &query);
    if (query.repeated) return plain_error(400, "invalid", "a parameter is given twice");
    request.query = std::move(query.values);
    request.client = peer_of(connection);
    request.local = request.client == "unix" || (is_loopback(request.client) && arrival.host_is_here);
    return dispatch(service_, std::move(request));
  }

  static Reply plain_error(unsigned status, std::string_view code, std::string_view message) {
    Reply reply{.status = status};
    reply.body.append(R"({"error":{"code":")").append(code).append(R"(","message":")").append(message).append("\"}}\n");
    return reply;
  }

  Service& service_;
  std::atomic<std::uint64_t> next_id_{1};
  std::string socket_path_;
  const ServerOptions options_;
  http::Listener tcp_listener_;
  http::Certificate certificate_;
  std::unique_ptr<Serving> tcp_;
  std::unique_ptr<Serving> unix_;
};

}  // namespace

Result<std::unique_ptr<AdminServer>> AdminServer::start(Service& service, const ServerOptions& options) {
  auto server = std::make_unique<Server>(service, options);
  STOA_CHECK_OK(server->open());
  return std::unique_ptr<AdminServer>(std::move(server));
}

}  // namespace stoa::admin
