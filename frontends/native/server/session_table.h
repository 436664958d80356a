// The sessions of a server: found by log-ins, ended by silence, by their clients, or by administrators.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <unordered_map>
#include <vector>

#include "base/metrics.h"
#include "core/api/state.h"
#include "frontends/native/server/lease_recalls.h"
#include "frontends/native/server/session.h"

namespace stoa::native {

inline constexpr std::size_t kSessionsMax = 4096;
inline constexpr std::size_t kSessionsPerPeerMax = 512;

// Thread-safe.
class SessionTable {
 public:
  using Clock = std::chrono::steady_clock;
  // `state` must outlive it. What sessions hold stays in it when the table goes: clients ask it back from the next
  // server, and the content of a file without a name is kept for them. `lease`: so long a session may be silent.
  SessionTable(core::StateTable& state, std::chrono::seconds lease, MetricRegistry& metrics);
  SessionTable(const SessionTable&) = delete;

  struct Entered {
    std::shared_ptr<Session> session;  // null: there are too many
    bool made = false;
  };
  // The session of this client, or a new one.
  Entered enter(const SessionKey& key, const std::string& peer, Clock::time_point now);
  static void heard(Session& session, Clock::time_point now) {
    session.heard_ns.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }

  // Before the first open or lock of a session: a start waits for it from then on. Blocks for a durable write. Errors
  // of StateTable::remember_client().
  Status remember(Session& session);
  // The same before its first lease for writing. Errors of StateTable::remember_writer().
  Status remember_writer(Session& session);
  // Ends it and all that it holds, for good. Idempotent.
  void end(Session& session);
  // Those that were silent for longer than the lease.
  void end_silent(Clock::time_point now);

  std::vector<std::shared_ptr<Session>> list() const;
  std::chrono::seconds lease() const { return lease_; }
  void stop_recalls() { recalls_.stop(); }
  void send_recalls(const Session& session) { recalls_.send(session.holder); }
  // A connection of the session may be sent to from now on.
  void attach(Session& session, const std::weak_ptr<PushChannels::Connection>& connection);

 private:
  core::StateTable& state_;
  const std::chrono::seconds lease_;
  ReplyMemory reply_memory_;
  Gauge& count_;
  Counter& refused_;
  Counter& silent_;
  mutable std::mutex mutex_;                                            // guards what follows
  std::unordered_map<std::string, std::shared_ptr<Session>> sessions_;  // by stable name
  std::mt19937_64 numbers_;
  LeaseRecalls recalls_;  // last: it goes first, with its thread
};

}  // namespace stoa::native
