// usage, set_quota, list_quotas, statfs.
#include "core/namespace/quota.h"
#include "base/log.h"
#include "core/access/access.h"
#include "core/kv/keys.h"
#include "core/recycle/bin.h"
#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kFilesMax = std::uint64_t{1} << 48;  // serials of one shard
constexpr std::uint32_t kListMax = 1000;
bool is_owner(QuotaOf of) {
  return of == QuotaOf::kUser || of == QuotaOf::kGroup;
}

Status check_limits(const QuotaLimits& limits) {
  if ((limits.bytes && limits.soft_bytes > limits.bytes) || (limits.files && limits.soft_files > limits.files)) {
    return fail(Cause::kSoftAboveHard);
  }
  return {};
}

// Whether a change of limits needs the exclusive tree lock: no operation may hold reservations by the old classes.
bool leaves_out_others(const VolumeContext& volume, const AccountRef& account, const SetQuotaRequest& req) {
  return req.of == QuotaOf::kDirectory && volume.ledger.read(account).limits.excluded != req.limits.excluded;
}

std::string soft_text(const std::optional<std::uint64_t>& limit) {
  return limit ? std::to_string(*limit) : "none";
}

std::vector<std::string> facts_of(const SoftNotice& notice) {
  const auto limit = [](const std::optional<std::uint64_t>& soft) { return soft ? std::to_string(*soft) : ""; };
  const auto id_if = [&](QuotaOf of) { return notice.of == of ? std::to_string(notice.id) : ""; };
  return {id_if(QuotaOf::kUser),
          id_if(QuotaOf::kGroup),
          std::to_string(bytes_of(notice.used)),
          std::to_string(files_of(notice.used)),
          limit(notice.limits.soft_bytes),
          limit(notice.limits.soft_files),
          std::to_string(notice.limits.grace_s)};
}

// The node is locked.
Result<CommitTicket> commit_change(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                                   AccountChange change) {
  MetaTxn txn(volume, ctx);
  txn.change_account(std::move(change));
  if (node->record.has(kImplicit)) {
    Inode next = node->record;
    next.keep();
    txn.put_inode(node, std::move(next), Visible::kNo);
  }
  txn.note({.kind = ChangeKind::kQuota, .id = node->id});
  return txn.commit();
}

// Removed since a walk began; or damaged, which the verifier tells, and which must not hide the others.
bool is_passed_over(Errc why) {
  return why == Errc::kStale || why == Errc::kCorrupt;
}

// Absent: owners are wholly counted, or not at all.
Result<std::optional<OwnerCountProgress>> progress_of(const VolumeView& volume, const AccountRef& account) {
  const auto looked_at = volume.ledger.looked_at(account);
  if (!looked_at) return std::nullopt;
  OwnerCountProgress progress;
  for (const FileId root : {kRootId, kMultipartId}) {
    STOA_TRY(top, volume.nodes.account_of(root));
    progress.in_all += 1 + files_of(volume.ledger.read(top).usage);
  }
  progress.looked_at = std::min(*looked_at, progress.in_all);
  return progress;
}

}  // namespace

Result<UsageReply> usage(const VolumeView& volume, const OpContext& ctx, const UsageRequest& req) {
  STOA_TRY(node, volume.nodes.get(req.dir));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_directory(*node));
  STOA_CHECK_OK(require(ctx, node->record, kRightListDirectory));
  STOA_TRY(counting, progress_of(volume, node->account));
  const UsageRecord record = volume.ledger.read(node->account);
  const ExcludedClasses& excluded = record.limits.excluded;
  if (is_owner(req.of)) {
    const auto owner = volume.ledger.read(node->account, OwnerKey{req.of, req.id});
    if (!owner) return fail(Cause::kOwnersNotCounted);
    return UsageReply{.usage = owner->usage,
                      .limits = owner->limits,
                      .attr = node->record.attributes(),
                      .since = owner->since,
                      .counting = counting,
                      .by_class = owner->by_class,
                      .excluded = excluded,
                      .counted = owner->counted(excluded)};
  }
  return UsageReply{.usage = record.usage,
                    .limits = record.limits,
                    .attr = node->record.attributes(),
                    .since = record.since,
                    .child_limits = record.child_limits,
                    .counts_owners = record.owners != OwnersCounted::kNo,
                    .counting = counting,
                    .by_class = record.by_class,
                    .excluded = excluded,
                    .counted = record.counted(excluded)};
}

Status set_quota(VolumeContext& volume, const OpContext& ctx, const SetQuotaRequest& req) {
  if (!ctx.cred.is_superuser()) return fail(Errc::kNotOwner);
  STOA_CHECK_OK(check_limits(req.limits));
  if (is_owner(req.of) && req.limits.excluded.any()) {
    return fail(Cause::kClassesOfDirectory);
  }
  STOA_TRY(node, volume.nodes.get(req.dir));
  bool alone = false;
  const auto set = [&](CommitTicket& ticket) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {node}));
    STOA_CHECK_OK(require_directory(*node));
    STOA_CHECK_OK(require_outside_bin(volume, *node));
    if (!alone && leaves_out_others(volume, node->account, req)) return false;
    AccountChange change{.account = node->account};
    switch (req.of) {
      case QuotaOf::kDirectory:
        change.limits = req.limits;
        break;
      case QuotaOf::kChildren:
        change.child_limits = req.limits;
        break;
      case QuotaOf::kUser:
      case QuotaOf::kGroup:
        if (volume.ledger.read(node->account).owners == OwnersCounted::kNo) return fail(Cause::kOwnersNotCounted);
        change.owner_limits = {OwnerKey{req.of, req.id}, req.limits};
        break;
    }
    STOA_TRY(committed, commit_change(volume, ctx, node, std::move(change)));
    ticket = committed;
    return true;
  };
  STOA_TRY(done, run_mutation(volume, ctx, set));
  if (done) return {};
  alone = true;
  STOA_CHECK_OK(run_mutation(volume, ctx, set, alone));
  return {};
}

Status count_owners(VolumeContext& volume, const OpContext& ctx, const CountOwnersRequest& req) {
  if (!ctx.cred.is_superuser()) return fail(Errc::kNotOwner);
  if (ctx.read_only) return fail(Errc::kReadOnly);
  STOA_TRY(node, volume.nodes.get(req.dir));
  CommitTicket ticket{};
  {
    // Alone: no charge may be on its way that counts on the one side of the ledger, and on the other does not.
    STOA_TRY(tree_lock, lock_by(volume.tree_lock, ctx.deadline));
    STOA_TRY(locks, NodeLocks::take(ctx, {node}));
    STOA_CHECK_OK(require_directory(*node));
    STOA_CHECK_OK(require_outside_bin(volume, *node));
    const UsageRecord known = volume.ledger.read(node->account);
    if ((known.owners != OwnersCounted::kNo) == req.on) return {};
    const OwnersCounted to = !req.on                ? OwnersCounted::kNo
                             : is_zero(known.usage) ? OwnersCounted::kYes
                                                    : OwnersCounted::kBeingCounted;
    STOA_TRY(committed, commit_change(volume, ctx, node, {.account = node->account, .owners = to}));
    ticket = committed;
    if (to == OwnersCounted::kBeingCounted) volume.owner_count.request.make();
  }
  if (volume.owner_count.on_request) volume.owner_count.on_request();
  return sync_or_defer(volume, ctx, ticket);
}

Result<ListOwnerQuotasReply> list_owner_quotas(const VolumeView& volume, const OpContext& ctx,
                                               const ListOwnerQuotasRequest& req) {
  if (!ctx.cred.is_superuser()) return fail(Errc::kNotOwner);
  STOA_TRY(node, volume.nodes.get(req.dir));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_directory(*node));
  if (volume.ledger.read(node->account).owners == OwnersCounted::kNo) return fail(Cause::kOwnersNotCounted);
  STOA_TRY(counting, progress_of(volume, node->account));
  const std::size_t most = std::min(req.limit, kListMax);
  std::optional<OwnerKey> after;
  if (req.after) after = OwnerKey{req.after->first, req.after->second};
  auto found = volume.ledger.owners(node->account, after, most + 1);
  ListOwnerQuotasReply reply{{}, found.size() > most, counting};
  if (reply.truncated) found.pop_back();
  const ExcludedClasses excluded = volume.ledger.read(node->account).limits.excluded;
  for (const auto& [owner, known] : found) {
    reply.owners.push_back(
        {owner.of, owner.id, known.limits, known.usage, known.since, known.by_class, known.counted(excluded)});
  }
  return reply;
}

Status report_soft_limits(VolumeContext& volume) {
  const OpContext ctx;
  Status journaled;
  for (const SoftNotice& notice : volume.ledger.take_notices()) {
    auto path = path_of(volume, ctx, {.id = notice.dir});
    const std::string of = notice.of == QuotaOf::kUser    ? "user " + std::to_string(notice.id)
                           : notice.of == QuotaOf::kGroup ? "group " + std::to_string(notice.id)
                                                          : "directory";
    const bool passed = notice.since != SoftExcess{};
    const std::string_view unknown = !path && path.error().code == Errc::kStale ? "(removed)" : "(cannot be read)";
    log_warning("quota", passed ? "a soft limit is passed" : "the soft limits are kept again",
                {{"path", path ? std::string_view(path->path) : unknown},
                 {"of", of},
                 {"bytes", bytes_of(notice.used)},
                 {"files", files_of(notice.used)},
                 {"soft_bytes", soft_text(notice.limits.soft_bytes)},
                 {"soft_files", soft_text(notice.limits.soft_files)},
                 {"grace_seconds", std::uint64_t{notice.limits.grace_s}}});
    volume.events.add(passed ? Severity::kWarning : Severity::kInfo,
                      passed ? EventKind::kSoftLimitPassed : EventKind::kSoftLimitKept,
                      path ? std::move(path->path) : std::string(), facts_of(notice));
    MetaTxn txn(volume, ctx);
    txn.note({.kind = ChangeKind::kQuota, .id = notice.dir});
    if (const auto ticket = txn.commit(); !ticket && journaled) journaled = fail(ticket.error());
  }
  return journaled;
}

Result<ListQuotasReply> list_quotas(const VolumeView& volume, const OpContext& ctx, const ListQuotasRequest& req) {
  if (!ctx.cred.is_superuser()) return fail(Errc::kNotOwner);
  ListQuotasReply reply{{}, false};
  const std::string prefix(keys::kQuotaPrefix);
  const std::string lower = prefix + keys::be64(static_cast<std::uint64_t>(req.after) + 1);
  const auto it = volume.kv.scan(Family::kConfig, lower, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) {
    if (reply.quotas.size() >= std::min(req.limit, kListMax)) {
      reply.truncated = true;
      break;
    }
    const FileId dir = keys::id_of(it->key().substr(prefix.size()));
    const auto node = volume.nodes.get(dir);
    if (!node && is_passed_over(node.error().code)) continue;
    STOA_CHECK_OK(node);
    const AccountRef account = (*node)->chains_now().account;
    const UsageRecord record = volume.ledger.read(account);
    const auto path = path_of(volume, ctx, {.id = dir});
    if (!path && is_passed_over(path.error().code)) continue;
    STOA_CHECK_OK(path);
    STOA_TRY(counting, progress_of(volume, account));
    reply.quotas.push_back({dir, path->path, record.limits, record.usage, record.since, record.child_limits,
                            record.owners != OwnersCounted::kNo, counting, record.by_class,
                            record.counted(record.limits.excluded)});
  }
  STOA_CHECK_OK(it->status());
  return reply;
}

Result<StatfsReply> statfs(const VolumeView& volume, const OpContext& ctx, const StatfsRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  const BlobStore::Space space = volume.blobs.space();
  StatfsReply reply{};
  AccountRef account;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_live(*node));
    reply.attr = node->record.attributes();
    account = node->account;
  }
  reply.bytes_total = space.total;
  reply.bytes_free = reply.bytes_available = space.free;
  reply.files_total = kFilesMax;
  reply.files_free = reply.files_available = kFilesMax;
  std::optional<std::uint32_t> uid = ctx.cred.uid, gid = ctx.cred.gid;
  if (req.owner) {
    uid = req.owner->first == QuotaOf::kUser ? std::optional(req.owner->second) : std::nullopt;
    gid = req.owner->first == QuotaOf::kGroup ? std::optional(req.owner->second) : std::nullopt;
  }
  const Ledger::Tightest tightest = volume.ledger.tightest(account, uid, gid);
  const TightestQuota& bytes = reply.bytes_quota = tightest.bytes;
  const TightestQuota& files = reply.files_quota = tightest.files;
  if (bytes.hard) reply.bytes_total = std::min(reply.bytes_total, *bytes.hard);
  if (bytes.limited()) reply.bytes_free = reply.bytes_available = std::min(reply.bytes_free, bytes.room);
  if (files.hard) reply.files_total = *files.hard;
  if (files.limited()) reply.files_free = reply.files_available = std::min(reply.files_free, files.room);
  return reply;
}

}  // namespace stoa::core
