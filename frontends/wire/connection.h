// One connection of protocol P: its parts, and how they act together.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "frontends/tls/stream.h"
#include "frontends/wire/activity.h"
#include "frontends/wire/in_flight.h"
#include "frontends/wire/interest.h"
#include "frontends/wire/output_queue.h"
#include "frontends/wire/peer.h"
#include "frontends/wire/protocol.h"
#include "frontends/wire/receiver.h"

namespace stoa::wire {

// Thread-safe except for `receiver` and `serial_requests`, which belong to the worker that holds the receive side.
// The socket closes with the last reference, so a descriptor is never reused under a sender.
template <class P>
class Connection final : public std::enable_shared_from_this<Connection<P>> {
 public:
  Connection(int socket, int epoll, std::uint64_t epoll_key, Peer from, std::shared_ptr<AddressBudget> shared,
             Receiver receives, std::uint64_t output_bytes_max, AllOutput& all_output, std::uint32_t in_flight_max)
      : fd(socket),
        key(epoll_key),
        peer(std::move(from)),
        budget(std::move(shared)),
        interest(epoll, epoll_key, socket),
        receiver(std::move(receives)),
        output(socket, output_bytes_max, all_output),
        in_flight(in_flight_max),
        session(*this) {}
  ~Connection() { ::close(fd); }
  Connection(const Connection&) = delete;

  // False: the connection is broken, and to be closed.
  bool send(std::span<const std::byte> bytes) {
    return !closed.load(std::memory_order_relaxed) && keep_sending(output.send(bytes));
  }
  bool send(std::span<const std::byte> head, std::vector<core::DataSlice> slices, std::span<const std::byte> tail) {
    return !closed.load(std::memory_order_relaxed) && keep_sending(output.send(head, std::move(slices), tail));
  }
  bool flush() { return keep_sending(output.flush()); }

  // Before the first receive, by the holder of the receive side: a connection whose first byte is that of a TLS
  // handshake speaks TLS, if there is a context for it.
  enum class Began : std::uint8_t { kNo, kYes, kBroken };  // kNo: nothing has come yet
  Began begin(const std::shared_ptr<const tls::Context>& context) {
    if (context == nullptr) return Began::kYes;
    std::uint8_t first = 0;
    const ssize_t n = ::recv(fd, &first, sizeof first, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0)
      return errno == EAGAIN || errno == EINTR ? Began::kNo : Began::kYes;  // a fault is the receiver's to tell
    if (n == 0 || first != tls::kHandshakeByte) return Began::kYes;
    auto stream = tls::Stream::accept(*context, fd);
    if (!stream) return Began::kBroken;
    tls = std::move(*stream);
    receiver.use_tls(tls.get());
    output.use_tls(tls.get());
    return Began::kYes;
  }

  // False: it was held back.
  bool release_receive_side() {
    return interest.release([this] { return must_hold(); });
  }
  void resume_if_held() {
    interest.resume_if_held([this] { return must_hold(); });
  }
  // False: none, or still no room.
  bool take_parked(Held<P>& held) {
    return in_flight.has_parked() && !output.backlog_high() && !in_flight.full() && in_flight.take_parked(held);
  }
  bool under_way() const { return in_flight.count() != 0 || output.backlog() != 0 || in_flight.has_parked(); }

  const int fd;
  const std::uint64_t key;  // of its epoll events
  const Peer peer;
  const std::shared_ptr<AddressBudget> budget;
  Interest interest;
  std::unique_ptr<tls::Stream> tls;  // null: plain. Set before the first receive, and never again
  bool began = false;                // of the holder of the receive side
  Receiver receiver;
  OutputQueue output;
  InFlight<Held<P>> in_flight;
  Activity activity;
  SlowRequests slow;
  std::uint32_t serial_requests = 0;      // in a row that came one by one, each after the reply to the one before
  std::atomic<bool> closed{false};        // no longer in the server's table
  std::atomic<bool> end_of_input{false};  // the peer will send no more; close when all is answered
  typename P::Session session;

 private:
  bool must_hold() const { return output.backlog_high() || in_flight.full() || in_flight.has_parked(); }
  bool keep_sending(OutputQueue::Sent sent) {
    if (sent == OutputQueue::Sent::kSome) interest.want_output();
    return sent != OutputQueue::Sent::kBroken;
  }
};

}  // namespace stoa::wire
