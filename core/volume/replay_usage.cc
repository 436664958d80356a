#include "core/volume/replay_usage.h"

#include "core/kv/keys.h"
#include "core/txn/depth.h"
#include "core/usage/usage_log.h"

namespace stoa::core {
namespace {

// To the account and all above it, on both sides, as a charge does. No soft limit is passed by it: a group in which one
// is, makes a checkpoint.
void charge(const ChargeTarget& target, const Usage& delta, LaggingUsage& lagging) {
  for_each_charged(target, [&](const AccountRef& account, UsageClass of) {
    if (account->ended) return;
    lagging.accounts.push_back(account);
    for (AccountCounters* counters : {&account->reserved, &account->committed}) {
      counters->charge(target.owner, target.file, change_of(delta, of, counters->excluded()), nullptr,
                       [&](const OwnerKey* owner, const Counters&, bool) {
                         if (owner != nullptr) lagging.owners.push_back({account.get(), *owner});
                       });
    }
  });
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
      if (gone->second.child_class != UsageClass::kLive) of = gone->second.child_class;
      dir = gone->second.parent;
    }
    if (dir == kNoFile) continue;
    STOA_TRY(account, volume.nodes.account_of(dir));
    if (delta.directories > 0) note_levels(account, 1);
    // Of no file: owners that are being counted begin anew.
    charge({account, payee.owner, kNoFile, of}, delta, lagging);
  }
  return volume.committer.checkpoint_usage(std::move(lagging));
}

}  // namespace stoa::core
