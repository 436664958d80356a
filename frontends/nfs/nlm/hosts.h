// The clients of the lock manager: a host is an address and the name that it gives itself. It is a holder in the table
// of opens and locks from its first lock on, and is forgotten when it has no state. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/api/state.h"
#include "frontends/nfs/client_status.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::nlm {

using Clock = std::chrono::steady_clock;
using Address = std::array<std::uint8_t, 16>;  // as rpc::Peer::address

struct Host {
  Host(const Address& at, std::string own_name) : address(at), name(std::move(own_name)) {}

  const Address address;
  const std::string name;
  core::HolderId holder = core::kNoHolder;
  std::atomic<std::uint32_t> monitor_state{0};  // of its status monitor; 0: not reported
  std::atomic<bool> remembered{false};          // waited for after a restart; written with its record's mutex held
  std::atomic<Clock::rep> heard{0};             // time of its last call or answer
  std::atomic<Clock::rep> called{0};            // time of the last call that checked it

  bool gone = false;  // its record is to be removed; guarded by its record's mutex

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
  // A silent host with state is called this often. It is dead after the same silence as an expired NFSv4 client whose
  // state conflicts with nothing.
  static constexpr std::chrono::hours kCallEvery{1};
  static constexpr std::chrono::hours kDead{24};
  static constexpr std::chrono::minutes kAnswerTime{1};  // longer than any call takes

  using Ended = std::function<void(const HostRef&)>;
  // `events`: of hosts as holders. `ended`: a host has lost all its state. `now`: null: the steady clock.
  Hosts(core::StateTable& state, core::HolderEvents& events, Ended ended,
        std::function<Clock::time_point()> now = nullptr);
  ~Hosts();
  Hosts(const Hosts&) = delete;

  HostRef find(const Address& address, std::string_view name);
  HostRef find(core::HolderId holder);
  bool any_at(const Address& address) const;
  // Null: there are too many. `monitor_state`: as the host reports it; 0: not reported. A newer one than before: it has
  // restarted without notice, and its state ends.
  HostRef get(const Address& address, std::string_view name, std::uint32_t monitor_state);

  // After a restart, during grace: whether this client may reclaim.
  bool may_reclaim(const Address& address, std::string_view name);
  // Durable: the next start waits for this host. Before its first lock. kInvalid: it was freed meanwhile; others as
  // core::StateTable::remember_client.
  Status remember(const HostRef& host);
  // The host returns all its state, or has restarted and lost it: its locks, waits and shares end. `monitor_state`: the
  // state of its monitor from now on; 0: not told.
  void free(const Address& address, std::string_view name, std::uint32_t monitor_state);
  // The status monitor of a machine reports a restart, with the new state. A repeated notice changes nothing. `name`
  // distinguishes hosts that share an address.
  void restarted(const Address& address, std::string_view name, std::uint32_t monitor_state);
  // A host that held locks before this start and has been silent since: its address and name.
  struct Known {
    Address address;
    std::string name;
  };
  std::vector<Known> to_notify();

  // Called periodically: forgets silent hosts without state, and ends dead ones. Returns the hosts to call now. Use
  // called_now() when it is called, which returns the time of the last call; heard_of() when it answers.
  std::vector<HostRef> look_after();
  void heard_of(Host& host) const { host.heard = now().time_since_epoch().count(); }
  Clock::rep called_now(Host& host) const { return host.called.exchange(now().time_since_epoch().count()); }
  std::size_t size() const;

  // For administrators: lists the hosts; and ends one, as if it had restarted. kNotFound: no such host; errors of the
  // store: it may reclaim after a restart.
  std::vector<nfs::ClientStatus> list() const;
  Status evict(core::HolderId holder);

 private:
  using Key = std::pair<Address, std::string>;
  static std::string record_name(const Address& address, std::string_view name);
  Clock::time_point now() const { return now_ ? now_() : Clock::now(); }
  HostRef take_out_locked(std::map<Key, HostRef>::iterator at);
  void end(const HostRef& host);
  // Removes its record as the last step. `gone`: the host, which is in no table any more; null: none in this run.
  Status forget_record(const Address& address, const std::string& name, Host* gone);
  void forget_record_or_log(const Address& address, const std::string& name, Host* gone);
  std::mutex& record_mutex(const std::string& record) {
    return records_[std::hash<std::string>{}(record) % records_.size()];
  }

  core::StateTable& state_;
  core::HolderEvents& events_;
  const Ended ended_;
  const std::function<Clock::time_point()> now_;

  mutable std::mutex mutex_;  // guards hosts_ and by_holder_
  std::map<Key, HostRef> hosts_;
  std::map<core::HolderId, HostRef> by_holder_;
  // Held while a record is written or removed, so that the last write is right. Chosen by the record's name, so that
  // hosts do not wait for each other after a restart.
  std::array<std::mutex, 256> records_;
};

}  // namespace stoa::nlm
