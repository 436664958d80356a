#include "frontends/native/server/session_table.h"

#include <algorithm>

#include "base/log.h"

namespace stoa::native {

SessionTable::SessionTable(core::StateTable& state, std::chrono::seconds lease, MetricRegistry& metrics)
    : state_(state),
      lease_(lease),
      count_(metrics.gauge("stoa_native_sessions", "Sessions of native clients.")),
      refused_(metrics.counter("stoa_native_sessions_refused_total", "Log-ins refused for too many sessions.")),
      silent_(metrics.counter("stoa_native_sessions_silent_total", "Sessions ended because their client was silent.")),
      numbers_(std::random_device{}()),
      recalls_(state, metrics) {}

SessionTable::Entered SessionTable::enter(const SessionKey& key, const std::string& peer, Clock::time_point now) {
  const std::string name = key.stable_name();
  const std::lock_guard lock(mutex_);
  if (const auto found = sessions_.find(name); found != sessions_.end()) {
    heard(*found->second, now);
    return {found->second};
  }
  const auto of_peer = std::ranges::count_if(sessions_, [&](const auto& entry) { return entry.second->peer == peer; });
  if (sessions_.size() >= kSessionsMax || static_cast<std::size_t>(of_peer) >= kSessionsPerPeerMax) {
    refused_.add();
    return {};
  }
  const core::HolderId holder =
      state_.add_holder(core::Protocol::kNative, &recalls_, peer, {.recall_timeout = kLeaseRecallTime});
  if (holder == core::kNoHolder) {
    refused_.add();
    return {};
  }
  auto session = std::make_shared<Session>(numbers_() | 1, key, peer, holder, reply_memory_);
  heard(*session, now);
  recalls_.add(holder, session);
  sessions_.emplace(name, session);
  count_.set(static_cast<std::int64_t>(sessions_.size()));
  return {session, true};
}

Status SessionTable::remember(Session& session) {
  const std::lock_guard lock(session.remember_mutex);
  if (session.ended.load()) return fail(Errc::kStale);
  if (session.remembered > 0) return {};
  STOA_CHECK_OK(state_.remember_client(core::Protocol::kNative, session.key.stable_name()));
  ++session.remembered;
  return {};
}

Status SessionTable::remember_writer(Session& session) {
  const std::lock_guard lock(session.remember_mutex);
  if (session.ended.load()) return fail(Errc::kStale);
  if (session.writes) return {};
  STOA_CHECK_OK(state_.remember_writer(core::Protocol::kNative, session.key.stable_name()));
  ++session.remembered;
  session.writes = true;
  return {};
}

void SessionTable::attach(Session& session, const std::weak_ptr<PushChannels::Connection>& connection) {
  session.channels.add(connection);
  if (session.leases.send_again()) recalls_.send(session.holder);
}

void SessionTable::end(Session& session) {
  const std::string name = session.key.stable_name();
  std::shared_ptr<Session> keep;
  {
    const std::lock_guard lock(mutex_);
    if (session.ended.exchange(true)) return;
    const auto found = sessions_.find(name);
    if (found != sessions_.end() && found->second.get() == &session) {
      keep = std::move(found->second);
      sessions_.erase(found);
    }
    count_.set(static_cast<std::int64_t>(sessions_.size()));
  }
  state_.remove_holder(session.holder);
  recalls_.remove(session.holder);
  const std::lock_guard lock(session.remember_mutex);
  for (; session.remembered > 0; --session.remembered) {
    const Status forgotten = state_.forget_client(core::Protocol::kNative, name);
    if (forgotten) continue;
    log_warning("native", "a client that has ended stays on record, so the next start waits for it",
                {{"client", session.peer}, {"error", describe(forgotten.error())}});
  }
}

void SessionTable::end_silent(Clock::time_point now) {
  for (const auto& session : list()) {
    const auto heard_at = Clock::time_point(Clock::duration(session->heard_ns.load(std::memory_order_relaxed)));
    if (now - heard_at <= lease_) continue;
    silent_.add();
    end(*session);
  }
}

std::vector<std::shared_ptr<Session>> SessionTable::list() const {
  std::vector<std::shared_ptr<Session>> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, session] : sessions_) all.push_back(session);
  return all;
}

}  // namespace stoa::native
