#include "core/volume/replay_usage.h"

#include "core/kv/keys.h"
#include "core/txn/depth.h"
#include "core/usage/usage_log.h"

namespace stoa::core {
namespace {

void add_owner(Books& books, const OwnerKey& owner, const BalanceChange& change) {
  const auto it = books.owners->balances.try_emplace(owner).first;
  it->second.add(change);
  if (it->second.is_nothing()) books.owners->balances.erase(it);
}

// To the account and all above it, as a charge does (Ledger::add, Committer::apply). No soft limit is passed by it: a
// group in which one is, settles.
void charge(const AccountRef& from, const UsageLog::Payee& payee, UsageClass of, const Usage& delta,
            LaggingUsage& lagging) {
  for (AccountRef account = from; account != nullptr; account = account->parent) {
    of = class_in(*account, of);
    if (account->ended) continue;
    lagging.accounts.push_back(account);
    for (Books* books : {&account->reserved, &account->committed}) {
      const BalanceChange change = change_of(delta, of, books->excluded());
      books->total.add(change);
      if (books->owners == nullptr || !books->owners->exact()) continue;
      for (const OwnerKey& owner : {payee.owner.user(), payee.owner.group()}) {
        add_owner(*books, owner, change);
        lagging.owners.push_back({account.get(), owner});
      }
    }
  }
}

}  // namespace

Status replay_usage(VolumeContext& volume) {
  UsageLog log;
  LaggingUsage lagging;
  {
    const std::string prefix(keys::kUsageLogPrefix);
    const auto it = volume.kv.scan(Family::kState, prefix, keys::behind_prefix(prefix));
    for (; it->valid(); it->next()) {
      const std::uint64_t number = keys::read_be64(it->key().substr(prefix.size()));
      if (lagging.next_record == 0) lagging.first_record = number;
      lagging.next_record = number + 1;
      STOA_CHECK_OK(log.add(it->value()));
    }
    STOA_CHECK_OK(it->status());
  }
  if (lagging.next_record == 0) return {};
  for (const auto& [payee, delta] : log.charges()) {
    FileId dir = payee.dir;
    UsageClass of = payee.of;
    for (auto gone = log.gone().find(dir); gone != log.gone().end(); gone = log.gone().find(dir)) {
      if (gone->second.makes != UsageClass::kLive) of = gone->second.makes;
      dir = gone->second.parent;
    }
    if (dir == kNoFile) continue;
    STOA_TRY(account, volume.nodes.account_of(dir));
    if (delta.directories > 0) note_levels(account, 1);
    charge(account, payee, of, delta, lagging);
  }
  return volume.committer.settle_usage(std::move(lagging));
}

}  // namespace stoa::core
