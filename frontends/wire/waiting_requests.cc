#include "frontends/wire/waiting_requests.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stoa::wire {

// Shared with the callbacks that the state table keeps.
struct WaitingRequests::Table {
  struct Entry {
    Request request;  // without `resume` until the recall is known to be under way
    std::optional<core::RecallWait> recall{};
  };
  struct Share {
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;
  };

  explicit Table(const ServerLimits& limits_of_server) : limits(limits_of_server) {}

  bool has_room_locked(const Request& request) const {
    const auto mine = shares.find(request.owner);
    const Share share = mine == shares.end() ? Share{} : mine->second;
    return entries.size() < limits.waiting_max && share.requests < limits.waiting_per_connection_max &&
           bytes + request.bytes <= limits.waiting_bytes_max &&
           share.bytes + request.bytes <= limits.waiting_bytes_per_connection_max;
  }
  std::uint64_t add_locked(const Request& request) {
    Share& share = shares[request.owner];
    ++share.requests;
    share.bytes += request.bytes;
    bytes += request.bytes;
    entries.emplace(next_id, Entry{{.owner = request.owner, .bytes = request.bytes}});
    return next_id++;
  }
  Entry take_locked(std::map<std::uint64_t, Entry>::iterator at) {
    Entry entry = std::move(at->second);
    entries.erase(at);
    bytes -= entry.request.bytes;
    const auto share = shares.find(entry.request.owner);
    share->second.bytes -= entry.request.bytes;
    if (--share->second.requests == 0) shares.erase(share);
    return entry;
  }
  // The recall was answered.
  void clear(std::uint64_t id) {
    Entry gone;  // its memory is freed behind the lock
    const std::lock_guard lock(mutex);
    const auto found = entries.find(id);
    if (found == entries.end()) return;
    gone = take_locked(found);
    if (gone.request.resume) gone.request.resume(false);
  }

  const ServerLimits limits;
  mutable std::mutex mutex;  // guards what follows, and is held while requests are resumed
  bool closed = false;
  std::uint64_t next_id = 1;
  std::uint64_t bytes = 0;
  std::map<std::uint64_t, Entry> entries;
  std::unordered_map<const void*, Share> shares;
};

WaitingRequests::WaitingRequests(core::StateTable* state, const ServerLimits& limits, Counter& refused)
    : state_(state), refused_(refused), table_(std::make_shared<Table>(limits)) {}

WaitingRequests::~WaitingRequests() {
  close();
}

WaitingRequests::Outcome WaitingRequests::park(core::FileId file, Request& request) {
  Table& table = *table_;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(table.mutex);
    if (table.closed) return Outcome::kFull;
    if (!table.has_room_locked(request)) {
      refused_.add();
      return Outcome::kFull;
    }
    id = table.add_locked(request);
  }
  const auto recall = state_->when_clear(file, [shared = table_, id] { shared->clear(id); });
  const bool waits = recall && recall->has_value();
  {
    const std::lock_guard lock(table.mutex);
    const auto found = table.entries.find(id);
    if (found != table.entries.end()) {
      if (!waits) {
        table.take_locked(found);
        if (!recall) refused_.add();
        return recall ? Outcome::kClear : Outcome::kFull;
      }
      Table::Entry& entry = found->second;
      entry.recall = **recall;
      entry.request = std::move(request);
      entry.request.until = std::min(entry.request.until, (*recall)->lapses);
      return Outcome::kWaits;
    }
  }
  // It was answered, or the connection ended, before it could be kept.
  if (waits) state_->stop_waiting(**recall);
  return Outcome::kClear;
}

template <class Chosen>
void WaitingRequests::end(bool resume, Chosen chosen) {
  std::vector<Table::Entry> gone;
  {
    const std::lock_guard lock(table_->mutex);
    for (auto at = table_->entries.begin(); at != table_->entries.end();) {
      const auto here = at++;
      if (!chosen(here->second)) continue;
      gone.push_back(table_->take_locked(here));
      if (resume && gone.back().request.resume) gone.back().request.resume(true);
    }
  }
  for (const Table::Entry& entry : gone) {
    if (entry.recall) state_->stop_waiting(*entry.recall);
  }
}

void WaitingRequests::finish(const void* owner) {
  end(true, [owner](const Table::Entry& entry) { return entry.request.owner == owner; });
}

void WaitingRequests::finish_all() {
  {
    const std::lock_guard lock(table_->mutex);
    table_->closed = true;
  }
  end(true, [](const Table::Entry&) { return true; });
}

void WaitingRequests::cancel(const void* owner) {
  end(false, [owner](const Table::Entry& entry) { return entry.request.owner == owner; });
}

void WaitingRequests::expire(Clock::time_point now) {
  end(true, [now](const Table::Entry& entry) { return entry.recall && entry.request.until <= now; });
}

void WaitingRequests::close() {
  {
    const std::lock_guard lock(table_->mutex);
    table_->closed = true;
  }
  end(false, [](const Table::Entry&) { return true; });
}

WaitingRequests::Clock::time_point WaitingRequests::next_expiry() const {
  const std::lock_guard lock(table_->mutex);
  auto next = Clock::time_point::max();
  for (const auto& [id, entry] : table_->entries) {
    if (entry.recall) next = std::min(next, entry.request.until);
  }
  return next;
}

std::uint64_t WaitingRequests::count() const {
  const std::lock_guard lock(table_->mutex);
  return table_->entries.size();
}

std::uint64_t WaitingRequests::bytes() const {
  const std::lock_guard lock(table_->mutex);
  return table_->bytes;
}

}  // namespace stoa::wire
