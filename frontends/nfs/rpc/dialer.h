// Calls to clients, over TCP and UDP, IPv4 and IPv6. NFSv4.0 calls clients back at ports that they gave (RFC 7530
// 10.2.1), the lock manager and the status monitor at ports from portmappers (remote_caller.h). One thread carries all
// lines and waits for none of them: a silent peer delays only itself.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::rpc {

enum class Transport : std::uint8_t { kTcp, kUdp };

class Dialer {
 public:
  static constexpr std::size_t kOpenLinesMax = 512;        // connected, or being connected
  static constexpr std::size_t kOpenLinesPerHostMax = 16;  // an IPv4 address, or the /64 of an IPv6 address
  static constexpr std::size_t kCallsPerLineMax = 64;
  static constexpr std::size_t kReplyBytesMax = 16u << 10;
  static constexpr std::chrono::seconds kPatience{10};  // from call_back() to the reply
  static constexpr std::chrono::seconds kIdle{60};      // then a connection is closed; the next call makes another
  static constexpr std::chrono::milliseconds kFirstResend{700};  // of a datagram; doubled each time

  Dialer();
  ~Dialer();  // stop()
  Dialer(const Dialer&) = delete;
  // Running calls are dropped: their `on_reply` is not called, nor is any when this has returned; later ones are
  // refused. Idempotent.
  void stop();

  // Connects at the first call, and is closed when it is idle or unreferenced; must not outlive the dialer. A call
  // that is not answered in time ends with an empty reply, over TCP all others of the line with it; so do all when the
  // connection fails. `address` as in Peer; of a link alone (fe80::): it cannot be reached.
  std::shared_ptr<BackChannel> line(const std::array<std::uint8_t, 16>& address, std::uint16_t port,
                                    Transport transport = Transport::kTcp);

 private:
  class Line;
  using LineRef = std::shared_ptr<Line>;
  bool take_on(const LineRef& line);  // with mutex_ held; false: too many are open, at all or to its host
  void wake();
  void run(const std::stop_token& stop);

  std::mutex mutex_;  // guards the members below, and all lines
  bool stopped_ = false;
  std::vector<LineRef> open_;
  const int wake_fd_;
  std::jthread thread_;
};

// --- encoding of calls
// An RPC call from its xid on. Clients refuse AUTH_NONE for some calls; with AUTH_SYS it comes from uid 0 of "stoa".
std::vector<std::byte> call_record(std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
                                   AuthFlavor flavor, std::span<const std::byte> arguments = {});
// The results in a reply record. kTimeout: no reply came; kNotSupported: no such program, version or procedure; kIo:
// refused otherwise.
Result<std::span<const std::byte>> results_of(std::span<const std::byte> reply);

}  // namespace stoa::rpc
