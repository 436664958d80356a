#include "frontends/nfs/nlm/hosts.h"

#include <algorithm>

#include "base/log.h"
#include "frontends/wire/peer.h"

namespace stoa::nlm {
namespace {

constexpr std::string_view kRecordPrefix = "nlm ";  // beside the clients of other versions of NFS
constexpr std::chrono::seconds kIdle{30};

// Status monitors tell the full name of their machine where lock managers tell the short one, and the other way round.
bool same_machine(std::string_view a, std::string_view b) {
  return a.substr(0, a.find('.')) == b.substr(0, b.find('.'));
}

}  // namespace

Hosts::Hosts(core::StateTable& state, core::HolderEvents& events, Ended ended, std::function<Clock::time_point()> now)
    : state_(state), events_(events), ended_(std::move(ended)), now_(std::move(now)) {}

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
  if (found == hosts_.end()) return nullptr;
  heard_of(*found->second);
  return found->second;
}

HostRef Hosts::find(core::HolderId holder) {
  const std::lock_guard lock(mutex_);
  const auto found = by_holder_.find(holder);
  return found == by_holder_.end() ? nullptr : found->second;
}

bool Hosts::any_at(const Address& address) const {
  const std::lock_guard lock(mutex_);
  const auto first = hosts_.lower_bound({address, {}});
  return first != hosts_.end() && first->first.first == address;
}

HostRef Hosts::take_out_locked(std::map<Key, HostRef>::iterator at) {
  HostRef host = at->second;
  by_holder_.erase(host->holder);
  hosts_.erase(at);
  return host;
}

HostRef Hosts::get(const Address& address, std::string_view name, std::uint32_t monitor_state) {
  HostRef before, host;
  {
    const std::lock_guard lock(mutex_);
    Key key{address, std::string(name)};
    const auto found = hosts_.find(key);
    if (found != hosts_.end()) {
      HostRef known = found->second;
      heard_of(*known);
      // They grow. A lower one is of another machine, of the same name behind the same gateway.
      const std::uint32_t state = known->monitor_state;
      const bool newer = static_cast<std::int32_t>(monitor_state - state) > 0;
      if (state == 0 || monitor_state == 0 || !newer) {
        if (state == 0) known->monitor_state = monitor_state;
        return known;
      }
      before = take_out_locked(found);
    }
    const auto first = hosts_.lower_bound({address, {}});
    std::size_t same = 0;
    for (auto at = first; at != hosts_.end() && at->first.first == address; ++at) ++same;
    if (hosts_.size() < kHostsMax && same < kPerAddress) {
      host = std::make_shared<Host>(address, key.second);
      host->monitor_state = monitor_state;
      host->holder = state_.add_holder(core::Protocol::kNfs, &events_,
                                       std::string_view(reinterpret_cast<const char*>(address.data()), address.size()));
    }
    if (host != nullptr && host->holder != core::kNoHolder) {
      heard_of(*host);
      by_holder_.emplace(host->holder, host);
      hosts_.emplace(std::move(key), host);
    } else {
      host = nullptr;
    }
  }
  if (before != nullptr) {
    log_info("nlm", "a client has started anew without a word; its locks are free", {{"client", before->name}});
    end(before);
    forget_record_or_log(address, before->name, before.get());
  }
  return host;
}

bool Hosts::may_reclaim(const Address& address, std::string_view name) {
  return state_.may_reclaim(core::Protocol::kNfs, record_name(address, name));
}

Status Hosts::remember(const HostRef& host) {
  if (host->remembered.load(std::memory_order_acquire)) return {};
  const std::string record = record_name(host->address, host->name);
  const std::lock_guard lock(record_mutex(record));
  if (host->remembered.load()) return {};
  if (host->gone) return fail(Errc::kInvalid, "the host was freed meanwhile");
  STOA_CHECK_OK(state_.remember_client(core::Protocol::kNfs, record));
  host->remembered.store(true, std::memory_order_release);
  return {};
}

Status Hosts::forget_record(const Address& address, const std::string& name, Host* gone) {
  const std::string record = record_name(address, name);
  const std::lock_guard lock(record_mutex(record));
  if (gone != nullptr) gone->gone = true;
  // The table decides: a client of the same name that came meanwhile keeps its record.
  if (gone != nullptr && gone->remembered) return state_.forget_client(core::Protocol::kNfs, record);
  // A host found here is from before this start, or has come meanwhile.
  const HostRef present = find(address, name);
  if (present != nullptr && present->remembered) return {};
  return state_.forget_client(core::Protocol::kNfs, record);
}

void Hosts::forget_record_or_log(const Address& address, const std::string& name, Host* gone) {
  if (const Status forgotten = forget_record(address, name, gone); !forgotten) {
    log_warning("nlm", "a client that is gone will be waited for after the next start",
                {{"error", describe(forgotten.error())}});
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
    if (found != hosts_.end()) gone = take_out_locked(found);
  }
  if (gone != nullptr) end(gone);
  forget_record_or_log(address, std::string(name), gone.get());
  if (gone == nullptr || monitor_state == 0) return;
  // The same notice comes more than once, and must not end state that the client got in between.
  (void)get(address, name, monitor_state);
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
  for (const std::string& record : state_.clients_to_reclaim(core::Protocol::kNfs)) {
    Known known{};
    if (!record.starts_with(kRecordPrefix) || record.size() < kRecordPrefix.size() + known.address.size()) continue;
    std::copy_n(record.begin() + kRecordPrefix.size(), known.address.size(),
                reinterpret_cast<char*>(known.address.data()));
    known.name = record.substr(kRecordPrefix.size() + known.address.size());
    all.push_back(std::move(known));
  }
  return all;
}

std::vector<HostRef> Hosts::look_after() {
  std::vector<HostRef> idle, dead, to_call;
  {
    const std::lock_guard lock(mutex_);
    const auto present = now();
    const auto since = [&](Clock::rep time) { return present - Clock::time_point(Clock::duration(time)); };
    for (auto at = hosts_.begin(); at != hosts_.end();) {
      const auto here = at++;
      Host& host = *here->second;
      const auto silent = since(host.heard);
      if (state_.holds_state(host.holder)) {
        // Not for a pause of ours: it has left a call unanswered, too.
        if (silent >= kDead && host.called > host.heard && since(host.called) >= kAnswerTime) {
          dead.push_back(take_out_locked(here));
        } else if (silent >= kCallEvery && since(host.called) >= kCallEvery) {
          to_call.push_back(here->second);
        }
        continue;
      }
      // Two: those of the tables. Any other user found it here, so no new one can.
      if (here->second.use_count() == 2 && silent >= kIdle) idle.push_back(take_out_locked(here));
    }
  }
  for (const HostRef& host : dead) {
    log_warning("nlm", "there was no sign of a client for a day; its locks are free", {{"client", host->name}});
    end(host);
    forget_record_or_log(host->address, host->name, host.get());
  }
  for (const HostRef& host : idle) {
    end(host);
    if (host->remembered) forget_record_or_log(host->address, host->name, host.get());
  }
  return to_call;
}

std::vector<nfs::ClientStatus> Hosts::list() const {
  std::vector<nfs::ClientStatus> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, host] : hosts_) {
    const auto silent = now() - Clock::time_point(Clock::duration(host->heard));
    all.push_back({.id = host->holder,
                   .protocol = "nlm",
                   .address = wire::address_text(host->address),
                   .name = host->name,
                   .held = state_.held_by(host->holder),
                   .silent = std::chrono::floor<std::chrono::seconds>(silent)});
  }
  return all;
}

Status Hosts::evict(core::HolderId holder) {
  HostRef gone;
  {
    const std::lock_guard lock(mutex_);
    const auto known = by_holder_.find(holder);
    if (known == by_holder_.end()) return fail(Errc::kNotFound, "no such client");
    gone = take_out_locked(hosts_.find({known->second->address, known->second->name}));
  }
  log_info("nlm", "an administrator has freed the locks of a client", {{"client", gone->name}});
  end(gone);
  return forget_record(gone->address, gone->name, gone.get());
}

std::size_t Hosts::size() const {
  const std::lock_guard lock(mutex_);
  return hosts_.size();
}

}  // namespace stoa::nlm
