// The clients of the lock manager: a host is an address and the name that it gives itself. It is a holder in the table
// of opens and locks from its first lock on, and is forgotten when it holds nothing. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/api/state.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::nlm {

using Clock = std::chrono::steady_clock;
using Address = std::array<std::uint8_t, 16>;  // as rpc::Peer::address

struct Host {
  Host(const Address& at, std::string called) : address(at), name(std::move(called)) {}

  const Address address;
  const std::string name;
  core::HolderId holder = core::kNoHolder;
  std::atomic<std::uint32_t> monitor_state{0};  // of its status monitor; 0: not told
  std::atomic<bool> remembered{false};          // waited for after a restart
  std::atomic<Clock::rep> used{0};              // when it last asked

  // SHARE: an open for each file and owner.
  std::mutex mutex;  // guards shares
  std::map<std::pair<core::FileId, std::string>, core::OpenId> shares;
};
using HostRef = std::shared_ptr<Host>;

class Hosts {
 public:
  static constexpr std::size_t kHostsMax = 10'000;
  static constexpr std::size_t kPerAddress = 256;  // many may share the address of a gateway
  static constexpr std::size_t kSharesPerHost = 10'000;

  using Granted = std::function<void(const core::LockRequest&)>;
  using Ended = std::function<void(const HostRef&)>;
  // `granted`: of a lock that a host waited for (core::StateTable::add_holder). `ended`: a host has lost all that it
  // had.
  Hosts(core::StateTable& state, Granted granted, Ended ended);
  ~Hosts();
  Hosts(const Hosts&) = delete;

  HostRef find(const Address& address, std::string_view name);
  HostRef find(core::HolderId holder);
  HostRef get(const Address& address, std::string_view name);  // null: there are too many

  // After a restart, while others wait: whether this client may take back what it had.
  bool may_reclaim(const Address& address, std::string_view name);
  // Durable: the next start waits for this host. Before its first lock. Errors as core::StateTable::remember_client.
  Status remember(const HostRef& host);
  // The host gives all back, or has started anew and knows of nothing: its locks, waits and shares end.
  // `monitor_state`: what its monitor says from now on; 0: not told.
  void free(const Address& address, std::string_view name, std::uint32_t monitor_state);
  // The status monitor of a machine says that it has started anew, and has this state now. What was told before is
  // nothing new. `name` tells apart those that share an address.
  void restarted(const Address& address, std::string_view name, std::uint32_t monitor_state);
  // Who held locks before this start and has not been heard of: its address and name.
  struct Known {
    Address address;
    std::string name;
  };
  std::vector<Known> to_notify();

  // Forgets who holds nothing and has not asked for a while.
  void forget_idle(Clock::time_point now);
  std::size_t size() const;

 private:
  using Key = std::pair<Address, std::string>;
  static std::string record_name(const Address& address, std::string_view name);
  void end(const HostRef& host);
  void forget_record(const Address& address, const std::string& name);

  core::StateTable& state_;
  const Granted granted_;
  const Ended ended_;

  mutable std::mutex mutex_;  // guards hosts_ and by_holder_
  std::map<Key, HostRef> hosts_;
  std::map<core::HolderId, HostRef> by_holder_;
  std::mutex records_mutex_;  // held while a record is written or removed, so that the last word is right
};

}  // namespace stoa::nlm
