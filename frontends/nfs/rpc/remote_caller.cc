#include "frontends/nfs/rpc/remote_caller.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.h"

namespace stoa::rpc {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kPortmapProgram = 100000;
constexpr std::uint32_t kPortmapVersion = 2;
constexpr std::uint32_t kGetPort = 3;
constexpr std::uint32_t kLastFragment = 0x8000'0000;
constexpr std::size_t kReplyBytesMax = 4096;
constexpr std::chrono::seconds kStepTime{5};
constexpr std::chrono::milliseconds kFirstResend{700};  // of a datagram; doubled each time

enum class Step { kTcpLookup, kTcpCall, kUdpLookup, kUdpCall };
bool is_lookup(Step step) {
  return step == Step::kTcpLookup || step == Step::kUdpLookup;
}
bool is_tcp(Step step) {
  return step == Step::kTcpLookup || step == Step::kTcpCall;
}

// ::ffff:a.b.c.d
Result<sockaddr_in> ipv4(const std::array<std::uint8_t, 16>& address, std::uint16_t port) {
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::memcmp(address.data(), kMapped.data(), kMapped.size()) != 0) {
    return fail(Errc::kNotSupported, "calls to IPv6 addresses");
  }
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  std::memcpy(&to.sin_addr, address.data() + kMapped.size(), sizeof to.sin_addr);
  return to;
}

// The results of an accepted reply.
Result<std::span<const std::byte>> results_of(std::span<const std::byte> reply) {
  XdrReader in(reply);
  in.u32();  // xid
  const std::uint32_t type = in.u32();
  const std::uint32_t denied = in.u32();
  in.u32();
  in.opaque(kAuthBytesMax);
  const auto accept = static_cast<AcceptStatus>(in.u32());
  if (!in.ok() || type != kReply || denied != 0) return fail(Errc::kIo, "the call was refused");
  switch (accept) {
    case AcceptStatus::kSuccess:
      return in.rest();
    case AcceptStatus::kProgramUnavailable:
    case AcceptStatus::kProgramMismatch:
    case AcceptStatus::kProcedureUnavailable:
      return fail(Errc::kNotSupported, "no such program, version or procedure");
    default:
      return fail(Errc::kIo, "the call failed");
  }
}

}  // namespace

struct RemoteCaller::Exchange {
  RemoteCall call;
  OnDone on_done;
  Step step = Step::kTcpLookup;
  std::uint16_t port = 0;  // of the service
  int fd = -1;
  std::uint32_t xid = 0;
  ReplyBuffer out;
  std::size_t sent = 0;
  std::vector<std::byte> in;
  Clock::time_point deadline{};
  Clock::time_point resend = Clock::time_point::max();
  std::chrono::milliseconds pause = kFirstResend;
  Error error{Errc::kIo};

  ~Exchange() { hang_up(); }
  void hang_up() {
    if (fd >= 0) close(fd);
    fd = -1;
  }

  void encode() {
    out.clear(~std::size_t{0});
    XdrWriter writer(out);
    if (is_tcp(step)) writer.u32(0);
    const bool lookup = is_lookup(step);
    for (const std::uint32_t word :
         {xid, kCall, kRpcVersion, lookup ? kPortmapProgram : call.program, lookup ? kPortmapVersion : call.version,
          lookup ? kGetPort : call.procedure, 0u, 0u, 0u, 0u}) {  // AUTH_NONE twice
      writer.u32(word);
    }
    if (lookup) {
      writer.u32(call.program);
      writer.u32(call.version);
      writer.u32(is_tcp(step) ? IPPROTO_TCP : IPPROTO_UDP);
      writer.u32(0);
    } else {
      writer.fixed(call.arguments);
    }
    if (is_tcp(step)) writer.patch_u32(0, kLastFragment | static_cast<std::uint32_t>(out.size() - 4));
  }

  Status start(std::uint16_t portmapper_port, std::uint32_t new_xid, Clock::time_point now) {
    hang_up();
    STOA_TRY(to, ipv4(call.address, is_lookup(step) ? portmapper_port : port));
    fd = socket(AF_INET, (is_tcp(step) ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return fail_errno(errno, "socket");
    if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 && errno != EINPROGRESS) {
      return fail_errno(errno, "connect");
    }
    xid = new_xid;
    sent = 0;
    in.clear();
    deadline = now + kStepTime;
    pause = kFirstResend;
    resend = is_tcp(step) ? Clock::time_point::max() : now + pause;
    encode();
    return {};
  }

  short wants() const { return sent < out.size() ? POLLOUT : POLLIN; }

  Status send_some() {
    const ssize_t took = send(fd, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (took < 0) {
      if (errno == EAGAIN || errno == EINTR) return {};
      return fail_errno(errno, "send");
    }
    sent += static_cast<std::size_t>(took);
    return {};
  }

  // The whole reply, once it is there; empty before.
  Result<std::span<const std::byte>> receive() {
    std::array<std::byte, kReplyBytesMax> some{};
    const ssize_t got = recv(fd, some.data(), some.size(), 0);
    if (got < 0) {
      if (errno == EAGAIN || errno == EINTR) return std::span<const std::byte>{};
      return fail_errno(errno, "receive");
    }
    const std::span bytes = std::span(some).first(static_cast<std::size_t>(got));
    if (!is_tcp(step)) {
      in.assign(bytes.begin(), bytes.end());
      const bool ours = in.size() >= 4 && load_be32(in.data()) == xid;
      return ours ? std::span<const std::byte>(in) : std::span<const std::byte>{};
    }
    if (bytes.empty()) return fail(Errc::kIo, "the connection was closed");
    in.insert(in.end(), bytes.begin(), bytes.end());
    if (in.size() < 8) return std::span<const std::byte>{};
    const std::uint32_t mark = load_be32(in.data());
    const std::size_t length = mark & ~kLastFragment;
    if ((mark & kLastFragment) == 0 || length > kReplyBytesMax || load_be32(in.data() + 4) != xid) {
      return fail(Errc::kIo, "a reply that makes no sense");
    }
    if (in.size() < 4 + length) return std::span<const std::byte>{};
    return std::span<const std::byte>(in).subspan(4, length);
  }
};

RemoteCaller::RemoteCaller(std::uint16_t portmapper_port)
    : portmapper_port_(portmapper_port), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  STOA_ASSERT(wake_ >= 0);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

RemoteCaller::~RemoteCaller() {
  stop();
  close(wake_);
}

void RemoteCaller::stop() {
  thread_.request_stop();
  eventfd_write(wake_, 1);
  if (thread_.joinable()) thread_.join();
}

bool RemoteCaller::call(RemoteCall call, OnDone on_done) {
  STOA_ASSERT(call.arguments.size() <= kArgumentBytesMax);
  auto exchange = std::make_unique<Exchange>();
  exchange->call = std::move(call);
  exchange->on_done = std::move(on_done);
  {
    const std::lock_guard lock(mutex_);
    if (calls_ >= kCallsMax) return false;
    ++calls_;
    fresh_.push_back(std::move(exchange));
  }
  eventfd_write(wake_, 1);
  return true;
}

void RemoteCaller::run(const std::stop_token& stop) {
  std::list<std::unique_ptr<Exchange>> under_way;
  std::vector<pollfd> polled;
  auto xid = static_cast<std::uint32_t>(Clock::now().time_since_epoch().count());

  const auto done = [&](Exchange& exchange, Result<std::span<const std::byte>> results) {
    {
      const std::lock_guard lock(mutex_);
      --calls_;
    }
    exchange.on_done(std::move(results));
  };
  // To the next step that can be begun; false: the call has ended.
  const auto begin = [&](Exchange& exchange, Status begun) {
    while (!begun) {
      exchange.error = begun.error();
      if (!is_tcp(exchange.step)) {
        done(exchange, fail(exchange.error));
        return false;
      }
      exchange.step = Step::kUdpLookup;
      begun = exchange.start(portmapper_port_, ++xid, Clock::now());
    }
    return true;
  };
  const auto step = [&](Exchange& exchange, short events, Clock::time_point now) -> bool {
    if (events == 0) {
      if (now >= exchange.deadline) return begin(exchange, fail(Errc::kTimeout, "no answer"));
      if (now < exchange.resend) return true;
      exchange.pause *= 2;
      exchange.resend = now + exchange.pause;
      exchange.sent = 0;
      return true;
    }
    if (exchange.wants() == POLLOUT) {
      const Status sent = exchange.send_some();
      return sent ? true : begin(exchange, sent);
    }
    const auto reply = exchange.receive();
    if (!reply) return begin(exchange, fail(reply.error()));
    if (reply->empty()) return true;
    const auto results = results_of(*reply);
    if (!is_lookup(exchange.step)) {
      if (!results && is_tcp(exchange.step)) return begin(exchange, fail(results.error()));
      done(exchange, results);
      return false;
    }
    if (!results) return begin(exchange, fail(results.error()));
    XdrReader in(*results);
    const std::uint32_t port = in.u32();
    if (!in.ok() || port == 0 || port > 65535) return begin(exchange, fail(Errc::kNotFound, "no such service"));
    exchange.port = static_cast<std::uint16_t>(port);
    exchange.step = exchange.step == Step::kTcpLookup ? Step::kTcpCall : Step::kUdpCall;
    return begin(exchange, exchange.start(portmapper_port_, ++xid, now));
  };

  while (!stop.stop_requested()) {
    std::list<std::unique_ptr<Exchange>> fresh;
    {
      const std::lock_guard lock(mutex_);
      fresh.swap(fresh_);
    }
    for (auto it = fresh.begin(); it != fresh.end();) {
      const auto here = it++;
      if (begin(**here, (*here)->start(portmapper_port_, ++xid, Clock::now())))
        under_way.splice(under_way.end(), fresh, here);
    }
    polled.assign(1, {wake_, POLLIN, 0});
    auto until = Clock::time_point::max();
    for (const auto& exchange : under_way) {
      polled.push_back({exchange->fd, exchange->wants(), 0});
      until = std::min({until, exchange->deadline, exchange->resend});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    poll(polled.data(), polled.size(),
         under_way.empty() ? -1 : static_cast<int>(std::clamp<std::int64_t>(left, 0, 10'000)));
    eventfd_t woken = 0;
    eventfd_read(wake_, &woken);
    const auto now = Clock::now();
    std::size_t i = 1;
    for (auto it = under_way.begin(); it != under_way.end(); ++i) {
      it = step(**it, polled[i].revents, now) ? std::next(it) : under_way.erase(it);
    }
  }
}

Result<std::string> local_address_towards(const std::array<std::uint8_t, 16>& address) {
  STOA_TRY(to, ipv4(address, 111));
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail_errno(errno, "socket");
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const bool known = connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&from), &size) == 0;
  const int error = errno;
  close(fd);
  if (!known) return fail_errno(error, "no way to a client");
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &from.sin_addr, text.data(), text.size());
  return std::string(text.data());
}

}  // namespace stoa::rpc
