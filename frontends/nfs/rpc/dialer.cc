#include "frontends/nfs/rpc/dialer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "base/assert.h"
#include "frontends/nfs/rpc/message.h"
#include "frontends/nfs/rpc/record_mark.h"
#include "frontends/nfs/rpc/xdr.h"
#include "frontends/wire/peer.h"

namespace stoa::rpc {
namespace {

constexpr std::chrono::milliseconds kLookAfterTimes{1000};
using Clock = std::chrono::steady_clock;

}  // namespace

// All of it is guarded by the dialer's mutex.
class Dialer::Line final : public BackChannel, public std::enable_shared_from_this<Line> {
 public:
  Line(Dialer& dialer, const std::array<std::uint8_t, 16>& address, std::uint16_t port, Transport transport)
      : dialer_(dialer),
        host_(wire::host_of(address)),
        to_(wire::socket_address(address, port)),
        udp_(transport == Transport::kUdp) {}
  ~Line() override { hang_up(); }
  const std::array<std::uint8_t, 16>& host() const { return host_; }

  bool call_back(std::vector<std::byte> record, OnReply on_reply) override {
    const std::lock_guard lock(dialer_.mutex_);
    if (waiting_.size() >= kCallsPerLineMax || !dialer_.take_on(shared_from_this())) return false;
    const std::uint32_t xid = next_xid_++;
    store_be32(record.data(), xid);
    last_use_ = Clock::now();
    Waiting waiting{.on_reply = std::move(on_reply), .until = last_use_ + kPatience};
    if (udp_) {
      waiting.datagram = std::move(record);
      waiting.send_at = last_use_;
    } else {
      std::byte mark[4];
      store_be32(mark, kLastFragment | static_cast<std::uint32_t>(record.size()));
      out_.insert(out_.end(), mark, mark + sizeof mark);
      out_.insert(out_.end(), record.begin(), record.end());
    }
    waiting_.emplace(xid, std::move(waiting));
    dialer_.wake();
    return true;
  }
  bool connected() const override { return true; }  // as far as is known before a call
  std::weak_ptr<BackChannel> keep() override { return weak_from_this(); }

  // --- requests of the dialer's thread
  // A call's end: its reply, or nothing.
  using Reply = std::pair<OnReply, std::vector<std::byte>>;
  // Connects if necessary, and returns the event to wait for, and its time limit. False: the line is broken.
  bool prepare(pollfd& wanted, Clock::time_point now, Clock::time_point& until, std::vector<Reply>& replies) {
    // The dialer is one that keeps it.
    if (waiting_.empty() && (fd_ < 0 || now - last_use_ >= kIdle || weak_from_this().use_count() == 1)) return false;
    if (fd_ < 0 && !connect()) return false;
    if (udp_ ? !send_due(now, until, replies)
             : std::ranges::any_of(waiting_, [&](const auto& call) { return call.second.until <= now; })) {
      return false;
    }
    wanted = {.fd = fd_, .events = static_cast<short>(POLLIN | (sent_ < out_.size() ? POLLOUT : 0)), .revents = 0};
    return true;
  }
  // Replies that have come go to `replies`. False: the connection is broken.
  bool move(short events, std::vector<Reply>& replies) {
    if ((events & POLLOUT) != 0 && sent_ < out_.size()) {
      const ssize_t n = send(fd_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
      sent_ += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
      if (sent_ == out_.size()) {
        out_.clear();
        sent_ = 0;
      }
    }
    if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return true;
    std::byte buffer[kReplyBytesMax];
    const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    const auto got = static_cast<std::size_t>(n);
    if (udp_) {
      take_record(std::span(buffer).first(got), replies);
      return true;
    }
    in_.insert(in_.end(), buffer, buffer + got);
    return got != 0 && take_records(replies);
  }
  // All calls end: into `ended`, for their callbacks.
  void drop(std::vector<Reply>& ended) {
    hang_up();
    for (auto& [xid, waiting] : std::exchange(waiting_, {}))
      ended.emplace_back(std::move(waiting.on_reply), std::vector<std::byte>{});
  }

 private:
  struct Waiting {
    OnReply on_reply;
    Clock::time_point until;
    // Over UDP:
    std::vector<std::byte> datagram{};
    Clock::time_point send_at{};
    std::chrono::milliseconds pause = kFirstResend;
  };
  bool connect() {
    fd_ = socket(to_.storage.ss_family, (udp_ ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return false;
    const int on = 1;
    if (!udp_) setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return ::connect(fd_, to_.get(), to_.bytes) == 0 || errno == EINPROGRESS;
  }
  void hang_up() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    out_.clear();
    in_.clear();
    sent_ = 0;
  }
  bool send_due(Clock::time_point now, Clock::time_point& until, std::vector<Reply>& replies) {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      Waiting& call = at->second;
      if (call.until <= now) {
        replies.emplace_back(std::move(call.on_reply), std::vector<std::byte>{});
        at = waiting_.erase(at);
        continue;
      }
      if (call.send_at <= now) {
        const ssize_t n = send(fd_, call.datagram.data(), call.datagram.size(), MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
        call.send_at = now + call.pause;
        call.pause *= 2;
      }
      until = std::min({until, call.send_at, call.until});
      ++at;
    }
    return true;
  }
  void take_record(std::span<const std::byte> record, std::vector<Reply>& replies) {
    if (record.size() < 8 || load_be32(record.data() + 4) != kReply) return;
    const auto found = waiting_.find(load_be32(record.data()));
    if (found == waiting_.end()) return;
    replies.emplace_back(std::move(found->second.on_reply), std::vector<std::byte>(record.begin(), record.end()));
    waiting_.erase(found);
  }
  // Replies are short: one that comes in fragments, or is long, is not from a client that was called.
  bool take_records(std::vector<Reply>& replies) {
    std::size_t at = 0;
    while (in_.size() - at >= 4) {
      const std::uint32_t mark = load_be32(in_.data() + at);
      const std::size_t length = mark & ~kLastFragment;
      if ((mark & kLastFragment) == 0 || length < 8 || length > kReplyBytesMax) return false;
      if (in_.size() - at - 4 < length) break;
      take_record(std::span(in_).subspan(at + 4, length), replies);
      at += 4 + length;
    }
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }

  Dialer& dialer_;
  std::array<std::uint8_t, 16> host_;
  const wire::SocketAddress to_;
  const bool udp_;
  int fd_ = -1;
  std::vector<std::byte> out_, in_;  // over TCP
  std::size_t sent_ = 0;             // of out_
  // Differs from the start of an earlier line to the same port: the other end may remember its calls.
  std::uint32_t next_xid_ = static_cast<std::uint32_t>(Clock::now().time_since_epoch().count());
  std::map<std::uint32_t, Waiting> waiting_;  // by xid
  Clock::time_point last_use_{};
};

Dialer::Dialer() : wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  STOA_ASSERT(wake_fd_ >= 0);
}

Dialer::~Dialer() {
  stop();
  close(wake_fd_);
}

void Dialer::stop() {
  std::vector<Line::Reply> dropped;  // goes when the lock is gone: it may own other lines
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  thread_.request_stop();
  wake();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  for (const LineRef& line : std::exchange(open_, {})) line->drop(dropped);
}

std::shared_ptr<BackChannel> Dialer::line(const std::array<std::uint8_t, 16>& address, std::uint16_t port,
                                          Transport transport) {
  return std::make_shared<Line>(*this, address, port, transport);
}

bool Dialer::take_on(const LineRef& line) {
  if (stopped_) return false;
  if (std::ranges::find(open_, line) != open_.end()) return true;
  const auto same_host =
      std::ranges::count_if(open_, [&](const LineRef& other) { return other->host() == line->host(); });
  if (open_.size() >= kOpenLinesMax || static_cast<std::size_t>(same_host) >= kOpenLinesPerHostMax) return false;
  open_.push_back(line);
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  return true;
}

void Dialer::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_fd_, &one, sizeof one);
}

void Dialer::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "nfs-dialer");
  std::vector<pollfd> polled;
  std::vector<LineRef> lines;
  std::vector<Line::Reply> replies;
  while (!stop.stop_requested()) {
    polled.assign(1, {.fd = wake_fd_, .events = POLLIN, .revents = 0});
    const auto now = Clock::now();
    auto until = now + kLookAfterTimes;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(open_, [&](const LineRef& line) {
        pollfd wanted{};
        if (!line->prepare(wanted, now, until, replies)) {
          line->drop(replies);
          return true;
        }
        polled.push_back(wanted);
        return false;
      });
      lines = open_;
    }
    if (replies.empty()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
      poll(polled.data(), polled.size(), lines.empty() ? -1 : static_cast<int>(left));
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = read(wake_fd_, &count, sizeof count);
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        if (polled[i + 1].revents == 0 || lines[i]->move(polled[i + 1].revents, replies)) continue;
        lines[i]->drop(replies);
        std::erase(open_, lines[i]);
      }
    }
    lines.clear();
    for (auto& [on_reply, record] : std::exchange(replies, {})) on_reply(record);
  }
}

std::vector<std::byte> call_record(std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
                                   AuthFlavor flavor, std::span<const std::byte> arguments) {
  ReplyBuffer buffer;
  XdrWriter out(buffer);
  for (const std::uint32_t word :
       {0u, kCall, kRpcVersion, program, version, procedure, static_cast<std::uint32_t>(flavor)}) {
    out.u32(word);  // the line sets the xid
  }
  if (flavor == AuthFlavor::kSys) {
    constexpr std::string_view kMachine = "stoa";
    out.u32(4 + 4 + kMachine.size() + 4 + 4 + 4);
    out.u32(0);  // stamp
    out.string(kMachine);
    out.u32(0);  // uid, gid, no groups
    out.u32(0);
    out.u32(0);
  } else {
    out.u32(0);
  }
  out.u32(0);  // verifier: AUTH_NONE
  out.u32(0);
  const auto header = buffer.bytes();
  std::vector<std::byte> record(header.begin(), header.end());
  record.insert(record.end(), arguments.begin(), arguments.end());
  return record;
}

Result<std::span<const std::byte>> results_of(std::span<const std::byte> reply) {
  if (reply.empty()) return fail(Errc::kTimeout, "no answer");
  XdrReader in(reply);
  in.u32();  // xid
  const std::uint32_t type = in.u32();
  const std::uint32_t denied = in.u32();
  in.u32();  // the verifier
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

}  // namespace stoa::rpc
