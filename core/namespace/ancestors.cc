#include "core/api/qos_table.h"
#include "core/links/key_path.h"
#include "core/namespace/find_qos_classes.h"
#include "core/txn/operations.h"

namespace stoa::core {

Result<AncestorsReply> ancestors(const VolumeView& volume, const OpContext& ctx, const AncestorsRequest& req) {
  STOA_TRY(node, volume.nodes.get(req.id));
  if (!req.key.empty()) {
    STOA_TRY(parts, split_key(req.key));
    for (const std::string_view raw : parts.directories) {
      FileId next = kNoFile;
      {
        STOA_TRY(lock, share_by(node->lock, ctx.deadline));
        if (!require_directory(*node)) break;
        STOA_TRY(entry, find_form(volume, *node, raw, true));
        if (!entry.exists()) break;
        next = entry.id;
      }
      auto found = volume.nodes.get(next);
      if (!found && found.error().code == Errc::kStale) break;  // removed since
      STOA_CHECK_OK(found);
      node = *std::move(found);
    }
  }
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  return AncestorsReply{directories_of(node->ancestry)};
}

Status find_qos_classes(const VolumeView& volume, const OpContext& ctx, FileId file, const QosTable& table,
                        std::vector<qos::QosClass*>& found) {
  STOA_TRY(node, volume.nodes.get(file));
  node->prefetch();  // the request itself comes next
  // Both before the locks: results found while either changed are not cached.
  const QosMemo::Stamp stamp{.table = table.directories_version(), .moves = volume.nodes.moves()};
  if (stamp.table == 0 || node->qos_classes.recall(stamp, found)) return {};
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  const std::size_t before = found.size();
  table.find_directories(directories_of(node->ancestry), found);
  const std::span<qos::QosClass* const> qos_classes = std::span(found).subspan(before);
  if (qos_classes.size() <= QosMemo::kQosClassesMax) node->qos_classes.remember(stamp, qos_classes);
  return {};
}

}  // namespace stoa::core
