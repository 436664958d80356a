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
  Door door = Door::kInternal;
  ExportId through{};
  std::array<std::uint8_t, 16> address{};  // IPv4 as ::ffff:a.b.c.d
  const Credentials* cred = nullptr;
};

// What is found is valid as long as the table or any copy of it. A copy costs next to nothing.
class FlowTable {
 public:
  FlowTable() = default;
  explicit FlowTable(std::vector<FlowEntry> entries);  // each target once
  // The same table with another entry, which takes the place of its target's, or without one. Cost as those of FlowIndex.
  FlowTable with(FlowEntry entry) const;
  FlowTable without(const FlowTarget& target) const;

  std::size_t size() const;
  // Whether any request pays anything.
  bool governs_requests() const { return size() > of(FlowKind::kBackground).size(); }
  // Whether the directories above a file matter at all.
  bool has_directories() const { return of(FlowKind::kDirectory).size() > 0; }
  // Null: it has no limits of its own.
  const FlowEntry* find(const FlowTarget& target) const { return of(target.kind).find(target); }
  // All by target, in O(n log n).
  std::vector<const FlowEntry*> entries() const;
  // The path that a request pays, the general before the particular; empty: nobody governs it. `directories` are those above
  // the file, and itself if it is one, from the root down (Namespace::ancestors).
  void find_path(const FlowCaller& caller, std::span<const FileId> directories, std::vector<qos::Flow*>& path) const;

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(FlowKind::kBackground) + 1;

  const FlowIndex& of(FlowKind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  void add(FlowKind kind, std::uint64_t id, std::vector<qos::Flow*>& path) const {
    if (qos::Flow* flow = of(kind).find(id); flow != nullptr) path.push_back(flow);
  }
  void add_groups(const Credentials& cred, std::vector<qos::Flow*>& path) const;
  void count_prefix(const FlowTarget& target, int by);

  std::array<FlowIndex, kKinds> kinds_;
  std::vector<std::pair<std::uint8_t, std::size_t>> prefixes_;  // in order: how many networks have one of that length
};

}  // namespace stoa::core
