// Exact recursive usage and its limits. Each directory has an account; an operation charges the accounts of its whole
// ancestor chain before it writes anything, and a limit anywhere on the chain refuses it and leaves no trace. A
// directory may also keep a counter for each user and group that owns something below it: then every charge counts
// there, too. Where that begins with a full directory, the files that were there are counted one after the other
// (CountStep), and until that is done, only charges of those that are counted count for owners, and their limits do not
// bind.
//
// An account has two sides. `reserved` is what is true now for everybody who asks and for the limits. `committed`
// follows the order of commits: the committer alone moves it, and writes it with the very batches that it describes, so
// that the stored usage is exact after any crash. The clocks of soft limits follow each side's own usage: the one that
// survives a restart starts with the commit.
//
// An account outlives its directory while files are charged to it: a file with names in several directories is charged
// to one of them, and stays so when it loses that name and no other of its directories has room
// (core/links/drop_link.h); so does a file that is open and loses its last name (core/links/orphan.h). Limits never see
// a byte that they did not agree to, and a removal never fails for want of room.
//
// Every counter knows how much of it is recycled, how much has no name any more, and how much is of multipart uploads,
// and a directory may leave such classes out of what its limits see (QuotaLimits::excluded). Which class a charge is
// of, the charge target says; above a recycle bin all is recycled, and above the directory of an upload all is the
// upload's. An operation holds of each of these sums by itself, so that all of them are exact when it is kept or
// dropped.
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

// What an operation holds. It ends with confirm() or cancel() of the ledger.
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
  // Notices that nobody has taken are kept up to this many; later ones are only counted.
  static constexpr std::size_t kNoticesMax = 1000;

  // `store`: where all that is counted is kept. While it has no room, growth of what the volume holds is refused,
  // whatever quotas say; null: it has always.
  explicit Ledger(MetricRegistry& metrics, Clock clock = &kSystemTime, KvStore* store = nullptr);

  // Adds `delta` to the chain of the charge target. Growth beyond a limit: kQuota; without room for any: kNoSpace; and
  // nothing was added. Shrinking always succeeds, also above a limit that was lowered.
  Status reserve(const ChargeTarget& target, const Usage& delta);
  // Whether reserve() would have said yes: changes nothing.
  Status check(const ChargeTarget& target, const Usage& delta) const;
  // Takes back what reserve() added, without looking at limits.
  void give_back(const ChargeTarget& target, const Usage& delta);

  // The same for an operation that may yet be dropped: adds `more` to what it holds, as one step. Only what all of
  // it together adds to a counter counts, so what it releases makes room for what it brings, but for nobody else before
  // confirm(). Nobody else can thus fill room that cancel() must take back. kQuota, kNoSpace: `held` is as before.
  Status reserve(Reservations& held, std::initializer_list<Charge> more);
  void confirm(Reservations& held);  // it is committed
  void cancel(Reservations& held);   // it has not happened

  // What is known of a directory (usage, limits, limits of new children, whether owners are counted).
  UsageRecord read(const AccountRef& account) const;
  // Of one owner, as far as he is counted; absent: the directory does not count owners.
  std::optional<UsageRecord> read(const AccountRef& account, const OwnerKey& owner) const;
  // At most `limit` of them, behind `after`, in order.
  std::vector<std::pair<OwnerKey, UsageRecord>> owners(const AccountRef& account, const std::optional<OwnerKey>& after,
                                                       std::size_t limit) const;

  void set_parent(const AccountRef& account, const AccountRef& parent);
  // Where limits leave out other classes than before: under the exclusive tree lock, as nobody may hold room by the old
  // ones, or of an account that nobody else knows yet. Where owners are to be counted: under that lock, too, as no
  // charge may be on its way that would count half.
  void apply(const AccountChange& change);
  void count(const CountStep& step);
  // Whether the counters of its owners are those of `files` only, just now.
  bool counts_with(const AccountRef& account, const std::shared_ptr<CountedFiles>& files) const;
  // How many files of the volume were looked at for the owners of this directory; absent: they are not being counted.
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
  // What is done with a soft limit of the account that was passed, or is kept again.
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
