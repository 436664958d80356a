// Which flows there are, and which of them a request pays: of one moment, immutable, part of a registry snapshot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/api/credentials.h"
#include "core/api/flow_index.h"
#include "core/api/flow_rules.h"
#include "qos/flow.h"

namespace stoa::core {

// Who asks, as far as flows are concerned.
struct FlowCaller {
  Protocol protocol = Protocol::kInternal;
  ExportId through{};
  std::array<std::uint8_t, 16> address{};  // IPv4 as ::ffff:a.b.c.d
  const Credentials* cred = nullptr;
};

// What is found is valid as long as the table or any copy of it. A copy costs next to nothing.
class FlowTable {
 public:
  FlowTable() = default;
  explicit FlowTable(std::vector<FlowEntry> entries);  // each target once
  // The same table with another entry, which takes the place of its target's, or without one. Cost as those of
  // FlowIndex.
  FlowTable with(FlowEntry entry) const;
  FlowTable without(const FlowTarget& target) const;

  std::size_t size() const;
  // Whether any request pays anything.
  bool governs_requests() const { return size() > of(FlowKind::kBackground).size(); }
  // Whether the directories above a file matter at all.
  bool has_directories() const { return of(FlowKind::kDirectory).size() > 0; }
  // Whether it matters who asks.
  bool has_owners() const { return of(FlowKind::kGroup).size() + of(FlowKind::kUser).size() > 0; }
  // Equal in two tables of this process only where both have the same flows for the same directories; never 0 where
  // there are any.
  std::uint64_t directories_version() const { return directories_version_; }
  // Null: it has no limits of its own.
  const FlowEntry* find(const FlowTarget& target) const { return of(target.kind).find(target); }
  // All by target, in O(n log n).
  std::vector<const FlowEntry*> entries() const;
  // The path that a request pays, the general before the particular; empty: nobody governs it. `directories` are those
  // above the file, and itself if it is one, from the root down (Namespace::ancestors).
  void find_path(const FlowCaller& caller, std::span<const FileId> directories, std::vector<qos::Flow*>& path) const;
  // The same in two steps, as the first may be remembered (Namespace::find_flows): appends the flows of those
  // directories, and makes of them the path of a request.
  void find_directories(std::span<const FileId> directories, std::vector<qos::Flow*>& found) const;
  void compose_path(const FlowCaller& caller, std::span<qos::Flow* const> directories,
                    std::vector<qos::Flow*>& path) const;

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(FlowKind::kBackground) + 1;

  const FlowIndex& of(FlowKind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  void add(FlowKind kind, std::uint64_t id, std::vector<qos::Flow*>& path) const {
    if (qos::Flow* flow = of(kind).find(id); flow != nullptr) path.push_back(flow);
  }
  void add_groups(const Credentials& cred, std::vector<qos::Flow*>& path) const;
  void count_prefix(const FlowTarget& target, int by);
  // The flow of the target is another one now, or none.
  void note_changed(const FlowTarget& target);

  std::array<FlowIndex, kKinds> kinds_;
  std::vector<std::pair<std::uint8_t, std::size_t>> prefixes_;  // in order: how many networks have one of that length
  qos::Flow* root_ = nullptr;                                   // of the root directory, if it has one
  std::uint64_t directories_version_ = 0;
};

}  // namespace stoa::core
