// libmicrohttpd on one side, Transaction on the other. Each connection has a thread (MHD_USE_THREAD_PER_CONNECTION):
// the calls of the core block, and a thread that sleeps in a group commit costs less than suspending and resuming
// a connection.
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <mutex>

#include "base/assert.h"
#include "base/log.h"
#include "frontends/http/connections.h"
#include "frontends/http/daemon.h"
#include "frontends/s3/http/content_reader.h"
#include "frontends/s3/http/range.h"
#include "frontends/s3/s3_server.h"
#include "frontends/s3/server_metrics.h"
#include "frontends/s3/transaction.h"

namespace stoa::s3 {
namespace {

using http::Connection;
using std::chrono::seconds;

constexpr std::size_t kStackBytes = 512 << 10;
constexpr std::size_t kSendBlockBytes = 256 << 10;
// Half of a connection's memory is read buffer: the size of the pieces in which a body arrives.
constexpr std::size_t kConnectionMemoryMin = 64 << 10;

// One request on its connection, from its first line to the end of its response.
struct Exchange {
  std::string raw_target;  // until it is the request's
  std::optional<Transaction> transaction;
  bool started = false;
  bool counted = false;  // in requests_in_flight
  std::int64_t began_ns = 0;
  std::uint64_t received = 0;
  std::uint64_t body_bytes_since = 0;  // the deadline was last moved
  std::uint64_t sent = 0;
  int status = 0;
  std::vector<std::shared_ptr<const void>> keep;  // memory that the response reads from
};

// Beyond it connections wait in the kernel for us to accept.
constexpr int kBacklog = 1024;
// Connections that gave way and whose threads have not closed them yet. Each new connection may leave one behind, so a
// busy machine has more of them than a small limit.
constexpr std::uint32_t kClosingMax = 64;

class Daemon final : public Server {
 public:
  Daemon(core::Namespace& ns, core::Registry& registry, MetricRegistry& metrics, ServerOptions options)
      : options_(std::move(options)),
        metric_registry_(metrics),
        metrics_(metrics),
        services_{.ns = ns, .registry = registry, .options = options_},
        connections_({options_.limits.connections_max, options_.limits.connections_per_address_max},
                     {metrics_.timeouts(), metrics_.gave_way()}) {
    std::array<std::uint8_t, 32> random;
    const ssize_t got = ::getrandom(random.data(), random.size(), 0);
    STOA_ASSERT(got == static_cast<ssize_t>(random.size()));
    host_id_ = to_base64(random);
    std::memcpy(&id_seed_, random.data(), sizeof id_seed_);
  }

  ~Daemon() override {
    if (daemon_ == nullptr) return;
    stop_listening();
    close_gates(services_);
    daemon_.reset();
  }

  Status open();
  std::uint16_t port() const override { return listener_.port(); }
  std::string url() const override;
  Result<std::unique_ptr<Server>> renew() override;
  bool drain(std::chrono::milliseconds patience) override;

 private:
  Status serve();
  void stop_listening();
  static MHD_Result on_accept(void* self, const sockaddr* address, socklen_t size);
  static void* on_uri(void* self, const char* uri, MHD_Connection* connection);
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url, const char* method,
                               const char* version, const char* upload_data, std::size_t* upload_bytes, void** state);
  static void on_completed(void* self, MHD_Connection* connection, void** state, MHD_RequestTerminationCode code);
  static void on_connection(void* self, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode code);

  MHD_Result start_exchange(MHD_Connection* connection, const char* method, Exchange& exchange);
  MHD_Result respond(MHD_Connection* connection, Exchange& exchange, Response response);
  MHD_Response* make_body(Exchange& exchange, Response& response);
  std::string next_id(std::uint64_t* serial);

  ServerOptions options_;
  MetricRegistry& metric_registry_;
  ServerMetrics metrics_;
  Services services_;
  http::Connections connections_;
  std::string host_id_;
  std::uint64_t id_seed_ = 0;
  std::atomic<std::uint64_t> id_counter_{0};
  std::atomic<std::uint32_t> requests_{0};
  std::mutex drain_mutex_;
  std::condition_variable drained_;
  std::atomic<bool> draining_{false};
  http::Listener listener_;
  http::Certificate certificate_;
  std::unique_ptr<http::Daemon> daemon_;  // last: it goes first
};

Connection* connection_of(MHD_Connection* connection) {
  return http::context_of<Connection>(connection);
}

Status Daemon::open() {
  if (options_.tls_certificate_file.empty() != options_.tls_key_file.empty())
    return fail(Errc::kInvalid, "s3: TLS needs both a certificate and a key file");
  STOA_TRY(listener, http::listen_tcp(options_.address, options_.port, kBacklog));
  listener_ = std::move(listener);
  if (!options_.tls_certificate_file.empty()) {
    STOA_TRY(certificate, http::read_certificate(options_.tls_certificate_file, options_.tls_key_file));
    certificate_ = std::move(certificate);
  }
  return serve();
}

Status Daemon::serve() {
  const Limits& limits = options_.limits;
  const std::size_t memory = std::max<std::size_t>(kConnectionMemoryMin, limits.header_bytes_max * 4 / 3);
  http::DaemonOptions options{
      .name = "s3",
      .flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC,
      // Ours are held by on_accept. One that gave way counts for the library until its own thread has closed it.
      .connections_max = 2 * limits.connections_max + kClosingMax,
      .idle_timeout = std::chrono::seconds(limits.idle_timeout_s),
      .items = {{MHD_OPTION_CONNECTION_MEMORY_LIMIT, static_cast<std::intptr_t>(memory), nullptr},
                {MHD_OPTION_CONNECTION_MEMORY_INCREMENT, 16384, nullptr},
                {MHD_OPTION_THREAD_STACK_SIZE, static_cast<std::intptr_t>(kStackBytes), nullptr}}};
  STOA_TRY(daemon, http::Daemon::start(listener_, certificate_, std::move(options),
                                       {.closure = this,
                                        .accept = &Daemon::on_accept,
                                        .request = &Daemon::on_request,
                                        .uri = &Daemon::on_uri,
                                        .completed = &Daemon::on_completed,
                                        .connection = &Daemon::on_connection}));
  daemon_ = std::move(daemon);
  return {};
}

Result<std::unique_ptr<Server>> Daemon::renew() {
  if (draining_.load()) return fail(Errc::kShutdown, "s3: the server is being closed");
  if (certificate_.chain.empty()) return nullptr;
  STOA_TRY(fresh, http::read_renewed_certificate(certificate_, options_.tls_certificate_file, options_.tls_key_file));
  if (!fresh) return nullptr;
  auto next = std::make_unique<Daemon>(services_.ns, services_.registry, metric_registry_, options_);
  // For a moment both accept from the one socket, and it never closes.
  STOA_TRY(listener, listener_.duplicate());
  next->listener_ = std::move(listener);
  next->certificate_ = std::move(*fresh);
  STOA_CHECK_OK(next->serve());
  stop_listening();
  return std::unique_ptr<Server>(std::move(next));
}

void Daemon::stop_listening() {
  draining_.store(true);
  daemon_->stop_listening();
}

std::string Daemon::url() const {
  std::string host = options_.address;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return (options_.tls_certificate_file.empty() ? "http://" : "https://") + host + ":" +
         std::to_string(listener_.port());
}

bool Daemon::drain(std::chrono::milliseconds patience) {
  stop_listening();
  std::unique_lock lock(drain_mutex_);
  return drained_.wait_for(lock, patience, [this] { return requests_.load() == 0; });
}

// 16 characters, as S3 gives them: a counter, stirred so that ids of two servers do not meet.
std::string Daemon::next_id(std::uint64_t* serial) {
  std::uint64_t x = id_counter_.fetch_add(1, std::memory_order_relaxed) + id_seed_;
  x ^= x >> 31;
  x *= 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  *serial = x;
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string id(16, '0');
  for (std::size_t i = 16; i-- > 0; x >>= 4) id[i] = kHex[x & 15];
  return id;
}

MHD_Result Daemon::on_accept(void* self, const sockaddr* address, socklen_t) {
  auto& daemon = *static_cast<Daemon*>(self);
  if (daemon.connections_.make_room(http::client_address(address))) return MHD_YES;
  daemon.metrics_.refused().add();
  return MHD_NO;
}

void* Daemon::on_uri(void* self, const char* uri, MHD_Connection* connection) {
  auto& daemon = *static_cast<Daemon*>(self);
  if (Connection* known = connection_of(connection)) known->allow(seconds(daemon.options_.limits.header_timeout_s));
  auto* exchange = new Exchange;
  exchange->raw_target = uri;
  return exchange;
}

void Daemon::on_connection(void* self, MHD_Connection* connection, void** context,
                           MHD_ConnectionNotificationCode code) {
  auto& daemon = *static_cast<Daemon*>(self);
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    Connection* const added =
        daemon.connections_.add(http::socket_of(connection), http::client_address(http::address_of(connection)));
    added->allow(seconds(daemon.options_.limits.idle_timeout_s));
    daemon.metrics_.connections().add(1);
    *context = added;
  } else if (*context != nullptr) {
    daemon.connections_.remove(static_cast<Connection*>(*context));
    daemon.metrics_.connections().add(-1);
    *context = nullptr;
  }
}

MHD_Result add_header(void* request, MHD_ValueKind, const char* name, std::size_t name_bytes, const char* value,
                      std::size_t value_bytes) {
  static_cast<Request*>(request)->headers.push_back(
      {{name, name_bytes}, value == nullptr ? std::string_view{} : std::string_view{value, value_bytes}});
  return MHD_YES;
}

MHD_Result Daemon::start_exchange(MHD_Connection* connection, const char* method, Exchange& exchange) {
  exchange.started = true;
  exchange.began_ns = http::steady_now_ns();
  Connection* known = connection_of(connection);
  auto request = std::make_unique<Request>();
  request->id = next_id(&request->serial);
  request->method = method;
  request->headers.reserve(24);
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &add_header, request.get());
  if (known != nullptr) {
    request->address = known->client.bytes;
    request->client = known->client.text;
  }
  request->raw_target = std::move(exchange.raw_target);
  auto target = parse_target(request->raw_target);
  const bool target_ok = target.has_value();
  if (target_ok) {
    request->target = std::move(*target);
  } else {
    request->target.path = request->raw_target;
  }
  const Request& sent = *request;
  exchange.transaction.emplace(services_, std::move(request), target_ok, host_id_, known);
  exchange.counted = true;
  const bool full = requests_.fetch_add(1) >= options_.limits.requests_max;
  metrics_.in_flight().add(1);

  std::size_t header_bytes = sent.raw_target.size();
  for (const Header& header : sent.headers) header_bytes += header.name.size() + header.value.size();
  const bool too_long = header_bytes > options_.limits.header_bytes_max;

  const auto length_header = sent.header("content-length");
  const std::uint64_t length = length_header ? parse_decimal(*length_header).value_or(0) : 0;
  const bool has_body = length != 0 || sent.header("transfer-encoding").has_value();
  Transaction& transaction = *exchange.transaction;
  if (head_is_doubtful(sent)) {
    if (known != nullptr) known->allow_for_ever();
    transaction.refuse_now({.code = Code::kBadRequest});
    Response error_reply = transaction.finish();
    error_reply.add("Connection", "close");
    return respond(connection, exchange, std::move(error_reply));
  }
  // While the core works the connection owes nothing.
  if (known != nullptr) known->allow_for_ever();
  bool wanted = false;
  if (full || too_long) {
    transaction.refuse_now({.code = full ? Code::kSlowDown : Code::kRequestHeaderSectionTooLarge});
  } else {
    wanted = transaction.begin();
  }
  // The answer waits for the next call even when there is no body: the library closes a connection with an answer
  // queued in the first.
  if (!has_body) return MHD_YES;
  // A client that waits for "100 Continue" has not sent the body yet, and need not. Others are in the middle of
  // sending: they may not read the answer before they are done.
  const bool waits = sent.header("expect").has_value();
  if (!wanted && (waits || length > options_.limits.discard_bytes_max))
    return respond(connection, exchange, transaction.finish());
  if (known != nullptr) {
    exchange.body_bytes_since = 0;
    known->allow(seconds(options_.limits.body_timeout_s));
  }
  return MHD_YES;
}

MHD_Result Daemon::on_request(void* self, MHD_Connection* connection, const char*, const char* method, const char*,
                              const char* upload_data, std::size_t* upload_bytes, void** state) {
  auto& daemon = *static_cast<Daemon*>(self);
  auto* exchange = static_cast<Exchange*>(*state);
  if (exchange == nullptr) return MHD_NO;
  if (!exchange->started) return daemon.start_exchange(connection, method, *exchange);
  Connection* known = connection_of(connection);
  if (*upload_bytes != 0) {
    exchange->received += *upload_bytes;
    exchange->transaction->feed(std::as_bytes(std::span(upload_data, *upload_bytes)));
    // A body read only in order to answer gets no extra time.
    if (known != nullptr && !exchange->transaction->refused()) {
      exchange->body_bytes_since += *upload_bytes;
      if (exchange->body_bytes_since >= daemon.options_.limits.body_bytes_min) {
        exchange->body_bytes_since = 0;
        known->allow(seconds(daemon.options_.limits.body_timeout_s));
      }
    }
    *upload_bytes = 0;
    return MHD_YES;
  }
  if (known != nullptr) known->allow_for_ever();
  return daemon.respond(connection, *exchange, exchange->transaction->finish());
}

ssize_t read_content(void* reader, std::uint64_t position, char* into, std::size_t size) {
  const ssize_t got = static_cast<ContentReader*>(reader)->read(position, {into, size});
  return got < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : got;
}
void free_reader(void* reader) {
  delete static_cast<ContentReader*>(reader);
}
ssize_t never_read(void*, std::uint64_t, char*, std::size_t) {
  return MHD_CONTENT_READER_END_WITH_ERROR;
}
void free_nothing(void*) {}
void free_string(void* text) {
  delete static_cast<std::string*>(text);
}

MHD_Response* Daemon::make_body(Exchange& exchange, Response& response) {
  if (response.head_length) {
    return MHD_create_response_from_callback(*response.head_length, 1, &never_read, nullptr, nullptr);
  }
  if (!response.content) {
    exchange.sent = response.body.size();
    if (response.body.empty()) return MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
    auto* owned = new std::string(std::move(response.body));
    return MHD_create_response_from_buffer_with_free_callback_cls(owned->size(), owned->data(), &free_string, owned);
  }
  ContentRange& content = *response.content;
  exchange.sent = content.length;
  std::uint64_t covered = 0;
  bool memory = true;
  for (const core::DataSlice& slice : content.slices) {
    covered += slice.length;
    memory = memory && slice.fd < 0;
  }
  const std::vector<core::DataSlice>& slices = content.slices;
  // A body held back by QoS classes is read piece by piece, as it is admitted; else all of it counts at once.
  QosGate& gate = *exchange.transaction->gate();
  const bool at_once =
      covered == content.length && (memory || slices.size() == 1) && !gate.holds_back(qos::Resource::kReadBytes);
  if (at_once && !gate.go_on(qos::Resource::kReadBytes, content.length)) return nullptr;
  if (at_once && slices.size() == 1) {
    const core::DataSlice& slice = slices.front();
    if (memory) {
      exchange.keep.push_back(slice.keep);
      // The library does not write to it.
      void* bytes = const_cast<std::byte*>(slice.bytes.data());
      return MHD_create_response_from_buffer_with_free_callback_cls(slice.length, bytes, &free_nothing, nullptr);
    }
    // The library closes the descriptor that it is given.
    const int fd = ::fcntl(slice.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return nullptr;
    exchange.keep.push_back(slice.keep);
    return MHD_create_response_from_fd_at_offset64(slice.length, fd, slice.file_offset);
  }
  if (at_once) {
    std::vector<MHD_IoVec> vector;
    for (const core::DataSlice& slice : slices) {
      vector.push_back({slice.bytes.data(), slice.length});
      exchange.keep.push_back(slice.keep);
    }
    return MHD_create_response_from_iovec(vector.data(), static_cast<unsigned>(vector.size()), nullptr, nullptr);
  }
  const std::uint64_t length = content.length;
  return MHD_create_response_from_callback(length, kSendBlockBytes, &read_content,
                                           new ContentReader(services_.ns, exchange.transaction->context(),
                                                             std::move(content), exchange.transaction->gate()),
                                           &free_reader);
}

MHD_Result Daemon::respond(MHD_Connection* connection, Exchange& exchange, Response response) {
  MHD_Response* made = make_body(exchange, response);
  if (made == nullptr) return MHD_NO;
  const auto add = [&](const char* name, const std::string& value) {
    // The library takes no empty value; to clients a space is one (RFC 9110 5.5). A stored value with a character that
    // no header may hold is left out rather than failing the object.
    if (MHD_add_response_header(made, name, value.empty() ? " " : value.c_str()) != MHD_YES) {
      log_debug("s3", "a response header was left out",
                {{"name", name}, {"request", exchange.transaction->request().id}});
    }
  };
  add("x-amz-request-id", exchange.transaction->request().id);
  add("x-amz-id-2", host_id_);
  add("Server", "Stoa");
  if (draining_.load(std::memory_order_relaxed)) add("Connection", "close");
  for (const auto& [name, value] : response.headers) add(name.c_str(), value);
  exchange.status = response.status;
  if (Connection* known = connection_of(connection)) {
    known->allow(seconds(options_.limits.body_timeout_s + exchange.sent / options_.limits.send_bytes_per_second_min));
  }
  const MHD_Result queued = MHD_queue_response(connection, static_cast<unsigned>(response.status), made);
  MHD_destroy_response(made);
  return queued;
}

void Daemon::on_completed(void* self, MHD_Connection* connection, void** state, MHD_RequestTerminationCode) {
  auto& daemon = *static_cast<Daemon*>(self);
  std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(*state));
  *state = nullptr;
  if (Connection* known = connection_of(connection)) {
    known->allow(seconds(daemon.options_.limits.idle_timeout_s));
    known->end_work();
  }
  if (!exchange || !exchange->counted) return;
  const OperationMetrics& metrics = daemon.metrics_.of(exchange->transaction->operation());
  metrics.requests->add();
  if (exchange->status >= 500) metrics.server_errors->add();
  if (exchange->status >= 400 && exchange->status < 500) metrics.client_errors->add();
  metrics.bytes_received->add(exchange->received);
  metrics.bytes_sent->add(exchange->sent);
  metrics.seconds->observe_ns(static_cast<std::uint64_t>(http::steady_now_ns() - exchange->began_ns));
  exchange.reset();  // releases the staging buffers of a body before the request counts as over
  daemon.metrics_.in_flight().add(-1);
  if (daemon.requests_.fetch_sub(1) == 1 && daemon.draining_.load()) {
    const std::lock_guard lock(daemon.drain_mutex_);
    daemon.drained_.notify_all();
  }
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(core::Namespace& ns, core::Registry& registry, MetricRegistry& metrics,
                                              ServerOptions options) {
  auto daemon = std::make_unique<Daemon>(ns, registry, metrics, std::move(options));
  STOA_CHECK_OK(daemon->open());
  return std::unique_ptr<Server>(std::move(daemon));
}

}  // namespace stoa::s3
