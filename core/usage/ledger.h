// Exact recursive usage and its limits. Each directory has an account; an operation charges the accounts of its whole
// ancestor chain before it writes anything. A limit anywhere on the chain refuses it and leaves no trace. A directory
// may also keep a counter for each user and group that owns something below it: then every charge counts there, too.
// When that is enabled on a full directory, its files are counted one after the other (CountStep). Until that is done,
// only charges of counted files count for owners, and limits of owners do not bind.
//
// An account has two sides. `reserved` is the present usage for readers and for the limits. `committed` follows the
// order of commits. The committer alone moves it, and writes it with the same batches, so that the stored usage is
// exact after any crash. The clocks of soft limits follow each side's own usage: the one that survives a restart starts
// with the commit.
//
// An account outlives its directory while files are charged to it. A file with names in several directories is charged
// to one of them. It stays charged there when it loses that name and no other of its directories has room
// (core/links/drop_link.h). So does an open file that loses its last name (core/links/orphan.h). Limits never see a
// byte that they did not agree to, and a removal never fails for want of room.
//
// Every counter has parts by class: recycled files, orphans, and multipart uploads. A directory may exclude such
// classes from its limits (QuotaLimits::excluded). The charge target gives the class of a charge; above a recycle bin
// all is recycled, and above the directory of an upload all is the upload's. Each counter is reserved separately, so
// confirm() and cancel() restore every one exactly.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "base/metrics.h"
#include "core/kv/kv_store.h"
#include "core/usage/account.h"

namespace stoa::core {

// A soft limit was passed, or is kept again (`since` tells which).
struct SoftNotice {
  FileId dir;
  QuotaOf of;
  std::uint32_t id;
  Usage used;
  QuotaLimits limits;
  SoftExcess since;
};

// The reservations of an operation. It ends with confirm() or cancel() of the ledger.
class Reservations {
 public:
  Reservations() = default;
  ~Reservations() { STOA_ASSERT(charges_.empty()); }
  Reservations(Reservations&&) = default;
  Reservations& operator=(Reservations&& other) {
    charges_.swap(other.charges_);
    STOA_ASSERT(other.charges_.empty());
    return *this;
  }

 private:
  friend class Ledger;
  std::vector<Charge> charges_;
};

class Ledger {
 public:
  // Limit of undelivered notices; later ones are only counted.
  static constexpr std::size_t kNoticesMax = 1000;

  // `store`: holds everything that is charged. While it has no room, growth is refused regardless of quotas; null: it
  // always has room.
  explicit Ledger(MetricRegistry& metrics, Clock clock = &kSystemTime, KvStore* store = nullptr);

  // Adds `delta` to the chain of the charge target. Growth beyond a limit: kQuota; on a full disk: kNoSpace; and
  // nothing was added. Shrinking always succeeds, also above a limit that was lowered.
  Status reserve(const ChargeTarget& target, const Usage& delta);
  // Whether reserve() would succeed: changes nothing.
  Status check(const ChargeTarget& target, const Usage& delta) const;
  // Reverts reserve(), without checking limits.
  void give_back(const ChargeTarget& target, const Usage& delta);

  // The same for an operation that may yet be cancelled: adds `more` to its reservations, as one step. Only the net
  // change of a counter counts: releases of the operation make room for its own growth at once, and for others at
  // confirm(). So no other operation can fill room that cancel() must restore. kQuota, kNoSpace: `held` is as before.
  Status reserve(Reservations& held, std::initializer_list<Charge> more);
  void confirm(Reservations& held);  // it is committed
  void cancel(Reservations& held);   // it has not happened

  // The record of a directory (usage, limits, limits of new children, whether owners are counted).
  UsageRecord read(const AccountRef& account) const;
  // Of one owner, as far as it is counted; absent: the directory does not count owners.
  std::optional<UsageRecord> read(const AccountRef& account, const OwnerKey& owner) const;
  // At most `limit` of them, behind `after`, in order.
  std::vector<std::pair<OwnerKey, UsageRecord>> owners(const AccountRef& account, const std::optional<OwnerKey>& after,
                                                       std::size_t limit) const;

  void set_parent(const AccountRef& account, const AccountRef& parent);
  // A change of excluded classes needs the exclusive tree lock, because no operation may hold reservations by the old
  // ones; an account that no other thread knows yet needs none. A start of counting owners needs that lock, too,
  // because a charge in progress would count half.
  void apply(const AccountChange& change);
  void count(const CountStep& step);
  // Whether the counters of its owners are those of `files` only, just now.
  bool counts_with(const AccountRef& account, const std::shared_ptr<CountedFiles>& files) const;
  // The number of files visited for the owners of this directory; absent: they are not being counted.
  std::optional<std::uint64_t> looked_at(const AccountRef& account) const;

  // The quota of the chain that leaves the least room, of bytes and of files and directories. An absent owner's
  // counters do not count.
  struct Tightest {
    TightestQuota bytes, files;
  };
  Tightest tightest(const AccountRef& account, std::optional<std::uint32_t> uid = {},
                    std::optional<std::uint32_t> gid = {}) const;
  // Whether owners are counted by an account from `from` up to, and without, the nearest one that is also above `to`;
  // or the other way round.
  bool owners_counted_between(const AccountRef& from, const AccountRef& to) const;

  std::vector<SoftNotice> take_notices();

 private:
  void add(const ChargeTarget& target, const Usage& delta);
  Status admit(const ChargeTarget& target, const Usage& delta) const;
  Status admit_to_store(const Usage& growth) const;
  // Handles soft limits of the account that were exceeded, or are met again.
  auto notices_of(const Account& account);

  Counter& refused_;
  Counter& soft_passed_;
  Counter& full_;
  const Clock clock_;
  KvStore* const store_;
  alignas(64) mutable std::mutex mutex_;
  std::vector<SoftNotice> notices_;
};

}  // namespace stoa::core
