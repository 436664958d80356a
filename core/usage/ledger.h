// Exact recursive usage and its limits. Each directory has an account; an operation charges the accounts of its whole
// ancestor chain before it writes anything, and a limit anywhere on the chain refuses it and leaves no trace. A
// directory may also keep a balance for each user and group that owns something below it: then every charge counts
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
// Every balance knows how much of it is recycled, how much has no name any more, and how much is of multipart uploads,
// and a directory may leave such classes out of what its limits see (QuotaLimits::excluded). Which class a charge is
// of, the payer says; above a recycle bin all is recycled, and above the directory of an upload all is the upload's. An
// operation holds of each of these sums by itself, so that all of them are exact when it is kept or dropped.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/metrics.h"
#include "core/kv/kv_store.h"
#include "core/usage/balance.h"

namespace stoa::core {

struct Account {
  Account() = default;
  // One after the other: the directories above may be more than a stack has room for.
  ~Account() {
    while (parent != nullptr && parent.use_count() == 1) parent = std::shared_ptr<Account>(std::move(parent->parent));
  }

  FileId dir = kNoFile;
  // Where it counts, too: of a plain directory, that of the directory above. Null: the end of the chain, which is the
  // volume's root, or stands for a directory that is kept elsewhere. Changed only under the exclusive tree lock and the
  // ledger's mutex.
  std::shared_ptr<Account> parent;
  Books reserved;   // guarded by the ledger's mutex
  Books committed;  // the committer's alone
  // For life: which class all is of that comes from here. kLive: the one that it has. kRecycled: a recycle bin
  // (core/recycle/bin.h). kMultipart: the directory of an upload, charged where its object is to be
  // (Inode::charged_to).
  UsageClass makes = UsageClass::kLive;
  bool ended = false;  // the committer's: the directory is gone, and files are still charged here
  // How many directories that it counts lie in each other: at least so many have, and no more (core/txn/depth.h).
  mutable std::atomic<std::uint32_t> height{0};
  std::uint64_t lags_in =
      0;  // the committer's: the turn (Committer) since which the store has less of it than `committed`
};
using AccountRef = std::shared_ptr<Account>;
// The nearest account, from this one on, where what is charged is not of this class for its directory's sake, nor
// anywhere further up.
AccountRef beyond(const AccountRef& account, UsageClass made);

// Who pays for a file: the account of its directory and all above, and in those that count owners, its owner's balance.
struct Payer {
  AccountRef account;
  Owner owner;
  FileId file;  // no default: a charge that knew of none would be taken for that of a file that is counted
  UsageClass of = UsageClass::kLive;
};
// Which class a charge is of in an account that it reaches as `below`.
inline UsageClass class_in(const Account& account, UsageClass below) {
  return account.makes != UsageClass::kLive ? account.makes : below;
}

// Part of what an operation changes: growth, or with a negative delta, what it will release.
struct Posting {
  Payer payer;
  Usage delta;
};
using Postings = std::vector<Posting>;

// A change that becomes part of a commit.
struct Charge {
  Payer payer;
  Usage delta;
};

// One step of counting what users and groups own: more files are counted now, in the accounts that keep these `files`.
// Nothing is charged or committed meanwhile, and both sides of the accounts take their own such step.
struct CountStep {
  std::shared_ptr<CountedFiles> files;
  std::vector<AccountRef> joining{};  // accounts that are to be counted, and begin with the first file
  std::vector<Charge> found{};        // the files that come to be counted, and what each counts for
  CountedFiles after{};               // what `files` are then
};
void take_step(const CountStep& step, Books Account::* side);

// A soft limit was passed, or is kept again (`since` tells which).
struct SoftNotice {
  FileId dir;
  QuotaOf of;
  std::uint32_t id;
  Usage used;
  QuotaLimits limits;
  SoftExcess since;
};

class Ledger {
 public:
  // Notices that nobody has taken are kept up to this many; later ones are only counted.
  static constexpr std::size_t kNoticesMax = 1000;

  // `store`: where all that is counted is kept. While it has no room, growth of what the volume holds is refused,
  // whatever quotas say; null: it has always.
  explicit Ledger(MetricRegistry& metrics, Clock clock = wall_now, KvStore* store = nullptr);

  // Adds `delta` to the chain of the payer. Growth beyond a limit: kQuota; without room for any: kNoSpace; and nothing
  // was added. Shrinking always succeeds, also above a limit that was lowered.
  Status reserve(const Payer& payer, const Usage& delta);
  // Whether reserve() would have said yes: changes nothing.
  Status check(const Payer& payer, const Usage& delta) const;
  // Takes back what reserve() added, without looking at limits.
  void give_back(const Payer& payer, const Usage& delta);

  // The same for an operation that may yet be dropped: adds `more` to what it has posted, as one step. Only what all of
  // it together adds to a balance counts, so what it releases makes room for what it brings, but for nobody else before
  // keep(). Nobody else can thus fill room that drop() must take back. kQuota, kNoSpace: `posted` is as before.
  Status hold(Postings& posted, std::initializer_list<Posting> more);
  void keep(const Postings& posted);  // it is committed
  void drop(const Postings& posted);  // it has not happened

  // What is known of a directory (usage, limits, limits of new children, whether owners are counted).
  UsageRecord read(const AccountRef& account) const;
  // Of one owner, as far as he is counted; absent: the directory does not count owners.
  std::optional<UsageRecord> read(const AccountRef& account, const OwnerKey& owner) const;
  // At most `limit` of them, behind `after`, in order.
  std::vector<std::pair<OwnerKey, UsageRecord>> owners(const AccountRef& account, const std::optional<OwnerKey>& after,
                                                       std::size_t limit) const;

  void set_parent(const AccountRef& account, const AccountRef& parent);
  // Where other classes are left out than before: under the exclusive tree lock, as nobody may hold room by the old
  // ones, or of an account that nobody else knows yet.
  void set_limits(const AccountRef& account, const QuotaLimits& limits);
  void set_child_limits(const AccountRef& account, const QuotaLimits& limits);
  // Nothing when the directory does not count owners. While they are being counted, the limit binds nobody yet.
  void set_limits(const AccountRef& account, const OwnerKey& owner, const QuotaLimits& limits);
  // Under the exclusive tree lock, as no charge may be on its way that would count half. See Books::count_owners.
  void count_owners(const AccountRef& account, OwnersCounted to);
  void count(const CountStep& step);
  // Whether the balances of its owners are those of `files` only, just now.
  bool counts_with(const AccountRef& account, const std::shared_ptr<CountedFiles>& files) const;
  // How many files of the volume were looked at for the owners of this directory; absent: they are not being counted.
  std::optional<std::uint64_t> looked_at(const AccountRef& account) const;
  // The directory is gone: it has no limits any more.
  void end(const AccountRef& account);

  // The quota of the chain that leaves the least room, of bytes and of files and directories. An absent owner's
  // balances do not count.
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
  void add(const Payer& payer, const Usage& delta);
  void add_one(const Account& account, QuotaOf of, std::uint32_t id, Balance& balance, const BalanceChange& change);
  void add_owner(Account& account, const OwnerKey& owner, const BalanceChange& change);
  void add_net(Account& account, const std::optional<OwnerKey>& owner, const BalanceChange& change);
  Status admit(const Payer& payer, const Usage& delta) const;
  Status admit_to_store(const Usage& growth) const;
  void notice(const Account& account, QuotaOf of, std::uint32_t id, const Balance& balance);

  Counter& refused_;
  Counter& soft_passed_;
  Counter& full_;
  const Clock clock_;
  KvStore* const store_;
  alignas(64) mutable std::mutex mutex_;
  std::vector<SoftNotice> notices_;
};

// A change of what an account is, made after the charges of the same commit.
struct AccountChange {
  AccountRef account;
  std::optional<QuotaLimits> limits{};
  std::optional<QuotaLimits> child_limits{};
  std::optional<std::pair<OwnerKey, QuotaLimits>> owner_limits{};
  std::optional<OwnersCounted> owners{};
  bool ends = false;  // its directory does
};

}  // namespace stoa::core
