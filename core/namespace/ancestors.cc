#include <algorithm>

#include "core/api/flow_table.h"
#include "core/links/key_path.h"
#include "core/namespace/operations.h"

namespace stoa::core {
namespace {

// On the path of every request where there are flows of directories: so deep a file costs one allocation.
constexpr std::size_t kUsualDepth = 16;

// From the root down. Under the node's lock and the tree lock: directories move under the exclusive one only, so the
// chain stands still.
std::vector<FileId> directories_above(const Node& node) {
  std::vector<FileId> directories;
  directories.reserve(kUsualDepth);
  for (const Account* account = node.account.get(); account != nullptr; account = account->parent.get()) {
    directories.push_back(account->dir);
    if (!account->upload()) continue;
    directories.push_back(kMultipartId);  // where it lies, wherever it counts
    break;
  }
  std::ranges::reverse(directories);
  return directories;
}

}  // namespace

Result<AncestorsReply> ancestors(VolumeContext& volume, const OpContext&, const AncestorsRequest& req) {
  STOA_TRY(node, volume.nodes.get(req.id));
  if (!req.key.empty()) {
    STOA_TRY(parts, split_key(req.key));
    for (const std::string_view raw : parts.directories) {
      FileId next = kNoFile;
      {
        const std::shared_lock lock(node->lock);
        if (!require_directory(*node)) break;
        STOA_TRY(entry, find_form(volume, *node, raw, true));
        if (!entry.exists()) break;
        next = entry.id;
      }
      auto found = volume.nodes.get(next);
      if (!found) break;  // removed since
      node = *std::move(found);
    }
  }
  const std::shared_lock chain(volume.tree_lock);
  const std::shared_lock lock(node->lock);
  return AncestorsReply{directories_above(*node)};
}

Status find_flows(VolumeContext& volume, const OpContext&, const FindFlowsRequest& req) {
  STOA_TRY(node, volume.nodes.get(req.id));
  node->prefetch();  // the request itself comes next
  // Both before the locks: what was found while either changed is not taken for what holds since.
  const FlowMemo::Stamp stamp{.table = req.table.directories_version(), .moves = volume.ledger.moves()};
  if (stamp.table == 0 || node->flows.recall(stamp, req.found)) return {};
  const std::shared_lock chain(volume.tree_lock);
  const std::shared_lock lock(node->lock);
  const std::size_t before = req.found.size();
  req.table.find_directories(directories_above(*node), req.found);
  const std::span<qos::Flow* const> flows = std::span(req.found).subspan(before);
  if (flows.size() <= FlowMemo::kFlowsMax) node->flows.remember(stamp, flows);
  return {};
}

}  // namespace stoa::core
