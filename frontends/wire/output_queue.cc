#include "frontends/wire/output_queue.h"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace stoa::wire {
namespace {

// Of a file, what is sealed at a time.
constexpr std::size_t kSliceBytes = std::size_t{64} << 10;

// False: the file was truncated meanwhile, or is not to be read; then all that is honest is to hang up.
bool seal_slice(tls::Stream& stream, const core::DataSlice& slice, std::vector<std::byte>& sealed) {
  if (slice.length == 0) return true;
  if (slice.fd < 0) return stream.seal(slice.bytes, sealed);
  std::vector<std::byte> part(std::min<std::size_t>(slice.length, kSliceBytes));
  for (std::size_t done = 0; done < slice.length;) {
    const std::size_t wanted = std::min<std::size_t>(slice.length - done, part.size());
    const ssize_t n = pread(slice.fd, part.data(), wanted, static_cast<off_t>(slice.file_offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || !stream.seal(std::span(part).first(static_cast<std::size_t>(n)), sealed)) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

void OutputQueue::account(std::int64_t delta) {
  backlog_.fetch_add(static_cast<std::uint64_t>(delta), std::memory_order_relaxed);
  all_.bytes.fetch_add(static_cast<std::uint64_t>(delta), std::memory_order_relaxed);
}

void OutputQueue::note_taken() {
  last_taken_ns_.store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

void OutputQueue::enqueue_locked(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  queue_.push_back(Piece{{bytes.begin(), bytes.end()}, {}, 0});
  account(static_cast<std::int64_t>(bytes.size()));
}

OutputQueue::Sent OutputQueue::send_memory(std::span<const std::byte> bytes, bool more, std::size_t& sent) {
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

OutputQueue::Sent OutputQueue::send_slice(const core::DataSlice& slice, bool more, std::size_t& sent) {
  if (slice.fd < 0) return send_memory(slice.bytes, more, sent);
  while (sent < slice.length) {
    auto at = static_cast<off_t>(slice.file_offset + sent);
    const ssize_t n = sendfile(fd_, slice.fd, &at, slice.length - sent);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    // Empty: the file was truncated meanwhile. The length is already promised, so all that is honest is to hang up
    // and let the client ask again.
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Sent::kSome : Sent::kBroken;
  }
  return Sent::kAll;
}

void OutputQueue::use_tls(tls::Stream* stream) {
  const std::lock_guard lock(mutex_);
  tls_ = stream;
}

OutputQueue::Sent OutputQueue::send_sealed_locked(std::span<const std::byte> head,
                                                  std::span<const core::DataSlice> slices,
                                                  std::span<const std::byte> tail) {
  std::vector<std::byte> sealed;
  bool whole = tls_->seal(head, sealed);
  for (const core::DataSlice& slice : slices) whole = whole && seal_slice(*tls_, slice, sealed);
  if (!tail.empty()) whole = whole && tls_->seal(tail, sealed);
  if (!whole) return Sent::kBroken;
  if (sealed.empty()) return queue_.empty() ? Sent::kAll : Sent::kSome;
  std::size_t sent = 0;
  if (queue_.empty()) {
    const Sent result = send_memory(sealed, false, sent);
    if (result != Sent::kSome) return result;
    note_taken();
  }
  account(static_cast<std::int64_t>(sealed.size() - sent));
  queue_.push_back(Piece{std::move(sealed), {}, sent});
  return Sent::kSome;
}

OutputQueue::Sent OutputQueue::send(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (tls_ != nullptr) return send_sealed_locked(bytes, {}, {});
  std::size_t sent = 0;
  if (queue_.empty()) {
    const Sent result = send_memory(bytes, false, sent);
    if (result != Sent::kSome) return result;
    note_taken();
  }
  enqueue_locked(bytes.subspan(sent));
  return Sent::kSome;
}

OutputQueue::Sent OutputQueue::send(std::span<const std::byte> head, std::vector<core::DataSlice> slices,
                                    std::span<const std::byte> tail) {
  const std::lock_guard lock(mutex_);
  if (tls_ != nullptr) return send_sealed_locked(head, slices, tail);
  const bool direct = queue_.empty();
  enqueue_locked(head);
  for (core::DataSlice& slice : slices) {
    if (slice.length == 0) continue;
    account(static_cast<std::int64_t>(slice.length));
    queue_.push_back(Piece{{}, std::move(slice), 0});
  }
  enqueue_locked(tail);
  if (!direct) return Sent::kSome;
  const Sent result = flush_locked();
  if (result == Sent::kSome) note_taken();
  return result;
}

OutputQueue::Sent OutputQueue::flush_locked() {
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

OutputQueue::Sent OutputQueue::flush() {
  const std::lock_guard lock(mutex_);
  const Sent result = flush_locked();
  note_taken();
  return result;
}

}  // namespace stoa::wire
