#include "core/volume/gone_directories.h"

#include <vector>

#include "core/api/qos_table.h"

namespace stoa::core {
namespace {

// Each removal copies the settings of all directories.
constexpr std::size_t kAtOnce = 256;

// A deleted directory in a recycle bin still exists. An id is never given to another directory.
bool is_gone(VolumeContext& volume, FileId id) {
  const auto node = volume.nodes.get(id);
  return !node && node.error().code == Errc::kStale;
}

// Another caller may have been faster.
Status unless_gone_too(const Status& removed) {
  return !removed && removed.error().code == Errc::kNotFound ? Status() : removed;
}

}  // namespace

Status forget_gone_directories(VolumeContext& volume, Registry& registry) {
  const auto now = registry.snapshot();
  std::size_t left = kAtOnce;
  const auto look = [&](FileId id) { return left > 0 && is_gone(volume, id) && left-- > 0; };
  if (const RecycleTable* const table = now->recycle()) {
    for (const auto& [dir, policy] : table->policies()) {
      if (look(dir)) STOA_CHECK_OK(unless_gone_too(registry.remove_recycle(dir)));
    }
  }
  if (const AuditTable* const table = now->audit()) {
    for (const AuditPolicy& policy : table->policies()) {
      if (look(policy.directory)) STOA_CHECK_OK(unless_gone_too(registry.remove_audit_policy(policy.directory)));
    }
  }
  for (const QosRule* rule : now->qos_rules()) {
    if (rule->target.kind != QosKind::kDirectory || !look(FileId{rule->target.id})) continue;
    STOA_CHECK_OK(unless_gone_too(registry.remove_qos_class(rule->target)));
  }
  return {};
}

}  // namespace stoa::core
