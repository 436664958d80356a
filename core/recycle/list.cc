#include "core/txn/operations.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/assert.h"
#include "core/api/registry.h"
#include "core/inode/posix_name.h"
#include "core/kv/keys.h"
#include "core/recycle/deleted_below.h"
#include "core/recycle/origin.h"

namespace stoa::core {
namespace {

constexpr std::uint32_t kListMax = 1000;
// Limit of hidden items passed over in one bin, in one call.
constexpr int kPassedOverMax = 10'000;
constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

// Its old path, with directories that lie in a bin at their old places; empty when one of them is
// gone.
Result<std::string> original_path(const VolumeView& volume, const OpContext& ctx, const ItemRecord& item) {
  STOA_TRY(origin, origin_of(volume, ctx, item));
  if (!origin) return std::string();
  auto above = path_of(volume, {}, {origin->dir});
  if (!above && above.error().code == Errc::kStale) return std::string();  // removed since
  STOA_CHECK_OK(above);
  std::string path = above->path == "/" ? std::string() : std::move(above->path);
  for (std::string_view rest = origin->key;;) {
    const std::size_t slash = rest.find('/');
    path.append("/").append(posix_name_of(rest.substr(0, slash), false));
    if (slash == std::string_view::npos) return path;
    rest.remove_prefix(slash + 1);
  }
}

Result<RecycledItem> shown(const VolumeView& volume, const OpContext& ctx, const RecycleItemId& id,
                           const ItemRecord& item) {
  STOA_TRY(path, original_path(volume, ctx, item));
  return RecycledItem{.item = id,
                      .id = item.id,
                      .type = item.type,
                      .path = std::move(path),
                      .name = posix_name_of(item.raw, false),
                      .bytes = item.bytes,
                      .deleted_at = item.time,
                      .uid = item.uid,
                      .protocol = item.protocol,
                      .client = item.client};
}

bool may_see(const OpContext& ctx, const ItemRecord& item) {
  return ctx.cred.is_superuser() || item.uid == ctx.cred.uid;
}

Result<ListRecycledReply> list_one(const VolumeView& volume, const OpContext& ctx, const RecycleItemId& id) {
  const auto item = read_item(volume, id);
  if (!item && item.error().code != Errc::kNotFound) return fail(item.error());
  if (!item || !may_see(ctx, *item)) return ListRecycledReply{};
  STOA_TRY(one, shown(volume, ctx, id, *item));
  return ListRecycledReply{.items = {std::move(one)}};
}

}  // namespace

Result<ListRecycledReply> list_recycled(const VolumeView& volume, const OpContext& ctx,
                                        const ListRecycledRequest& req) {
  if (req.item) return list_one(volume, ctx, *req.item);
  STOA_TRY(wanted, DeletedBelow::make(volume, ctx, req.dir));
  const std::size_t most = std::clamp(req.limit, 1u, kListMax);
  // The oldest of each bin, and of those the oldest of all: serials grow over all bins.
  std::map<std::uint64_t, std::pair<FileId, ItemRecord>> oldest;
  std::uint64_t seen_to = kLast;  // up to here every bin was looked through
  for (const Bin& bin : wanted.bins()) {
    const FileId id = bin.node->id;
    const auto it =
        volume.kv.scan(Family::kTrash, keys::item_key(id, req.after + 1), keys::behind_prefix(keys::items_of(id)));
    for (int passed_over = 0; it->valid(); it->next()) {
      const std::uint64_t serial = keys::read_be64(it->key().substr(it->key().size() - sizeof(std::uint64_t)));
      if (serial > seen_to || (oldest.size() > most && serial > oldest.rbegin()->first)) break;
      STOA_TRY(item, ItemRecord::decode(it->value()));
      STOA_TRY(included, may_see(ctx, item) ? wanted.includes(id, item) : Result<bool>(false));
      if (!included) {
        if (++passed_over < kPassedOverMax) continue;
        seen_to = serial;
        break;
      }
      oldest.emplace(serial, std::pair{id, std::move(item)});
      if (oldest.size() > most + 1) oldest.erase(std::prev(oldest.end()));
    }
    STOA_CHECK_OK(it->status());
  }
  ListRecycledReply reply;
  std::uint64_t told_to = seen_to;
  for (const auto& [serial, found] : oldest) {
    if (serial > seen_to) break;
    if (reply.items.size() == most) {
      told_to = reply.items.back().item.serial;
      break;
    }
    const auto& [bin, item] = found;
    STOA_TRY(one, shown(volume, ctx, {bin, serial}, item));
    reply.items.push_back(std::move(one));
  }
  STOA_ASSERT(reply.items.size() <= most, "a page has a limit");
  reply.truncated = told_to != kLast;
  if (reply.truncated) reply.next = told_to;
  return reply;
}

Result<RecycleStatusReply> recycle_status(const VolumeView& volume, const OpContext& ctx,
                                          const RecycleStatusRequest& req) {
  STOA_TRY(dir, volume.nodes.get(req.dir));
  RecycleStatusReply reply;
  const auto snapshot = volume.recycle.registry->snapshot();
  {
    STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
    STOA_TRY(lock, share_by(dir->lock, ctx.deadline));
    STOA_CHECK_OK(require_directory(*dir));
    const RecycleDecision kept =
        snapshot->recycle() != nullptr ? find_policy(*snapshot->recycle(), dir->ancestry) : RecycleDecision{};
    if (kept.policy != nullptr) reply.policy = *kept.policy;
    reply.bin_of = kept.recycle_root == kNoFile && dir->record.has(kHasBin) ? req.dir : kept.recycle_root;
  }
  if (reply.bin_of == kNoFile) return reply;
  STOA_TRY(bin, bin_of(volume, reply.bin_of));
  if (bin == kNoFile) return reply;
  const auto node = volume.nodes.get(bin);
  if (!node && node.error().code != Errc::kStale) return fail(node.error());
  if (node) reply.used = volume.ledger.read((*node)->account).usage;
  return reply;
}

}  // namespace stoa::core
