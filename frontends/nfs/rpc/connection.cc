#include "frontends/nfs/rpc/connection.h"

#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "frontends/nfs/rpc/xdr.h"

namespace stoa::rpc {
namespace {

constexpr std::byte kZeros[4]{};

std::int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace

Connection::Connection(int fd, int epoll, std::uint64_t epoll_key, Peer peer, std::shared_ptr<AddressBudget> budget,
                       RecordPool& pool, const ReceiverLimits& receiver_limits, PayloadOffset payload_offset,
                       const Limits& limits, std::atomic<std::uint64_t>& all_output_bytes)
    : fd_(fd),
      epoll_(epoll),
      epoll_key_(epoll_key),
      peer_(std::move(peer)),
      budget_(std::move(budget)),
      limits_(limits),
      receiver_(pool, budget_, receiver_limits, payload_offset),
      all_output_bytes_(all_output_bytes) {}

Connection::~Connection() {
  account(-static_cast<std::int64_t>(backlog()));
  close(fd_);
}

// --- epoll
// -------------------------------------------------------------------------------------------------------------

void Connection::rearm_locked() {
  epoll_event event{};
  event.events = EPOLLONESHOT | (want_in_ ? EPOLLIN : 0u) | (want_out_ ? EPOLLOUT : 0u);
  event.data.u64 = epoll_key_;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, fd_, &event);  // Fails only when the connection was taken out; then all is over.
}

Connection::Ready Connection::take_events(std::uint32_t events) {
  const std::lock_guard lock(arm_mutex_);
  const bool trouble = (events & (EPOLLHUP | EPOLLERR)) != 0;
  Ready ready;
  ready.in = want_in_ && (trouble || (events & EPOLLIN) != 0);
  ready.out = want_out_ && (trouble || (events & EPOLLOUT) != 0);
  if (ready.in) want_in_ = false;
  if (ready.out) want_out_ = false;
  if (want_in_ || want_out_) rearm_locked();  // One shot has switched off both.
  return ready;
}

bool Connection::release_receive_side() {
  const std::lock_guard lock(arm_mutex_);
  if (must_hold()) {
    held_ = true;
    return false;
  }
  want_in_ = true;
  rearm_locked();
  return true;
}

void Connection::resume_if_held() {
  const std::lock_guard lock(arm_mutex_);
  if (!held_ || must_hold()) return;
  held_ = false;
  want_in_ = true;
  rearm_locked();
}

void Connection::want_output() {
  const std::lock_guard lock(arm_mutex_);
  if (want_out_) return;
  want_out_ = true;
  rearm_locked();
}

// --- output
// ------------------------------------------------------------------------------------------------------------

void Connection::account(std::int64_t delta) {
  backlog_.fetch_add(static_cast<std::uint64_t>(delta), std::memory_order_relaxed);
  all_output_bytes_.fetch_add(static_cast<std::uint64_t>(delta), std::memory_order_relaxed);
}

void Connection::enqueue_locked(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  queue_.push_back(Piece{{bytes.begin(), bytes.end()}, {}, 0});
  account(static_cast<std::int64_t>(bytes.size()));
}

Connection::Sent Connection::send_memory(std::span<const std::byte> bytes, bool more, std::size_t& sent) {
  while (sent < bytes.size()) {
    const ssize_t n =
        ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Sent::kSome : Sent::kBroken;
  }
  return Sent::kAll;
}

Connection::Sent Connection::send_slice(const core::DataSlice& slice, bool more, std::size_t& sent) {
  if (slice.fd < 0) return send_memory(slice.bytes, more, sent);
  while (sent < slice.length) {
    auto at = static_cast<off_t>(slice.file_offset + sent);
    const ssize_t n = sendfile(fd_, slice.fd, &at, slice.length - sent);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    // Nothing: the file was cut under us. The length is already promised, so all that is honest is to hang up and let
    // the client ask again.
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Sent::kSome : Sent::kBroken;
  }
  return Sent::kAll;
}

bool Connection::send(std::span<const std::byte> bytes) {
  if (closed.load(std::memory_order_relaxed)) return false;
  {
    const std::lock_guard lock(send_mutex_);
    std::size_t sent = 0;
    if (queue_.empty()) {
      const Sent result = send_memory(bytes, false, sent);
      if (result == Sent::kAll) return true;
      if (result == Sent::kBroken) return false;
      last_output_ns.store(steady_ns(), std::memory_order_relaxed);
    }
    enqueue_locked(bytes.subspan(sent));
  }
  want_output();
  return true;
}

bool Connection::send(std::span<const std::byte> head, std::vector<core::DataSlice> slices, std::uint64_t length) {
  if (closed.load(std::memory_order_relaxed)) return false;
  const std::size_t padding = padded(length) - length;
  {
    const std::lock_guard lock(send_mutex_);
    const bool direct = queue_.empty();
    enqueue_locked(head);
    for (core::DataSlice& slice : slices) {
      if (slice.length == 0) continue;
      account(static_cast<std::int64_t>(slice.length));
      queue_.push_back(Piece{{}, std::move(slice), 0});
    }
    enqueue_locked(std::span(kZeros).first(padding));
    if (direct) {
      const Sent result = flush_locked();
      if (result == Sent::kAll) return true;
      if (result == Sent::kBroken) return false;
      last_output_ns.store(steady_ns(), std::memory_order_relaxed);
    }
  }
  want_output();
  return true;
}

Connection::Sent Connection::flush_locked() {
  while (!queue_.empty()) {
    Piece& piece = queue_.front();
    const bool more = queue_.size() > 1;
    const std::size_t before = piece.at;
    const Sent result =
        piece.slice.length > 0 ? send_slice(piece.slice, more, piece.at) : send_memory(piece.bytes, more, piece.at);
    account(-static_cast<std::int64_t>(piece.at - before));
    if (result != Sent::kAll) return result;
    queue_.pop_front();
  }
  return Sent::kAll;
}

bool Connection::flush() {
  Sent result;
  {
    const std::lock_guard lock(send_mutex_);
    result = flush_locked();
    last_output_ns.store(steady_ns(), std::memory_order_relaxed);
  }
  if (result == Sent::kBroken) return false;
  if (result == Sent::kSome) want_output();
  return true;
}

// --- calls in flight
// -----------------------------------------------------------------------------------------------------

void Connection::park(Record record) {
  const std::lock_guard lock(parked_mutex_);
  parked_.push_back(std::move(record));
  parked_count_.store(static_cast<std::uint32_t>(parked_.size()), std::memory_order_relaxed);
}

bool Connection::take_parked(Record& record) {
  if (!has_parked() || backlog_high() || in_flight_full()) return false;
  const std::lock_guard lock(parked_mutex_);
  if (parked_.empty()) return false;
  record = std::move(parked_.front());
  parked_.pop_front();
  parked_count_.store(static_cast<std::uint32_t>(parked_.size()), std::memory_order_relaxed);
  return true;
}

// --- calls to the client
// -----------------------------------------------------------------------------------------------

bool Connection::call_back(std::vector<std::byte> record, OnReply on_reply) {
  std::uint32_t xid = 0;
  {
    const std::lock_guard lock(callbacks_mutex_);
    if (closed.load() || callbacks_.size() >= kCallbacksMax) return false;
    xid = next_callback_++;
    callbacks_.emplace(xid, std::move(on_reply));
  }
  store_be32(record.data(), xid);
  std::vector<std::byte> framed(4 + record.size());
  store_be32(framed.data(), 0x8000'0000 | static_cast<std::uint32_t>(record.size()));
  std::ranges::copy(record, framed.begin() + 4);
  // A broken connection is closed by the worker that meets it, and tells who waits.
  send(framed);
  return true;
}

bool Connection::take_reply(std::span<const std::byte> record) {
  if (record.size() < 8 || load_be32(record.data() + 4) != kReply) return false;
  OnReply on_reply;
  {
    const std::lock_guard lock(callbacks_mutex_);
    const auto found = callbacks_.find(load_be32(record.data()));
    // One that nobody waits for any more, or, where nothing was ever called, no record that belongs here.
    if (found == callbacks_.end()) return next_callback_ != 1;
    on_reply = std::move(found->second);
    callbacks_.erase(found);
  }
  on_reply(record);
  return true;
}

void Connection::drop_callbacks() {
  std::map<std::uint32_t, OnReply> dropped;
  {
    const std::lock_guard lock(callbacks_mutex_);
    dropped.swap(callbacks_);
  }
  for (const auto& [xid, on_reply] : dropped) on_reply({});
}

}  // namespace stoa::rpc
