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
#include <cstring>
#include <map>
#include <utility>

#include "frontends/nfs/rpc/message.h"
#include "frontends/nfs/rpc/xdr.h"

namespace stoa::rpc {
namespace {

constexpr std::uint32_t kLastFragment = 0x8000'0000;
using Clock = std::chrono::steady_clock;

}  // namespace

// All of it is guarded by the dialer's mutex.
class Dialer::Line final : public BackChannel, public std::enable_shared_from_this<Line> {
 public:
  Line(Dialer& dialer, const std::array<std::uint8_t, 16>& address, std::uint16_t port) : dialer_(dialer) {
    constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    host_ = address;
    if (std::equal(kMapped.begin(), kMapped.end(), address.begin())) {
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(port);
      std::memcpy(&to.sin_addr, address.data() + kMapped.size(), sizeof to.sin_addr);
      std::memcpy(&to_, &to, to_bytes_ = sizeof to);
    } else {
      sockaddr_in6 to{};
      to.sin6_family = AF_INET6;
      to.sin6_port = htons(port);
      std::memcpy(&to.sin6_addr, address.data(), sizeof to.sin6_addr);
      std::memcpy(&to_, &to, to_bytes_ = sizeof to);
      std::fill(host_.begin() + 8, host_.end(), std::uint8_t{0});
    }
  }
  const std::array<std::uint8_t, 16>& host() const { return host_; }

  ~Line() override { hang_up(); }

  bool call_back(std::vector<std::byte> record, OnReply on_reply) override {
    const std::lock_guard lock(dialer_.mutex_);
    if (waiting_.size() >= kCallsPerLineMax || !dialer_.take_on(shared_from_this())) return false;
    const std::uint32_t xid = next_xid_++;
    store_be32(record.data(), xid);
    std::byte mark[4];
    store_be32(mark, kLastFragment | static_cast<std::uint32_t>(record.size()));
    out_.insert(out_.end(), mark, mark + sizeof mark);
    out_.insert(out_.end(), record.begin(), record.end());
    last_use_ = Clock::now();
    waiting_.emplace(xid, Waiting{std::move(on_reply), last_use_ + kPatience});
    dialer_.wake();
    return true;
  }
  bool connected() const override { return true; }  // as far as is known before somebody calls
  std::weak_ptr<BackChannel> keep() override { return weak_from_this(); }

  // --- what the dialer's thread asks
  // Connects when it is not, and gives what to wait for. False: it is of no more use now.
  bool prepare(pollfd& wanted) {
    if (fd_ < 0) {
      if (waiting_.empty()) return false;
      fd_ = socket(to_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      const int on = 1;
      setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const int made = fd_ < 0 ? -1 : connect(fd_, reinterpret_cast<const sockaddr*>(&to_), to_bytes_);
      if (fd_ < 0 || (made != 0 && errno != EINPROGRESS)) return false;
    }
    const auto now = Clock::now();
    if (waiting_.empty() && now - last_use_ >= kIdle) return false;
    for (const auto& [xid, waiting] : waiting_) {
      if (waiting.until <= now) return false;
    }
    wanted = {.fd = fd_, .events = static_cast<short>(POLLIN | (sent_ < out_.size() ? POLLOUT : 0)), .revents = 0};
    return true;
  }
  // Replies that have come go to `replies`. False: the connection is broken.
  using Reply = std::pair<OnReply, std::vector<std::byte>>;
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
    std::byte buffer[4096];
    const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (n > 0) in_.insert(in_.end(), buffer, buffer + n);
    return take_records(replies);
  }
  void drop(std::vector<Reply>& replies) {
    hang_up();
    for (auto& [xid, waiting] : std::exchange(waiting_, {}))
      replies.emplace_back(std::move(waiting.on_reply), std::vector<std::byte>{});
  }

 private:
  struct Waiting {
    OnReply on_reply;
    Clock::time_point until;
  };
  void hang_up() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    out_.clear();
    in_.clear();
    sent_ = 0;
  }
  // Replies are short: one that comes in fragments, or is long, is not from a client that was called.
  bool take_records(std::vector<Reply>& replies) {
    std::size_t at = 0;
    while (in_.size() - at >= 4) {
      const std::uint32_t mark = load_be32(in_.data() + at);
      const std::size_t length = mark & ~kLastFragment;
      if ((mark & kLastFragment) == 0 || length < 8 || length > kReplyBytesMax) return false;
      if (in_.size() - at - 4 < length) break;
      const std::byte* const record = in_.data() + at + 4;
      at += 4 + length;
      const auto found = waiting_.find(load_be32(record));
      if (found == waiting_.end() || load_be32(record + 4) != kReply) continue;
      replies.emplace_back(std::move(found->second.on_reply), std::vector<std::byte>(record, record + length));
      waiting_.erase(found);
    }
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }

  Dialer& dialer_;
  std::array<std::uint8_t, 16> host_;
  sockaddr_storage to_{};
  socklen_t to_bytes_ = 0;
  int fd_ = -1;
  std::vector<std::byte> out_, in_;
  std::size_t sent_ = 0;  // of out_
  std::uint32_t next_xid_ = 1;
  std::map<std::uint32_t, Waiting> waiting_;  // by xid
  Clock::time_point last_use_{};
};

Dialer::Dialer() : wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Dialer::~Dialer() {
  thread_.request_stop();
  wake();
  if (thread_.joinable()) thread_.join();
  open_.clear();
  close(wake_fd_);
}

std::shared_ptr<BackChannel> Dialer::line(const std::array<std::uint8_t, 16>& address, std::uint16_t port) {
  return std::make_shared<Line>(*this, address, port);
}

bool Dialer::take_on(const LineRef& line) {
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
  constexpr int kLookAfterTimes = 1000;  // ms
  std::vector<pollfd> polled;
  std::vector<LineRef> lines;
  std::vector<Line::Reply> replies;
  while (!stop.stop_requested()) {
    polled.assign(1, {.fd = wake_fd_, .events = POLLIN, .revents = 0});
    lines.clear();
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(open_, [&](const LineRef& line) {
        pollfd wanted{};
        if (!line->prepare(wanted)) {
          line->drop(replies);
          return true;
        }
        polled.push_back(wanted);
        lines.push_back(line);
        return false;
      });
    }
    if (replies.empty()) {
      poll(polled.data(), polled.size(), lines.empty() ? -1 : kLookAfterTimes);
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

}  // namespace stoa::rpc
