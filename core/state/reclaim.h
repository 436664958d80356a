// Clients that may reclaim state after a restart, and the grace time of all others. Durable: family state, "client",
// the protocol's number, the client's name; the value says whether it may have written into its cache. Beside them, how
// many times the volume was opened.
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
  static constexpr StateClock::duration kWritersWait = std::chrono::seconds(30);
  static constexpr std::size_t kClientsMax = 65536;
  static constexpr std::size_t kNameBytesMax = 1040;  // NFS4_OPAQUE_LIMIT, and the prefix of a front end

  Reclaim(KvStore& kv, Committer& committer, StateClock::duration grace, std::function<StateClock::time_point()> now)
      : kv_(kv), committer_(committer), grace_(grace), now_(std::move(now)) {}

  // Reads the clients that held state, and counts this start; grace begins when there are any.
  Status load();

  // The contracts of StateTable.
  Status remember(Protocol protocol, std::string_view name, bool as_writer);
  Status forget(Protocol protocol, std::string_view name);
  bool in_grace();
  // Whether in_grace() has been false, once and for ever; blocks for nothing.
  bool grace_is_over() const { return grace_over_.load(std::memory_order_acquire); }
  bool may_reclaim(Protocol protocol, std::string_view name);
  void done(Protocol protocol, std::string_view name);
  std::vector<std::string> names_before(Protocol protocol);
  std::uint32_t start_number() const { return starts_; }
  // Whether clients that wrote into caches before the start are not back yet, and have time left.
  bool awaits_writers() const { return writers_awaited_.load(std::memory_order_acquire) != 0 && now_() < writers_end_; }
  StateClock::time_point writers_end() const { return writers_end_; }
  std::size_t size() const;

 private:
  struct Client {
    std::uint32_t remembered = 0;  // times remembered in this run, less the times forgotten
    bool before = false;           // had one when the server started
    bool waited_for = false;
    bool here = false;            // was heard of in this run
    bool writer = false;          // has write leases, or had
    bool awaited_writer = false;  // had them before the start
  };
  // With mutex_ held.
  Status count_start();
  void no_longer_waited_for(Client& client);
  void no_longer_awaited(Client& client);
  Result<CommitTicket> end_grace();

  KvStore& kv_;
  Committer& committer_;
  const StateClock::duration grace_;
  const std::function<StateClock::time_point()> now_;
  std::atomic<bool> grace_over_{true};
  std::uint32_t starts_ = 0;              // written by load() alone
  StateClock::time_point writers_end_{};  // the same
  std::atomic<std::size_t> writers_awaited_{0};

  mutable std::mutex mutex_;  // guards the members below, and the order of records in the commit queue
  StateClock::time_point grace_end_{};
  std::unordered_map<std::string, Client> clients_;  // by key in the store
  std::size_t waited_for_ = 0;
};

}  // namespace stoa::core
