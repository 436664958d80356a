#include "frontends/native/server/lease_recalls.h"

#include "frontends/native/protocol/message.h"

namespace stoa::native {

LeaseRecalls::LeaseRecalls(core::StateTable& state, MetricRegistry& metrics)
    : state_(state),
      recalls_(metrics.counter("stoa_native_recalls_total",
                               "Recalls of leases of native clients; once, however often sent.")) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LeaseRecalls::~LeaseRecalls() {
  state_.mute(*this);
}

void LeaseRecalls::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void LeaseRecalls::add(core::HolderId holder, const std::shared_ptr<Session>& session) {
  const std::lock_guard lock(mutex_);
  sessions_.emplace(holder, session);
}

void LeaseRecalls::remove(core::HolderId holder) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(holder);
  due_.erase(holder);
}

std::shared_ptr<Session> LeaseRecalls::find_locked(core::HolderId holder) const {
  const auto found = sessions_.find(holder);
  return found == sessions_.end() ? nullptr : found->second.lock();
}

void LeaseRecalls::send(core::HolderId holder) {
  {
    const std::lock_guard lock(mutex_);
    if (!sessions_.contains(holder)) return;
    due_.insert(holder);
  }
  wake_.notify_one();
}

void LeaseRecalls::lease_recalled(const core::LeaseRecall& recall) {
  recalls_.add();
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    session = find_locked(recall.holder);
  }
  if (session != nullptr && session->leases.recalled(recall, SessionLeases::Clock::now())) send(recall.holder);
}

bool LeaseRecalls::send_all(Session& session) {
  while (true) {
    const std::vector<RecallNotice> notices = session.leases.take_unsent(kOperationsMax);
    if (notices.empty()) return true;
    Bytes records;
    for (const RecallNotice& notice : notices) append_record(records, 0, notice);
    const Bytes frame = encode_message({.version = kVersion,
                                        .kind = static_cast<U16>(MessageKind::kRecall),
                                        .session = session.id,
                                        .operation_count = static_cast<U32>(notices.size())},
                                       {}, records, {});
    switch (session.channels.send(frame)) {
      case PushChannels::Sent::kYes:
        break;
      case PushChannels::Sent::kLater:
        session.leases.send_again();
        return false;
      case PushChannels::Sent::kNoChannel:
        return true;  // sent when there is one: SessionTable::attach()
    }
  }
}

void LeaseRecalls::run(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kTryAgain{200};
  std::unique_lock lock(mutex_);
  std::set<core::HolderId> later;
  while (!stop.stop_requested()) {
    const auto woken = [this] { return !due_.empty(); };
    if (later.empty()) {
      wake_.wait(lock, stop, woken);
    } else {
      wake_.wait_for(lock, stop, kTryAgain, woken);
    }
    later.merge(std::exchange(due_, {}));
    std::set<core::HolderId> now = std::exchange(later, {});
    for (const core::HolderId holder : now) {
      if (stop.stop_requested()) return;
      const auto session = find_locked(holder);
      if (session == nullptr) continue;
      lock.unlock();
      const bool done = send_all(*session);
      lock.lock();
      if (!done) later.insert(holder);
    }
  }
}

}  // namespace stoa::native
