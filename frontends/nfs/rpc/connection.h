// One TCP connection: what it waits for in epoll, and what waits to be sent on it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/api/io.h"
#include "frontends/nfs/rpc/program.h"
#include "frontends/nfs/rpc/receiver.h"

namespace stoa::rpc {

// The state of the receive side: exactly one worker holds it, or epoll does, or nobody because the connection is held
// back (its output is not drained, or too many of its calls are in flight).
//
// Thread-safe except `receiver`, which belongs to the worker that holds the receive side.
class Connection final : public BackChannel, public std::enable_shared_from_this<Connection> {
 public:
  struct Limits {
    std::uint64_t output_bytes_max;      // queued output beyond which the connection is not read any more
    std::uint64_t output_bytes_all_max;  // of all connections together: beyond it each has only kOutputShare
    std::uint32_t in_flight_max;         // calls handed to other workers
  };
  static constexpr std::uint64_t kOutputShare = std::uint64_t{256} << 10;

  Connection(int fd, int epoll, std::uint64_t epoll_key, Peer peer, std::shared_ptr<AddressBudget> budget,
             RecordPool& pool, const ReceiverLimits& receiver_limits, PayloadOffset payload_offset,
             const Limits& limits, std::atomic<std::uint64_t>& all_output_bytes);
  ~Connection() override;
  Connection(const Connection&) = delete;

  int fd() const { return fd_; }
  std::uint64_t epoll_key() const { return epoll_key_; }
  const Peer& peer() const { return peer_; }
  AddressBudget& budget() { return *budget_; }
  Receiver& receiver() { return receiver_; }

  // --- epoll ---------------------------------------------------------------------------------------------------------
  struct Ready {
    bool in = false;   // the caller now holds the receive side
    bool out = false;  // the caller should flush()
  };
  // Called by the worker that got `events`.
  Ready take_events(std::uint32_t events);
  // Gives the receive side back: to epoll, or to nobody when the connection must be held back. False: held back.
  bool release_receive_side();
  // Hands the receive side to epoll when it was held back and no longer needs to be.
  void resume_if_held();

  // --- output --------------------------------------------------------------------------------------------------------
  // Sends now what the socket takes and queues the rest. False: the connection is broken.
  bool send(std::span<const std::byte> bytes);
  // The same for `head`, then the slices (`length` bytes in all), then padding to four bytes. One frame, not torn apart
  // by other senders.
  bool send(std::span<const std::byte> head, std::vector<core::DataSlice> slices, std::uint64_t length);
  // The socket takes bytes again. False: the connection is broken.
  bool flush();
  std::uint64_t backlog() const { return backlog_.load(std::memory_order_relaxed); }
  bool backlog_high() const {
    const std::uint64_t mine = backlog();
    return mine > limits_.output_bytes_max ||
           (mine > kOutputShare && all_output_bytes_.load(std::memory_order_relaxed) > limits_.output_bytes_all_max);
  }

  // --- calls to the client
  bool call_back(std::vector<std::byte> record, OnReply on_reply) override;
  bool connected() const override { return !closed.load(); }
  std::weak_ptr<BackChannel> keep() override {
    back_channel.store(true, std::memory_order_relaxed);
    return weak_from_this();
  }
  // True: the record is a reply to a call of ours, and whoever waits for it was called.
  bool take_reply(std::span<const std::byte> record);
  void drop_callbacks();  // the connection is closed

  // --- calls in flight
  // -------------------------------------------------------------------------------------------------
  std::atomic<std::uint32_t> in_flight{0};
  bool in_flight_full() const { return in_flight.load(std::memory_order_relaxed) >= limits_.in_flight_max; }

  // Calls that came in the same receive as what filled the limits; they go on when there is room. Reading stops until
  // there are none, so that one receive bounds them.
  void park(Record record);
  bool take_parked(Record& record);  // false: none, or still no room
  bool has_parked() const { return parked_count_.load(std::memory_order_relaxed) > 0; }

  // Whether calls of a weight block. A guess from their recent past, so races between workers do not matter.
  class SlowCalls {
   public:
    void note(bool slow, std::uint32_t strike, std::uint32_t calls) {
      const std::uint32_t strikes = strikes_.load(std::memory_order_relaxed);
      if (!slow) {
        if (strikes > 0) strikes_.store(strikes - 1, std::memory_order_relaxed);
      } else if (strikes == 0) {
        strikes_.store(strike, std::memory_order_relaxed);
      } else {
        left_.store(calls, std::memory_order_relaxed);
      }
    }
    // True: the next call is expected to block.
    bool take() {
      const std::uint32_t left = left_.load(std::memory_order_relaxed);
      if (left > 0) left_.store(left - 1, std::memory_order_relaxed);
      return left > 0;
    }

   private:
    std::atomic<std::uint32_t> strikes_{0};
    std::atomic<std::uint32_t> left_{0};
  };
  std::array<SlowCalls, kWeights> slow{};
  // Calls in a row that came one by one, each after the reply to the one before. Of whoever holds the receive side.
  std::uint32_t lone_calls = 0;

  // --- life ----------------------------------------------------------------------------------------------------------
  std::atomic<bool> closed{false};        // no longer in the server's table
  std::atomic<bool> end_of_input{false};  // the peer will send no more; close when all is answered
  std::atomic<std::int64_t> last_input_ns{0};
  std::atomic<std::int64_t> last_output_ns{0};    // when output was last taken by the socket
  std::atomic<std::int64_t> partial_since_ns{0};  // 0: no part of a record waits for its rest
  std::atomic<bool> holds_memory{false};          // for that record
  std::atomic<bool> back_channel{false};          // the client may be called over it
  bool under_way() const { return in_flight.load() != 0 || backlog() != 0 || has_parked(); }

 private:
  struct Piece {  // memory of our own, or a slice
    std::vector<std::byte> bytes;
    core::DataSlice slice{};
    std::size_t at = 0;
  };
  enum class Sent : std::uint8_t { kAll, kSome, kBroken };

  bool must_hold() const { return backlog_high() || in_flight_full() || has_parked(); }
  void rearm_locked();
  void enqueue_locked(std::span<const std::byte> bytes);
  Sent send_memory(std::span<const std::byte> bytes, bool more, std::size_t& sent);
  Sent send_slice(const core::DataSlice& slice, bool more, std::size_t& sent);
  Sent flush_locked();
  void want_output();
  void account(std::int64_t delta);

  const int fd_;
  const int epoll_;
  const std::uint64_t epoll_key_;
  const Peer peer_;
  const std::shared_ptr<AddressBudget> budget_;
  const Limits limits_;
  Receiver receiver_;

  std::mutex arm_mutex_;  // guards the three below and the epoll registration
  bool want_in_ = true;
  bool want_out_ = false;
  bool held_ = false;

  std::mutex send_mutex_;  // guards queue_ and the order of bytes on the socket
  std::deque<Piece> queue_;
  std::atomic<std::uint64_t> backlog_{0};
  std::atomic<std::uint64_t>& all_output_bytes_;

  static constexpr std::size_t kCallbacksMax = 256;
  std::mutex callbacks_mutex_;  // guards the two below
  std::uint32_t next_callback_ = 1;
  std::map<std::uint32_t, OnReply> callbacks_;  // by xid

  std::mutex parked_mutex_;  // guards parked_
  std::deque<Record> parked_;
  std::atomic<std::uint32_t> parked_count_{0};
};

}  // namespace stoa::rpc
