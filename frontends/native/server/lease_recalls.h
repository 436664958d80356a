// Recalls of leases on their way to clients: noted by whoever met the lease, sent by a thread of their own.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include "base/metrics.h"
#include "core/api/state.h"
#include "frontends/native/server/session.h"

namespace stoa::native {

// Thread-safe. What waits is one entry of a session at most, whose recalls are in its table.
class LeaseRecalls final : public core::HolderEvents {
 public:
  // `state` outlives it.
  LeaseRecalls(core::StateTable& state, MetricRegistry& metrics);
  ~LeaseRecalls();  // no more events come
  LeaseRecalls(const LeaseRecalls&) = delete;

  void add(core::HolderId holder, const std::shared_ptr<Session>& session);
  void remove(core::HolderId holder);
  // Nothing is sent any more. Idempotent; before the connections go.
  void stop();
  // The session has recalls to be sent.
  void send(core::HolderId holder);

  void lease_recalled(const core::LeaseRecall& recall) override;

 private:
  void run(const std::stop_token& stop);
  // False: the client has to take its replies first.
  bool send_all(Session& session);
  std::shared_ptr<Session> find_locked(core::HolderId holder) const;

  core::StateTable& state_;
  Counter& recalls_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  std::unordered_map<core::HolderId, std::weak_ptr<Session>> sessions_;
  std::set<core::HolderId> due_;
  std::jthread thread_;
};

}  // namespace stoa::native
