#include "core/api/flow_table.h"

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

FlowTable::FlowTable(std::vector<FlowEntry> entries) {
  std::array<std::vector<FlowEntry>, kKinds> sorted;
  for (FlowEntry& entry : entries) {
    count_prefix(entry.rule.target, 1);
    sorted[static_cast<std::size_t>(entry.rule.target.kind)].push_back(std::move(entry));
  }
  for (std::size_t i = 0; i < kKinds; ++i) kinds_[i] = FlowIndex(std::move(sorted[i]));
  if (has_directories()) note_changed(FlowTarget::directory(kRootId));
}

void FlowTable::note_changed(const FlowTarget& target) {
  if (target.kind != FlowKind::kDirectory) return;
  root_ = of(FlowKind::kDirectory).find(static_cast<std::uint64_t>(kRootId));
  directories_version_ = g_directories_version.fetch_add(1, std::memory_order_relaxed) + 1;
}

void FlowTable::count_prefix(const FlowTarget& target, int by) {
  if (target.kind != FlowKind::kClients) return;
  const std::uint8_t bits = target.network.prefix_bits;
  auto at = std::ranges::lower_bound(prefixes_, bits, {}, [](const auto& known) { return known.first; });
  if (at == prefixes_.end() || at->first != bits) at = prefixes_.insert(at, {bits, 0});
  at->second += static_cast<std::size_t>(by);
  if (at->second == 0) prefixes_.erase(at);
}

FlowTable FlowTable::with(FlowEntry entry) const {
  FlowTable changed(*this);
  const FlowTarget target = entry.rule.target;
  const FlowEntry* const known = find(target);
  const bool same_flow = known != nullptr && known->flow == entry.flow;  // with other limits
  FlowIndex& index = changed.kinds_[static_cast<std::size_t>(target.kind)];
  index = index.with(std::move(entry));
  if (index.size() > of(target.kind).size()) changed.count_prefix(target, 1);
  if (!same_flow) changed.note_changed(target);
  return changed;
}

FlowTable FlowTable::without(const FlowTarget& target) const {
  FlowTable changed(*this);
  FlowIndex& index = changed.kinds_[static_cast<std::size_t>(target.kind)];
  index = index.without(target);
  if (index.size() == of(target.kind).size()) return changed;
  changed.count_prefix(target, -1);
  changed.note_changed(target);
  return changed;
}

std::size_t FlowTable::size() const {
  std::size_t size = 0;
  for (const FlowIndex& index : kinds_) size += index.size();
  return size;
}

std::vector<const FlowEntry*> FlowTable::entries() const {
  std::vector<const FlowEntry*> all;
  for (const FlowIndex& index : kinds_) index.append_to(all);
  return all;
}

// Of every group that the caller is in: in one order for all callers, and once each.
void FlowTable::add_groups(const Credentials& cred, std::vector<qos::Flow*>& path) const {
  if (of(FlowKind::kGroup).size() == 0) return;
  std::vector<std::uint32_t> gids(cred.groups);
  gids.push_back(cred.gid);
  std::ranges::sort(gids);
  const auto twice = std::ranges::unique(gids);
  gids.erase(twice.begin(), twice.end());
  for (const std::uint32_t gid : gids) add(FlowKind::kGroup, gid, path);
}

void FlowTable::find_directories(std::span<const FileId> directories, std::vector<qos::Flow*>& found) const {
  for (const FileId dir : directories) add(FlowKind::kDirectory, static_cast<std::uint64_t>(dir), found);
}

void FlowTable::find_path(const FlowCaller& caller, std::span<const FileId> directories,
                          std::vector<qos::Flow*>& path) const {
  std::vector<qos::Flow*> found;
  find_directories(directories, found);
  compose_path(caller, found, path);
}

void FlowTable::compose_path(const FlowCaller& caller, std::span<qos::Flow* const> directories,
                             std::vector<qos::Flow*>& path) const {
  path.clear();
  const std::size_t rooted = root_ != nullptr && !directories.empty() && directories.front() == root_ ? 1 : 0;
  if (rooted != 0) path.push_back(root_);
  add(FlowKind::kProtocol, static_cast<std::uint64_t>(caller.protocol), path);
  add(FlowKind::kExport, static_cast<std::uint64_t>(caller.through), path);
  for (const auto& [prefix, count] : prefixes_) {
    const FlowEntry* entry = find(FlowTarget::clients({masked(caller.address, prefix), prefix}));
    if (entry != nullptr) path.push_back(entry->flow.get());
  }
  path.insert(path.end(), directories.begin() + static_cast<std::ptrdiff_t>(rooted), directories.end());
  if (caller.cred == nullptr) return;
  add_groups(*caller.cred, path);
  add(FlowKind::kUser, caller.cred->uid, path);
}

}  // namespace stoa::core
