#include "core/usage/ledger.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace stoa::core {
namespace {

// The nearest account that is on both chains; null when they meet nowhere.
const Account* meeting_point(const Account* a, const Account* b) {
  for (; a != nullptr; a = a->parent.get()) {
    for (const Account* other = b; other != nullptr; other = other->parent.get()) {
      if (a == other) return a;
    }
  }
  return nullptr;
}

// The sum of charges for one counter of one account.
struct Net {
  Account* account;
  std::optional<OwnerKey> owner;  // absent: the total
  CountersChange before, after;   // without and with the charges added now
};

// The counter whose limits bind an owner; null: there is none, or the count of owners is not complete yet.
const Counters* binding(const Account& account, const OwnerKey& owner) {
  const OwnerCounters* const owners = account.reserved.owners.get();
  if (owners == nullptr || !owners->exact()) return nullptr;
  const auto it = owners->by_owner.find(owner);
  return it != owners->by_owner.end() ? &it->second : nullptr;
}

class Nets {
 public:
  void add(const Charge& charge, bool reserved_before) {
    for_each_charged(charge.target, [&](const AccountRef& account, UsageClass of) {
      const CountersChange change = change_of(charge.delta, of, account->reserved.excluded());
      add_one(account.get(), std::nullopt, change, reserved_before);
      if (!account->reserved.counts_owner_of(charge.target.file)) return;
      add_one(account.get(), charge.target.owner.user(), change, reserved_before);
      add_one(account.get(), charge.target.owner.group(), change, reserved_before);
    });
  }
  const std::vector<Net>& all() const { return nets_; }

 private:
  void add_one(Account* account, const std::optional<OwnerKey>& owner, const CountersChange& change,
               bool reserved_before) {
    auto net = std::ranges::find_if(nets_, [&](const Net& n) { return n.account == account && n.owner == owner; });
    if (net == nets_.end()) net = nets_.insert(nets_.end(), {account, owner, {}, {}});
    net->after = net->after + change;
    if (reserved_before) net->before = net->before + change;
  }
  std::vector<Net> nets_;
};

// The reservation of an operation that changes a counter by `net`: the larger of the usage with it and without it.
// Files and directories are limited together, so a file that leaves makes room for a directory.
Usage reserved_of(const Usage& net) {
  const std::int64_t both = std::max<std::int64_t>(net.files + net.directories, 0);
  const std::int64_t directories = std::clamp<std::int64_t>(net.directories, 0, both);
  return {std::max<ByteCount>(net.bytes, 0), std::clamp<std::int64_t>(net.files, 0, both - directories), directories};
}
CountersChange reserved_of(const CountersChange& net) {
  CountersChange held{reserved_of(net.all), net.by_class, reserved_of(net.counted)};
  for (Usage& amount : held.by_class.amounts) amount = reserved_of(amount);
  return held;
}

template <class Changed>
void add_net(const Net& net, const CountersChange& change, Clock clock, Changed changed) {
  if (!is_zero(change)) net.account->reserved.add(net.owner, change, clock, changed);
}

bool shrinks(const Usage& delta) {
  return delta.bytes <= 0 && delta.files <= 0 && delta.directories <= 0;
}
bool grows(const Usage& delta) {
  return delta.bytes >= 0 && delta.files >= 0 && delta.directories >= 0;
}

// One dimension of Tightest, so far.
void tighten(TightestQuota& have, const std::optional<std::uint64_t>& hard, const std::optional<std::uint64_t>& soft,
             std::uint64_t used, Timestamp grace_ends, Timestamp now) {
  if (!hard && !soft) return;
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  const bool first = !have.limited();
  const auto left = [used](std::uint64_t limit) { return limit > used ? limit - used : 0; };
  const std::uint64_t room = is_over(grace_ends) && now >= grace_ends ? 0 : hard ? left(*hard) : kAny;
  if (first || room < have.room) {
    have.room = room;
    have.used = used;
  }
  if (hard) have.hard = have.hard ? std::min(*have.hard, *hard) : *hard;
  if (soft) have.soft = have.soft ? std::min(*have.soft, *soft) : *soft;
  const std::uint64_t soft_room = std::min(room, soft ? left(*soft) : kAny);
  have.soft_room = first ? soft_room : std::min(have.soft_room, soft_room);
  if (is_over(grace_ends) && (!is_over(have.grace_ends) || grace_ends < have.grace_ends)) have.grace_ends = grace_ends;
}

}  // namespace

AccountRef beyond(const AccountRef& account, UsageClass made) {
  const AccountRef* found = &account;
  for (const AccountRef* at = &account; *at != nullptr; at = &(*at)->parent) {
    if ((*at)->child_class == made) found = &(*at)->parent;
  }
  return *found;
}

void take_step(const CountStep& step, AccountCounters Account::* side) {
  STOA_ASSERT(step.files->below <= step.after.below, "files are counted in the order of their ids");
  STOA_ASSERT(step.after.below <= step.after.from, "files that came to be meanwhile are not counted twice");
  STOA_ASSERT(step.files->looked_at <= step.after.looked_at, "a step looks at more files");
  for (const AccountRef& account : step.joining) {
    OwnerCounters* const owners = ((*account).*side).owners.get();
    if (owners != nullptr && !owners->exact()) owners->counted = step.files;
  }
  for (const auto& [target, delta] : step.found) {
    STOA_ASSERT(!step.files->has(target.file), "a file is counted once");
    STOA_ASSERT(step.after.has(target.file), "a file that was found counts from now on");
    for_each_charged(target, [&](const AccountRef& account, UsageClass of) {
      AccountCounters& counters = (*account).*side;
      if (counters.owners == nullptr || counters.owners->counted != step.files) return;
      const CountersChange change = change_of(delta, of, counters.excluded());
      for (const OwnerKey& owner : {target.owner.user(), target.owner.group()})
        counters.add(owner, change, nullptr, [](const OwnerKey*, const Counters&, bool) {});
    });
  }
  *step.files = step.after;
}

Ledger::Ledger(MetricRegistry& metrics, Clock clock, KvStore* store)
    : refused_(metrics.counter("stoa_quota_refusals_total", "Changes that a quota refused")),
      soft_passed_(metrics.counter("stoa_quota_soft_limits_passed_total", "How often a soft limit was passed")),
      full_(metrics.counter("stoa_full_refusals_total",
                            "Changes that were refused because the disk of the metadata is full")),
      clock_(clock),
      store_(store) {}

auto Ledger::notices_of(const Account& account) {
  return [this, &account](const OwnerKey* owner, const Counters& counter, bool clock) {
    if (!clock) return;
    if (counter.since != SoftExcess{}) soft_passed_.add();
    STOA_ASSERT(notices_.size() <= kNoticesMax, "notices have a limit");
    if (notices_.size() == kNoticesMax) return;
    notices_.push_back({account.dir, owner != nullptr ? owner->of : QuotaOf::kDirectory,
                        owner != nullptr ? owner->id : 0, counter.counted(), counter.limits, counter.since});
  };
}

void Ledger::add(const ChargeTarget& target, const Usage& delta) {
  for_each_charged(target, [&](const AccountRef& account, UsageClass of) {
    AccountCounters& counters = account->reserved;
    counters.charge(target.owner, target.file, change_of(delta, of, counters.excluded()), clock_, notices_of(*account));
  });
}

Status Ledger::admit(const ChargeTarget& target, const Usage& delta) const {
  UsageClass of = target.of;
  for (const Account* a = target.account.get(); a != nullptr; a = a->parent.get()) {
    of = class_in(*a, of);
    if (a->reserved.excluded().has(of)) continue;
    STOA_CHECK_OK(a->reserved.total.admit(delta, clock_));
    for (const OwnerKey& owner : {target.owner.user(), target.owner.group()}) {
      if (const Counters* const counter = binding(*a, owner)) STOA_CHECK_OK(counter->admit(delta, clock_));
    }
  }
  return {};
}

Status Ledger::admit_to_store(const Usage& growth) const {
  if (store_ == nullptr || (growth.bytes <= 0 && growth.files <= 0 && growth.directories <= 0) || store_->has_room())
    return {};
  full_.add();
  return fail(Cause::kMetadataFull);
}

Status Ledger::reserve(const ChargeTarget& target, const Usage& delta) {
  STOA_CHECK_OK(admit_to_store(delta));
  const std::lock_guard lock(mutex_);
  if (const Status room = admit(target, delta); !room) {
    refused_.add();
    return room;
  }
  add(target, delta);
  return {};
}

Status Ledger::check(const ChargeTarget& target, const Usage& delta) const {
  const std::lock_guard lock(mutex_);
  return admit(target, delta);
}

void Ledger::give_back(const ChargeTarget& target, const Usage& delta) {
  STOA_ASSERT(grows(delta), "only what was added is given back");
  const std::lock_guard lock(mutex_);
  add(target, -delta);
}

Status Ledger::reserve(Reservations& held, std::initializer_list<Charge> more) {
  std::vector<Charge>& charges = held.charges_;
  const auto all = [&](bool (*test)(const Usage&)) {
    return std::ranges::all_of(charges, test, &Charge::delta) && std::ranges::all_of(more, test, &Charge::delta);
  };
  // Most operations only grow, or only shrink.
  if (all(shrinks)) {
    charges.insert(charges.end(), more);
    return {};
  }
  if (more.size() == 1 && all(grows)) {
    STOA_CHECK_OK(reserve(more.begin()->target, more.begin()->delta));
    charges.insert(charges.end(), more);
    return {};
  }
  const std::lock_guard lock(mutex_);
  Nets nets;
  for (const Charge& charge : charges) nets.add(charge, true);
  for (const Charge& charge : more) nets.add(charge, false);
  for (const Net& net : nets.all()) {
    const Counters* const counter = net.owner ? binding(*net.account, *net.owner) : &net.account->reserved.total;
    if (counter == nullptr) continue;
    // All that the volume holds is counted at its root.
    if (net.account->parent == nullptr && !net.owner)
      STOA_CHECK_OK(admit_to_store(reserved_of(net.after.all) + -reserved_of(net.before.all)));
    const Usage growth = reserved_of(net.after.counted) + -reserved_of(net.before.counted);
    if (const Status room = counter->admit(growth, clock_); !room) {
      refused_.add();
      return room;
    }
  }
  for (const Net& net : nets.all()) {
    add_net(net, reserved_of(net.after) + -reserved_of(net.before), clock_, notices_of(*net.account));
  }
  charges.insert(charges.end(), more);
  return {};
}

void Ledger::confirm(Reservations& held) {
  const std::vector<Charge> charges = std::exchange(held.charges_, {});
  if (std::ranges::all_of(charges, grows, &Charge::delta)) return;
  const std::lock_guard lock(mutex_);
  if (std::ranges::all_of(charges, shrinks, &Charge::delta)) {
    for (const Charge& charge : charges) add(charge.target, charge.delta);
    return;
  }
  Nets nets;
  for (const Charge& charge : charges) nets.add(charge, true);
  for (const Net& net : nets.all()) {
    add_net(net, net.after + -reserved_of(net.after), clock_, notices_of(*net.account));
  }
}

void Ledger::cancel(Reservations& held) {
  const std::vector<Charge> charges = std::exchange(held.charges_, {});
  if (std::ranges::all_of(charges, shrinks, &Charge::delta)) return;
  const std::lock_guard lock(mutex_);
  Nets nets;
  for (const Charge& charge : charges) nets.add(charge, true);
  for (const Net& net : nets.all()) {
    add_net(net, -reserved_of(net.after), clock_, notices_of(*net.account));
  }
}

UsageRecord Ledger::read(const AccountRef& account) const {
  const std::lock_guard lock(mutex_);
  const AccountCounters& counters = account->reserved;
  return {.usage = counters.total.used,
          .limits = counters.total.limits,
          .since = counters.total.since,
          .child_limits = counters.for_children(),
          .owners = counters.owners_counted(),
          .by_class = counters.total.by_class()};
}

std::optional<UsageRecord> Ledger::read(const AccountRef& account, const OwnerKey& owner) const {
  const std::lock_guard lock(mutex_);
  if (account->reserved.owners == nullptr) return std::nullopt;
  const CountersByOwner& all = account->reserved.owners->by_owner;
  const auto it = all.find(owner);
  return it != all.end() ? it->second.record() : UsageRecord{};
}

std::vector<std::pair<OwnerKey, UsageRecord>> Ledger::owners(const AccountRef& account,
                                                             const std::optional<OwnerKey>& after,
                                                             std::size_t limit) const {
  std::vector<std::pair<OwnerKey, UsageRecord>> found;
  const std::lock_guard lock(mutex_);
  if (account->reserved.owners == nullptr) return found;
  const CountersByOwner& all = account->reserved.owners->by_owner;
  for (auto it = after ? all.upper_bound(*after) : all.begin(); it != all.end() && found.size() < limit; ++it) {
    found.emplace_back(it->first, it->second.record());
  }
  return found;
}

void Ledger::set_parent(const AccountRef& account, const AccountRef& parent) {
  const std::lock_guard lock(mutex_);
  for (const Account* a = parent.get(); a != nullptr; a = a->parent.get()) {
    STOA_ASSERT(a != account.get(), "no directory lies in itself");
  }
  account->parent = parent;
}

void Ledger::apply(const AccountChange& change) {
  STOA_ASSERT(change.account != nullptr, "a change is of an account");
  STOA_ASSERT(!change.ends || (!change.limits && !change.child_limits && !change.owner_limits && !change.owners),
              "a directory that ends says nothing else");
  const std::lock_guard lock(mutex_);
  change.apply(change.account->reserved, clock_, notices_of(*change.account));
}

void Ledger::count(const CountStep& step) {
  const std::lock_guard lock(mutex_);
  take_step(step, &Account::reserved);
}

bool Ledger::counts_with(const AccountRef& account, const std::shared_ptr<CountedFiles>& files) const {
  const std::lock_guard lock(mutex_);
  return account->reserved.owners != nullptr && account->reserved.owners->counted == files;
}

std::optional<std::uint64_t> Ledger::looked_at(const AccountRef& account) const {
  const std::lock_guard lock(mutex_);
  const OwnerCounters* const owners = account->reserved.owners.get();
  if (owners == nullptr || owners->exact()) return std::nullopt;
  return owners->counted->looked_at;
}

Ledger::Tightest Ledger::tightest(const AccountRef& account, std::optional<std::uint32_t> uid,
                                  std::optional<std::uint32_t> gid) const {
  const std::lock_guard lock(mutex_);
  Tightest result;
  const Timestamp now = clock_->wall();
  if (account != nullptr) {
    result.bytes.used = bytes_of(account->reserved.total.used);
    result.files.used = files_of(account->reserved.total.used);
  }
  const auto look_at = [&](const Counters& counter) {
    const QuotaLimits& limits = counter.limits;
    const auto ends = [&](const Timestamp& since) { return is_over(since) ? grace_end(since, limits) : Timestamp{}; };
    const Usage counted = counter.counted();
    tighten(result.bytes, limits.bytes, limits.soft_bytes, bytes_of(counted), ends(counter.since.bytes), now);
    tighten(result.files, limits.files, limits.soft_files, files_of(counted), ends(counter.since.files), now);
  };
  for (const Account* a = account.get(); a != nullptr; a = a->parent.get()) {
    look_at(a->reserved.total);
    const auto look_at_owner = [&](const OwnerKey& owner) {
      if (const Counters* const counter = binding(*a, owner)) look_at(*counter);
    };
    if (uid) look_at_owner({QuotaOf::kUser, *uid});
    if (gid) look_at_owner({QuotaOf::kGroup, *gid});
  }
  return result;
}

bool Ledger::owners_counted_between(const AccountRef& from, const AccountRef& to) const {
  const std::lock_guard lock(mutex_);
  const Account* const shared = meeting_point(from.get(), to.get());
  for (const AccountRef& end : {from, to}) {
    for (const Account* a = end.get(); a != shared; a = a->parent.get()) {
      if (a->reserved.owners != nullptr) return true;
    }
  }
  return false;
}

std::vector<SoftNotice> Ledger::take_notices() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notices_, {});
}

}  // namespace stoa::core
