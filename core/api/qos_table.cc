#include "core/api/qos_table.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace stoa::core {
namespace {

std::array<std::uint8_t, 16> masked(std::array<std::uint8_t, 16> address, unsigned prefix) {
  for (unsigned byte = 0; byte < address.size(); ++byte) {
    const unsigned bits = prefix > byte * 8 ? std::min(prefix - byte * 8, 8u) : 0;
    address[byte] = static_cast<std::uint8_t>(address[byte] & (0xff00u >> bits));
  }
  return address;
}

std::atomic<std::uint64_t> g_directories_version{0};

}  // namespace

QosTable::QosTable(std::vector<QosEntry> entries) {
  std::array<std::vector<QosEntry>, kKinds> sorted;
  for (QosEntry& entry : entries) {
    count_prefix(entry.rule.target, 1);
    sorted[static_cast<std::size_t>(entry.rule.target.kind)].push_back(std::move(entry));
  }
  for (std::size_t i = 0; i < kKinds; ++i) kinds_[i] = QosIndex(std::move(sorted[i]));
  if (has_directories()) note_changed(QosTarget::directory(kRootId));
}

void QosTable::note_changed(const QosTarget& target) {
  if (target.kind != QosKind::kDirectory) return;
  root_ = of(QosKind::kDirectory).find(static_cast<std::uint64_t>(kRootId));
  directories_version_ = g_directories_version.fetch_add(1, std::memory_order_relaxed) + 1;
}

void QosTable::count_prefix(const QosTarget& target, int by) {
  if (target.kind != QosKind::kClients) return;
  const std::uint8_t bits = target.network.prefix_bits;
  auto at = std::ranges::lower_bound(prefixes_, bits, {}, [](const auto& known) { return known.first; });
  if (at == prefixes_.end() || at->first != bits) at = prefixes_.insert(at, {bits, 0});
  at->second += static_cast<std::size_t>(by);
  if (at->second == 0) prefixes_.erase(at);
}

QosTable QosTable::with(QosEntry entry) const {
  QosTable changed(*this);
  const QosTarget target = entry.rule.target;
  const QosEntry* const known = find(target);
  const bool same_qos_class = known != nullptr && known->qos_class == entry.qos_class;  // with other limits
  QosIndex& index = changed.kinds_[static_cast<std::size_t>(target.kind)];
  index = index.with(std::move(entry));
  if (index.size() > of(target.kind).size()) changed.count_prefix(target, 1);
  if (!same_qos_class) changed.note_changed(target);
  return changed;
}

QosTable QosTable::without(const QosTarget& target) const {
  QosTable changed(*this);
  QosIndex& index = changed.kinds_[static_cast<std::size_t>(target.kind)];
  index = index.without(target);
  if (index.size() == of(target.kind).size()) return changed;
  changed.count_prefix(target, -1);
  changed.note_changed(target);
  return changed;
}

std::size_t QosTable::size() const {
  std::size_t size = 0;
  for (const QosIndex& index : kinds_) size += index.size();
  return size;
}

std::vector<const QosEntry*> QosTable::entries() const {
  std::vector<const QosEntry*> all;
  for (const QosIndex& index : kinds_) index.append_to(all);
  return all;
}

// The QoS classes of the caller's groups, in one order for all callers, and once each.
void QosTable::add_groups(const Credentials& cred, std::vector<qos::QosClass*>& path) const {
  if (of(QosKind::kGroup).size() == 0) return;
  std::vector<std::uint32_t> gids(cred.groups);
  gids.push_back(cred.gid);
  std::ranges::sort(gids);
  const auto twice = std::ranges::unique(gids);
  gids.erase(twice.begin(), twice.end());
  for (const std::uint32_t gid : gids) add(QosKind::kGroup, gid, path);
}

void QosTable::find_directories(std::span<const FileId> directories, std::vector<qos::QosClass*>& found) const {
  for (const FileId dir : directories) add(QosKind::kDirectory, static_cast<std::uint64_t>(dir), found);
}

void QosTable::find_path(const QosCaller& caller, std::span<const FileId> directories,
                         std::vector<qos::QosClass*>& path) const {
  std::vector<qos::QosClass*> found;
  find_directories(directories, found);
  compose_path(caller, found, path);
}

void QosTable::compose_path(const QosCaller& caller, std::span<qos::QosClass* const> directories,
                            std::vector<qos::QosClass*>& path) const {
  path.clear();
  const std::size_t rooted = root_ != nullptr && !directories.empty() && directories.front() == root_ ? 1 : 0;
  if (rooted != 0) path.push_back(root_);
  add(QosKind::kProtocol, static_cast<std::uint64_t>(caller.protocol), path);
  add(QosKind::kExport, static_cast<std::uint64_t>(caller.through), path);
  for (const auto& [prefix, count] : prefixes_) {
    const QosEntry* entry = find(QosTarget::clients({masked(caller.address, prefix), prefix}));
    if (entry != nullptr) path.push_back(entry->qos_class.get());
  }
  path.insert(path.end(), directories.begin() + static_cast<std::ptrdiff_t>(rooted), directories.end());
  if (caller.cred == nullptr) return;
  add_groups(*caller.cred, path);
  add(QosKind::kUser, caller.cred->uid, path);
}

}  // namespace stoa::core
