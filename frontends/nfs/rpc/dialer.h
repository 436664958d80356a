// Calls out to clients at addresses that they have given: NFSv4.0 calls clients back so (RFC 7530 10.2.1). One thread
// carries all lines and waits for none of them: a peer that does not answer holds up nobody but itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "frontends/nfs/rpc/program.h"

namespace stoa::rpc {

class Dialer {
 public:
  static constexpr std::size_t kOpenLinesMax = 512;        // connected, or being connected
  static constexpr std::size_t kOpenLinesPerHostMax = 16;  // an IPv4 address, or the /64 of an IPv6 address
  static constexpr std::size_t kCallsPerLineMax = 64;
  static constexpr std::size_t kReplyBytesMax = 16u << 10;
  static constexpr std::chrono::seconds kPatience{10};  // from call_back() to the reply
  static constexpr std::chrono::seconds kIdle{60};      // then a connection is closed; the next call makes another

  Dialer();
  ~Dialer();  // calls that wait are dropped: their `on_reply` is not called
  Dialer(const Dialer&) = delete;

  // Connects when something is to be called; must not outlive the dialer. A call that is not answered in time, or whose
  // connection fails, ends with an empty reply, and so do all others on the line. `address` as in Peer.
  std::shared_ptr<BackChannel> line(const std::array<std::uint8_t, 16>& address, std::uint16_t port);

 private:
  class Line;
  using LineRef = std::shared_ptr<Line>;
  bool take_on(const LineRef& line);  // with mutex_ held; false: too many are open, at all or to its host
  void wake();
  void run(const std::stop_token& stop);

  std::mutex mutex_;  // guards what follows, and all lines
  std::vector<LineRef> open_;
  const int wake_fd_;
  std::jthread thread_;
};

}  // namespace stoa::rpc
