#include "frontends/nfs/nlm/hosts.h"

#include <algorithm>

#include "base/log.h"

namespace stoa::nlm {
namespace {

constexpr std::string_view kRecordPrefix = "nlm ";  // beside the clients of other versions of NFS
constexpr std::chrono::seconds kIdle{30};

// Status monitors tell the full name of their machine where lock managers tell the short one, and the other way round.
bool same_machine(std::string_view a, std::string_view b) {
  return a.substr(0, a.find('.')) == b.substr(0, b.find('.'));
}

}  // namespace

Hosts::Hosts(core::StateTable& state, Granted granted, Ended ended)
    : state_(state), granted_(std::move(granted)), ended_(std::move(ended)) {}

Hosts::~Hosts() {
  for (const auto& [key, host] : hosts_) state_.remove_holder(host->holder);
}

std::string Hosts::record_name(const Address& address, std::string_view name) {
  std::string record(kRecordPrefix);
  record.append(reinterpret_cast<const char*>(address.data()), address.size());
  return record.append(name);
}

HostRef Hosts::find(const Address& address, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = hosts_.find({address, std::string(name)});
  return found == hosts_.end() ? nullptr : found->second;
}

HostRef Hosts::find(core::HolderId holder) {
  const std::lock_guard lock(mutex_);
  const auto found = by_holder_.find(holder);
  return found == by_holder_.end() ? nullptr : found->second;
}

HostRef Hosts::get(const Address& address, std::string_view name) {
  const std::lock_guard lock(mutex_);
  Key key{address, std::string(name)};
  const auto found = hosts_.find(key);
  if (found != hosts_.end()) {
    found->second->used = Clock::now().time_since_epoch().count();
    return found->second;
  }
  const auto first = hosts_.lower_bound({address, {}});
  std::size_t same = 0;
  for (auto at = first; at != hosts_.end() && at->first.first == address; ++at) ++same;
  if (hosts_.size() >= kHostsMax || same >= kPerAddress) return nullptr;
  const auto host = std::make_shared<Host>(address, key.second);
  host->holder = state_.add_holder(
      core::Door::kNfs, nullptr, std::string_view(reinterpret_cast<const char*>(address.data()), address.size()), granted_);
  if (host->holder == core::kNoHolder) return nullptr;
  host->used = Clock::now().time_since_epoch().count();
  hosts_.emplace(std::move(key), host);
  by_holder_.emplace(host->holder, host);
  return host;
}

bool Hosts::may_reclaim(const Address& address, std::string_view name) {
  return state_.may_reclaim(core::Door::kNfs, record_name(address, name));
}

Status Hosts::remember(const HostRef& host) {
  if (host->remembered.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(records_mutex_);
  STOA_CHECK_OK(state_.remember_client(core::Door::kNfs, record_name(host->address, host->name)));
  host->remembered.store(true, std::memory_order_release);
  return {};
}

void Hosts::forget_record(const Address& address, const std::string& name) {
  const std::lock_guard lock(records_mutex_);
  // One of the same name may have come meanwhile, and counts on being remembered.
  const HostRef present = find(address, name);
  if (present != nullptr && present->remembered) return;
  if (const Status gone = state_.forget_client(core::Door::kNfs, record_name(address, name)); !gone) {
    log_warning("nlm", "a client that is gone will be waited for after the next start",
                {{"error", describe(gone.error())}});
  }
}

void Hosts::end(const HostRef& host) {
  state_.remove_holder(host->holder);
  ended_(host);
}

void Hosts::free(const Address& address, std::string_view name, std::uint32_t monitor_state) {
  HostRef gone;
  {
    const std::lock_guard lock(mutex_);
    const auto found = hosts_.find({address, std::string(name)});
    if (found != hosts_.end()) {
      gone = found->second;
      by_holder_.erase(gone->holder);
      hosts_.erase(found);
    }
  }
  if (gone != nullptr) end(gone);
  forget_record(address, std::string(name));
  if (gone == nullptr || monitor_state == 0) return;
  // The same news comes more than once, and must not end what the client gets in between.
  if (const HostRef anew = get(address, name)) anew->monitor_state = monitor_state;
}

void Hosts::restarted(const Address& address, std::string_view name, std::uint32_t monitor_state) {
  std::vector<std::string> names;
  bool named = false;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = hosts_.lower_bound({address, {}}); at != hosts_.end() && at->first.first == address; ++at) {
      names.push_back(at->first.second);
      named |= same_machine(names.back(), name);
    }
  }
  for (const Known& known : to_notify()) {
    if (known.address != address || std::ranges::find(names, known.name) != names.end()) continue;
    names.push_back(known.name);
    named |= same_machine(known.name, name);
  }
  for (const std::string& one : names) {
    if (named && !same_machine(one, name)) continue;
    const HostRef host = find(address, one);
    if (host != nullptr && monitor_state != 0 && host->monitor_state == monitor_state) continue;
    log_info("nlm", "a client has started anew; its locks are free", {{"client", one}});
    free(address, one, monitor_state);
  }
}

std::vector<Hosts::Known> Hosts::to_notify() {
  std::vector<Known> all;
  for (const std::string& record : state_.clients_to_reclaim(core::Door::kNfs)) {
    Known known{};
    if (!record.starts_with(kRecordPrefix) || record.size() < kRecordPrefix.size() + known.address.size()) continue;
    std::copy_n(record.begin() + kRecordPrefix.size(), known.address.size(),
                reinterpret_cast<char*>(known.address.data()));
    known.name = record.substr(kRecordPrefix.size() + known.address.size());
    all.push_back(std::move(known));
  }
  return all;
}

void Hosts::forget_idle(Clock::time_point now) {
  std::vector<HostRef> idle;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = hosts_.begin(); at != hosts_.end();) {
      const HostRef& host = at->second;
      const Clock::time_point used{Clock::duration(host->used.load())};
      // Two: those of the tables. Whoever else uses it found it here, so nobody new can.
      if (host.use_count() > 2 || now - used < kIdle || state_.holds_state(host->holder)) {
        ++at;
        continue;
      }
      idle.push_back(host);
      by_holder_.erase(host->holder);
      at = hosts_.erase(at);
    }
  }
  for (const HostRef& host : idle) {
    end(host);
    if (host->remembered) forget_record(host->address, host->name);
  }
}

std::size_t Hosts::size() const {
  const std::lock_guard lock(mutex_);
  return hosts_.size();
}

}  // namespace stoa::nlm
