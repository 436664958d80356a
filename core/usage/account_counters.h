// All usage counters of a directory on one side of the ledger. Both sides change by the same steps.
//
// Steps that may start or end the clock of a soft limit call `changed(owner, counter, clock)` for each counter changed.
// Arguments: its owner (null: the directory's own), the new counter, and whether a clock started or ended.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/assert.h"
#include "core/usage/counters.h"

namespace stoa::core {

// A user or a group.
struct OwnerKey {
  QuotaOf of = QuotaOf::kUser;
  std::uint32_t id = 0;
  auto operator<=>(const OwnerKey&) const = default;
};
using CountersByOwner = std::map<OwnerKey, Counters>;

// Progress of counting the files of a volume (core/namespace/owner_count.h): files from before its start in the order
// of their ids, and later files.
struct CountedFiles {
  FileId below = kNoFile;          // ids from here on are still to be counted,
  FileId from{~std::uint64_t{0}};  // up to here
  std::uint64_t looked_at = 0;
  bool has(FileId file) const { return file < below || file >= from; }
};

// The users and groups that own something below a directory.
struct OwnerCounters {
  CountersByOwner by_owner{};
  // Not null: the counters cover these files only. Every charge knows the file that it is for, and counts if it is one
  // of them.
  std::shared_ptr<const CountedFiles> counted{};

  bool exact() const { return counted == nullptr; }
  bool counts(FileId file) const { return exact() || counted->has(file); }
};

// The user and group of a file.
struct Owner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  OwnerKey user() const { return {QuotaOf::kUser, uid}; }
  OwnerKey group() const { return {QuotaOf::kGroup, gid}; }
  bool operator==(const Owner&) const = default;
};

struct AccountCounters {
  Counters total;
  std::unique_ptr<OwnerCounters> owners;      // null: owners are not counted
  std::unique_ptr<QuotaLimits> child_limits;  // null: new directories get no limits

  // Classes excluded from limits, also from those of owners.
  const ExcludedClasses& excluded() const { return total.limits.excluded; }
  QuotaLimits for_children() const { return child_limits != nullptr ? *child_limits : QuotaLimits{}; }
  OwnersCounted owners_counted() const {
    return owners == nullptr ? OwnersCounted::kNo
           : owners->exact() ? OwnersCounted::kYes
                             : OwnersCounted::kBeingCounted;
  }
  // Whether an administrator has set anything on the directory.
  bool says_anything() const { return total.limits.says_anything() || child_limits != nullptr || owners != nullptr; }
  // Whether this file's usage also counts for its owner.
  bool counts_owner_of(FileId file) const { return owners != nullptr && owners->counts(file); }

  // To one counter: of an owner that is counted, or (absent) the directory's own. Null clock: soft limits stay as they
  // are. So they do for owners while these are being counted.
  template <class Changed>
  void add(const std::optional<OwnerKey>& owner, const CountersChange& change, Clock clock, Changed changed) {
    if (!owner) {
      const bool passed = total.add(change, clock);
      changed(nullptr, total, passed);
      return;
    }
    change_owner(*owner, changed,
                 [&](Counters& counter) { return counter.add(change, owners->exact() ? clock : nullptr); });
  }
  // Applies a charge of a file of this owner to all counters that count it.
  template <class Changed>
  void charge(const Owner& owner, FileId file, const CountersChange& change, Clock clock, Changed changed) {
    add(std::nullopt, change, clock, changed);
    if (!counts_owner_of(file)) return;
    add(owner.user(), change, clock, changed);
    add(owner.group(), change, clock, changed);
  }

  // If other classes are excluded than before, no operation in progress may have reserved some of them.
  template <class Changed>
  void set_limits(const QuotaLimits& limits, Clock clock, Changed changed) {
    const bool others_left_out = limits.excluded != excluded();
    if (others_left_out) leave_out(limits.excluded);
    const bool passed = total.limit(limits, clock);
    changed(nullptr, total, passed);
    if (!others_left_out || owners_counted() != OwnersCounted::kYes) return;
    for (auto& [owner, counter] : owners->by_owner) {
      if (counter.follow(clock)) changed(&owner, counter, true);
    }
  }
  // Empty when owners are not counted. While they are being counted, the limit binds none of them yet.
  template <class Changed>
  void set_limits(const OwnerKey& owner, const QuotaLimits& limits, Clock clock, Changed changed) {
    if (owners == nullptr) return;
    change_owner(owner, changed,
                 [&](Counters& counter) { return counter.limit(limits, owners->exact() ? clock : nullptr); });
  }
  void set_for_children(const QuotaLimits& limits) {
    child_limits = limits.says_anything() ? std::make_unique<QuotaLimits>(limits) : nullptr;
  }
  // kBeingCounted: nothing is counted yet. kYes while being counted: counting is complete, and from now on limits bind
  // and soft ones have clocks. Otherwise there is nothing to count.
  template <class Changed>
  void count_owners(OwnersCounted to, Clock clock, Changed changed) {
    if (to == OwnersCounted::kYes && owners != nullptr) {
      owners->counted.reset();
      for (auto& [owner, counter] : owners->by_owner) {
        const bool passed = counter.follow(clock);
        changed(&owner, counter, passed);
      }
      return;
    }
    begin_owners(to);
  }
  // The same where nothing was counted before, or nothing is to be from now on.
  void begin_owners(OwnersCounted to);
  // The directory is gone, and its limits end. Excluded classes stay excluded: files may be charged here still, and
  // operations hold reservations by them.
  void end();

 private:
  void leave_out(const ExcludedClasses& classes);
  template <class Changed, class Change>
  void change_owner(const OwnerKey& owner, Changed& changed, Change change) {
    STOA_ASSERT(owners != nullptr);
    const auto it = owners->by_owner.try_emplace(owner).first;
    const bool passed = change(it->second);
    changed(&it->first, it->second, passed);
    if (it->second.is_nothing()) owners->by_owner.erase(it);
  }
};

}  // namespace stoa::core
