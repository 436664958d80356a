// What leaves the caches by changes of this client, which do not recall its own leases.
#include <algorithm>

#include "frontends/native/cache/lease_cache.h"

namespace stoa::native {

bool LeaseCache::being_removed(core::FileId dir, std::string_view name) const {
  return std::ranges::any_of(changes_,
                             [&](const auto& one) { return one->removes && one->dir == dir && one->name == name; });
}

// New pins of what is no longer covered are not given: those that exist end soon.
void LeaseCache::wait_for_pins(std::unique_lock<std::mutex>& lock, std::uint64_t number) {
  ++waiting_;
  unpinned_.wait(lock, [&] {
    const auto found = leases_.find(number);
    return found == leases_.end() || found->second.pins == decltype(Lease::pins){};
  });
  --waiting_;
}

std::shared_ptr<NameChange> LeaseCache::begin_name_change(core::FileId dir, std::string_view name, bool removes) {
  auto change = std::make_shared<NameChange>();
  change->dir = dir;
  change->name = name;
  change->removes = removes;
  std::unique_lock lock(mutex_);
  change->sent = ++now_;
  for (const auto& other : changes_) {
    if (other->dir == dir && other->name == name) other->alone = change->alone = false;
  }
  changes_.push_back(change);
  Lease* lease = lease_on(dir);
  if (!removes || lease == nullptr || !lease->of_files) return change;
  change->lease = {lease->number, dir, lease->bits & ~lease->going};
  const auto found = lease->kept.names.find(name);
  if (found != lease->kept.names.end() && found->second.known) {
    change->known = found->second.id != core::kNoFile;
    if (change->known) change->uncovered.push_back(found->second.id);
  } else {
    for (const auto& [id, file] : lease->kept.files) {
      if (id != dir) change->uncovered.push_back(id);
    }
    for (const auto* bare : {&lease->kept.bare, &lease->kept.bare_opened}) {
      std::ranges::copy_if(*bare, std::back_inserter(change->uncovered), [&](core::FileId id) {
        const auto under = under_.find(id);
        return under != under_.end() && under->second == lease->number;
      });
    }
  }
  const std::int64_t before = lease->kept.bare_bytes();
  for (const core::FileId id : change->uncovered) {
    drop_file(id);
    lease->kept.add_left(id);
  }
  counts_.bytes += static_cast<std::uint64_t>(lease->kept.bare_bytes() - before);
  forgot_unplaced_ = ++now_;
  wait_for_pins(lock, change->lease.number);
  return change;
}

void LeaseCache::end_name_change(const std::shared_ptr<NameChange>& change, std::optional<KeptName> now,
                                 const std::optional<core::Attributes>& attr) {
  const std::lock_guard lock(mutex_);
  std::erase(changes_, change);
  Lease* dir = lease_on(change->dir);
  if (dir == nullptr) return;
  KeptDirectory& kept = dir->kept;
  kept.listed_since = ++now_;
  forget_listing(*dir);
  if (const auto self = kept.files.find(dir->file); self != kept.files.end()) {
    self->second.attr.reset();
    self->second.since = now_;
  }
  // The kernel keeps nothing of a file that it has removed itself.
  const bool removed = now && now->id == core::kNoFile && change->known;
  if (removed && !kept.left.empty() && kept.left.back() == change->uncovered.front()) kept.left.pop_back();
  const LeaseTicket ticket{.sent = change->sent, .granted = change->sent};
  const bool keeps = now && change->alone && dir->of_files && may_keep(*dir, ticket);
  if (keeps) {
    const auto [at, added] = kept.names.try_emplace(change->name);
    at->second = {.id = now->id, .since = now_};
    if (added) add_bytes(*dir, KeptDirectory::bytes_of_name(change->name));
  } else {
    kept.complete = false;
    kept.names_since = now_;
    if (const auto at = kept.names.find(change->name); at != kept.names.end()) at->second = {.known = false};
  }
  if (keeps && attr) keep_attributes(ticket, *attr, dir);
}

void LeaseCache::changed(const LeaseTicket& ticket, core::FileId file, const std::optional<core::Attributes>& attr) {
  const std::lock_guard lock(mutex_);
  if (attr && place_of(ticket, file) != nullptr) {
    keep_attributes(ticket, *attr, nullptr);
  } else {
    forget_locked(file);
  }
}

void LeaseCache::forget(core::FileId file) {
  const std::lock_guard lock(mutex_);
  forget_locked(file);
}

void LeaseCache::forget_locked(core::FileId file) {
  ++now_;
  Lease* lease = lease_on(file);
  if (const auto found = under_.find(file); lease == nullptr && found != under_.end()) {
    lease = &leases_.at(found->second);
  }
  const auto at = lease == nullptr ? KeptDirectory::Files::iterator{} : lease->kept.files.find(file);
  if (lease != nullptr && at != lease->kept.files.end()) {
    add_bytes(*lease, -at->second.rights.bytes_beside());
    at->second.forget(now_);
  } else {
    forgot_unplaced_ = now_;
  }
}

std::optional<HeldLease> LeaseCache::uncover(core::FileId file) {
  std::unique_lock lock(mutex_);
  const auto found = under_.find(file);
  forgot_unplaced_ = ++now_;
  if (found == under_.end()) return {};
  const Lease& lease = leases_.at(found->second);
  const HeldLease held{lease.number, lease.file, lease.bits & ~lease.going};
  drop_file(file);
  wait_for_pins(lock, held.number);
  return held;
}

}  // namespace stoa::native
