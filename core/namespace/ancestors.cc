#include <algorithm>

#include "core/namespace/key_path.h"
#include "core/namespace/operations.h"

namespace stoa::core {
namespace {

// On the path of every request where there are flows of directories: so deep a file costs one allocation.
constexpr std::size_t kUsualDepth = 16;

}  // namespace

Result<AncestorsReply> ancestors(Tree& tree, const OpContext&, const AncestorsRequest& req) {
  STOA_TRY(node, tree.nodes.get(req.id));
  if (!req.key.empty()) {
    STOA_TRY(parts, split_key(req.key));
    for (const std::string_view raw : parts.directories) {
      FileId next = kNoFile;
      {
        const std::shared_lock lock(node->lock);
        if (!require_directory(*node)) break;
        STOA_TRY(entry, find_form(tree, *node, raw, true));
        if (!entry.exists()) break;
        next = entry.id;
      }
      auto found = tree.nodes.get(next);
      if (!found) break;  // removed since
      node = *std::move(found);
    }
  }
  AncestorsReply reply;
  reply.directories.reserve(kUsualDepth);
  // Directories move under the exclusive lock only, so the chain stands still.
  const std::shared_lock chain(tree.tree_lock);
  const std::shared_lock lock(node->lock);
  for (const Account* account = node->account.get(); account != nullptr; account = account->parent.get()) {
    reply.directories.push_back(account->dir);
    if (!account->upload()) continue;
    reply.directories.push_back(kMultipartId);  // where it lies, wherever it counts
    break;
  }
  std::ranges::reverse(reply.directories);
  return reply;
}

}  // namespace stoa::core
