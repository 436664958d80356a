// Clients that may reclaim state after a restart, and the grace time of all others. Durable: family state, "client",
// the protocol's number, the client's name. Beside them, how many times the volume was opened.
//
// A client that missed grace must not reclaim after the next restart: others may have held its state meanwhile. So its
// record goes, durably, before grace ends.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/commit/committer.h"
#include "core/state/leases.h"

namespace stoa::core {

class Reclaim {
 public:
  static constexpr std::size_t kClientsMax = 65536;
  static constexpr std::size_t kNameBytesMax = 1040;  // NFS4_OPAQUE_LIMIT, and the prefix of a front end

  Reclaim(KvStore& kv, Committer& committer, StateClock::duration grace, std::function<StateClock::time_point()> now)
      : kv_(kv), committer_(committer), grace_(grace), now_(std::move(now)) {}

  // Reads the clients that held state, and counts this start; grace begins when there are any.
  Status load();

  // The contracts of StateTable.
  Status remember(Protocol protocol, std::string_view name);
  Status forget(Protocol protocol, std::string_view name);
  bool in_grace();
  // Whether in_grace() has been false, once and for ever; blocks for nothing.
  bool grace_is_over() const { return grace_over_.load(std::memory_order_acquire); }
  bool may_reclaim(Protocol protocol, std::string_view name);
  void done(Protocol protocol, std::string_view name);
  std::vector<std::string> names_before(Protocol protocol);
  std::uint32_t start_number() const { return starts_; }
  std::size_t size() const;

 private:
  struct Client {
    std::uint32_t remembered = 0;  // times remembered in this run, less the times forgotten
    bool before = false;           // had one when the server started
    bool waited_for = false;
    bool here = false;  // was heard of in this run
  };
  // With mutex_ held.
  Status count_start();
  void no_longer_waited_for(Client& client);
  Result<CommitTicket> end_grace();

  KvStore& kv_;
  Committer& committer_;
  const StateClock::duration grace_;
  const std::function<StateClock::time_point()> now_;
  std::atomic<bool> grace_over_{true};
  std::uint32_t starts_ = 0;  // written by load() alone

  mutable std::mutex mutex_;  // guards the members below, and the order of records in the commit queue
  StateClock::time_point grace_end_{};
  std::unordered_map<std::string, Client> clients_;  // by key in the store
  std::size_t waited_for_ = 0;
};

}  // namespace stoa::core
