// Output queue of one socket: replies in memory, and slices of files that sendfile(2) sends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "core/api/io.h"
#include "frontends/tls/stream.h"

namespace stoa::wire {

// Of all connections of a server.
struct AllOutput {
  const std::uint64_t bytes_max;  // beyond it each connection has only OutputQueue::kShare
  std::atomic<std::uint64_t> bytes{0};
};

// Thread-safe.
class OutputQueue {
 public:
  static constexpr std::uint64_t kShare = std::uint64_t{256} << 10;
  enum class Sent : std::uint8_t { kAll, kSome, kBroken };  // kSome: the rest waits for the socket, see flush()

  // `bytes_max`: beyond it the connection must not be read. `all` must outlive it.
  OutputQueue(int fd, std::uint64_t bytes_max, AllOutput& all) : fd_(fd), bytes_max_(bytes_max), all_(all) {}
  ~OutputQueue() { account(-static_cast<std::int64_t>(backlog())); }
  OutputQueue(const OutputQueue&) = delete;

  // Sends now as much as the socket takes and queues the rest.
  Sent send(std::span<const std::byte> bytes);
  // The same for `head`, the slices, and `tail`: in one piece, not torn apart by other senders.
  Sent send(std::span<const std::byte> head, std::vector<core::DataSlice> slices, std::span<const std::byte> tail);
  // The socket takes bytes again.
  Sent flush();
  // From now on all is sealed; send({}) sends what the stream itself has to say. Before anything was sent. `stream`
  // outlives it.
  void use_tls(tls::Stream* stream);

  std::uint64_t backlog() const { return backlog_.load(std::memory_order_relaxed); }
  bool backlog_high() const {
    const std::uint64_t mine = backlog();
    return mine > bytes_max_ || (mine > kShare && all_.bytes.load(std::memory_order_relaxed) > all_.bytes_max);
  }
  // The time when the socket last took queued bytes, by the steady clock.
  std::int64_t last_taken_ns() const { return last_taken_ns_.load(); }

 private:
  struct Piece {  // memory of our own, or a slice
    std::vector<std::byte> bytes;
    core::DataSlice slice{};
    std::size_t at = 0;
  };

  void enqueue_locked(std::span<const std::byte> bytes);
  Sent send_memory(std::span<const std::byte> bytes, bool more, std::size_t& sent);
  Sent send_slice(const core::DataSlice& slice, bool more, std::size_t& sent);
  Sent flush_locked();
  // What is sealed is in memory of the queue at once: records have their order.
  Sent send_sealed_locked(std::span<const std::byte> head, std::span<const core::DataSlice> slices,
                          std::span<const std::byte> tail);
  void account(std::int64_t delta);
  void note_taken();

  const int fd_;
  const std::uint64_t bytes_max_;
  AllOutput& all_;
  std::mutex mutex_;  // guards queue_, tls_ and the order of bytes on the socket
  tls::Stream* tls_ = nullptr;
  std::deque<Piece> queue_;
  std::atomic<std::uint64_t> backlog_{0};
  std::atomic<std::int64_t> last_taken_ns_{0};
};

}  // namespace stoa::wire
