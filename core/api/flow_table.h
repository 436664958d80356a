// Which flows a request pays: of one moment, immutable, part of a registry snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/api/credentials.h"
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

class FlowTable {
 public:
  using Flows = std::map<FlowTarget, std::shared_ptr<qos::Flow>>;
  explicit FlowTable(Flows flows);

  // Whether the directories above a file matter at all.
  bool has_directories() const { return !directories_.empty(); }
  // The path that a request pays, the general before the particular; empty: nobody governs it. `directories` are those above
  // the file, and itself if it is one, from the root down (Namespace::ancestors). Pointers are valid as long as the snapshot.
  void find_path(const FlowCaller& caller, std::span<const FileId> directories, std::vector<qos::Flow*>& path) const;

  const Flows& flows() const { return flows_; }

 private:
  using ByNumber = std::unordered_map<std::uint64_t, qos::Flow*>;
  static void add(const ByNumber& known, std::uint64_t id, std::vector<qos::Flow*>& path);
  void add_groups(const Credentials& cred, std::vector<qos::Flow*>& path) const;

  Flows flows_;
  ByNumber doors_, exports_, directories_, groups_, users_;
  std::map<std::uint8_t, std::map<std::array<std::uint8_t, 16>, qos::Flow*>> networks_;  // by prefix length, then address
};

}  // namespace stoa::core
