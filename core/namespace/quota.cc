// usage, set_quota, list_quotas, statfs.
#include "core/access/access.h"
#include "core/kv/keys.h"
#include "core/namespace/meta_txn.h"
#include "core/namespace/operations.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kFilesMax = std::uint64_t{1} << 48;  // serials of one shard
constexpr std::uint32_t kListMax = 1000;

}  // namespace

Result<UsageReply> usage(Tree& tree, const OpContext& ctx, const UsageRequest& req) {
  STOA_TRY(node, tree.nodes.get(req.dir));
  const std::shared_lock lock(node->lock);
  STOA_CHECK_OK(require_directory(*node));
  STOA_CHECK_OK(require(ctx, node->record, kRightListDirectory));
  const UsageRecord record = tree.ledger.read(node->account);
  return UsageReply{record.usage, record.limits, node->record.attributes()};
}

Status set_quota(Tree& tree, const OpContext& ctx, const SetQuotaRequest& req) {
  if (!ctx.cred.is_superuser()) return fail(Errc::kNotOwner);
  STOA_TRY(node, tree.nodes.get(req.dir));
  const auto done = run_mutation(tree, ctx, [&](CommitTicket& ticket) -> Result<bool> {
    const NodeLocks locks({node});
    STOA_CHECK_OK(require_directory(*node));
    MetaTxn txn(tree, ctx);
    const std::string index = std::string(keys::kQuotaPrefix) + keys::id_key(req.dir);
    if (req.limits == QuotaLimits{}) {
      txn.batch().remove(Family::kConfig, index);
    } else {
      txn.batch().put(Family::kConfig, index, {});
    }
    txn.set_limits(node->account, req.limits);
    txn.note({.kind = ChangeKind::kQuota, .id = req.dir});
    STOA_TRY(committed, txn.commit());
    tree.ledger.set_limits(node->account, req.limits);
    ticket = committed;
    return true;
  });
  if (!done) return fail(done.error());
  return {};
}

Result<ListQuotasReply> list_quotas(Tree& tree, const OpContext& ctx, const ListQuotasRequest& req) {
  if (!ctx.cred.is_superuser()) return fail(Errc::kNotOwner);
  ListQuotasReply reply{{}, false};
  const std::string prefix(keys::kQuotaPrefix);
  const std::string lower = prefix + keys::be64(static_cast<std::uint64_t>(req.after) + 1);
  const auto it = tree.kv.scan(Family::kConfig, lower, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) {
    if (reply.quotas.size() >= std::min(req.limit, kListMax)) {
      reply.truncated = true;
      break;
    }
    const FileId dir = keys::id_of(it->key().substr(prefix.size()));
    const auto node = tree.nodes.get(dir);
    if (!node) continue;  // removed since the walk began
    const UsageRecord record = tree.ledger.read((*node)->account);
    const auto path = path_of(tree, ctx, {.id = dir});
    if (!path) continue;
    reply.quotas.push_back({dir, path->path, record.limits, record.usage});
  }
  STOA_CHECK_OK(it->status());
  return reply;
}

Result<StatfsReply> statfs(Tree& tree, const OpContext&, const StatfsRequest& req) {
  STOA_TRY(node, tree.nodes.get(req.id));
  const BlobStore::Space space = tree.blobs.space();
  StatfsReply reply{};
  AccountRef account;
  {
    const std::shared_lock lock(node->lock);
    STOA_CHECK_OK(require_live(*node));
    reply.attr = node->record.attributes();
    account = node->account;
  }
  reply.bytes_total = space.total;
  reply.bytes_free = reply.bytes_available = space.free;
  reply.files_total = kFilesMax;
  reply.files_free = reply.files_available = kFilesMax;
  const QuotaLimits limits = tree.ledger.tightest(account);
  const QuotaLimits room = tree.ledger.room(account);
  if (limits.bytes) {
    reply.bytes_total = std::min(reply.bytes_total, *limits.bytes);
    reply.bytes_free = std::min(reply.bytes_free, *room.bytes);
    reply.bytes_available = reply.bytes_free;
  }
  if (limits.files) {
    reply.files_total = *limits.files;
    reply.files_free = reply.files_available = *room.files;
  }
  return reply;
}

}  // namespace stoa::core
