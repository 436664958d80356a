#include "core/api/flow_table.h"

#include <algorithm>

namespace stoa::core {
namespace {

std::array<std::uint8_t, 16> masked(std::array<std::uint8_t, 16> address, unsigned prefix) {
  for (unsigned byte = 0; byte < address.size(); ++byte) {
    const unsigned bits = prefix > byte * 8 ? std::min(prefix - byte * 8, 8u) : 0;
    address[byte] = static_cast<std::uint8_t>(address[byte] & (0xff00u >> bits));
  }
  return address;
}

}  // namespace

FlowTable::FlowTable(Flows flows) : flows_(std::move(flows)) {
  for (const auto& [target, flow] : flows_) {
    switch (target.kind) {
      case FlowKind::kDoor: doors_.emplace(target.id, flow.get()); break;
      case FlowKind::kExport: exports_.emplace(target.id, flow.get()); break;
      case FlowKind::kClients: networks_[target.network.prefix_bits].emplace(target.network.address, flow.get()); break;
      case FlowKind::kDirectory: directories_.emplace(target.id, flow.get()); break;
      case FlowKind::kGroup: groups_.emplace(target.id, flow.get()); break;
      case FlowKind::kUser: users_.emplace(target.id, flow.get()); break;
      case FlowKind::kBackground: break;
    }
  }
}

void FlowTable::add(const ByNumber& known, std::uint64_t id, std::vector<qos::Flow*>& path) {
  if (known.empty()) return;
  if (const auto it = known.find(id); it != known.end()) path.push_back(it->second);
}

// Of every group that the caller is in: in one order for all callers, and once each.
void FlowTable::add_groups(const Credentials& cred, std::vector<qos::Flow*>& path) const {
  if (groups_.empty()) return;
  std::vector<std::uint32_t> gids(cred.groups);
  gids.push_back(cred.gid);
  std::ranges::sort(gids);
  const auto twice = std::ranges::unique(gids);
  gids.erase(twice.begin(), twice.end());
  for (const std::uint32_t gid : gids) add(groups_, gid, path);
}

void FlowTable::find_path(const FlowCaller& caller, std::span<const FileId> directories, std::vector<qos::Flow*>& path) const {
  path.clear();
  const auto in = [&](FileId dir) { add(directories_, static_cast<std::uint64_t>(dir), path); };
  const bool rooted = !directories.empty() && directories.front() == kRootId;
  if (rooted) in(kRootId);
  add(doors_, static_cast<std::uint64_t>(caller.door), path);
  add(exports_, static_cast<std::uint64_t>(caller.through), path);
  for (const auto& [prefix, networks] : networks_) {
    if (const auto it = networks.find(masked(caller.address, prefix)); it != networks.end()) path.push_back(it->second);
  }
  for (const FileId dir : directories.subspan(rooted ? 1 : 0)) in(dir);
  if (caller.cred == nullptr) return;
  add_groups(*caller.cred, path);
  add(users_, caller.cred->uid, path);
}

}  // namespace stoa::core
