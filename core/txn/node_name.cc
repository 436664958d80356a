#include "core/txn/node_name.h"

#include "core/kv/keys.h"

namespace stoa::core {

Status find_name(VolumeContext& volume, Node& node) {
  if (node.name.parent != kNoFile || node.id == kRootId || node.id == kMultipartId) return {};
  if (node.record.has(kIsBin) || node.record.links == 0) return {};
  const std::string lower = keys::id_key(node.id);
  const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  STOA_CHECK_OK(it->status());
  if (!it->valid()) return {};
  const std::string_view place = keys::after_id(it->key());
  std::string_view raw = keys::after_id(place);
  if (node.record.is_directory() && raw.ends_with('/')) raw.remove_suffix(1);
  node.name = {keys::id_of(place), std::string(raw)};
  return {};
}

}  // namespace stoa::core
