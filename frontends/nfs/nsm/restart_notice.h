// After a start of ours: tells the status monitors of all clients that held locks, so that they take them back while
// others wait. Goes on by itself until each has answered, or kTime is over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "frontends/nfs/rpc/remote_caller.h"

namespace stoa::nsm {

class RestartNotice {
 public:
  static constexpr std::chrono::minutes kTime{15};
  using Address = std::array<std::uint8_t, 16>;  // as rpc::Peer::address

  // `state`: of this machine, as of now. The dialer of `caller` must have been stopped
  // before this goes.
  RestartNotice(std::vector<Address> clients, std::uint32_t state, rpc::RemoteCaller& caller);

 private:
  using Clock = std::chrono::steady_clock;
  // Clients know a server by its address or by its name, so both are sent.
  struct Notice {
    Address to;
    std::string from;
    Clock::time_point due{};
    std::chrono::seconds pause{1};
    bool under_way = false;
    bool told = false;
  };
  void run(const std::stop_token& stop);
  // The longest wait comes first: a host without a place now gets one before those that were called already.
  void call_due(Clock::time_point now);
  bool call(Notice& notice);  // false: too many calls in progress

  const std::uint32_t state_;
  rpc::RemoteCaller& caller_;
  std::mutex mutex_;             // guards notices_
  std::vector<Notice> notices_;  // their places stay
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it goes first
};

}  // namespace stoa::nsm
