// Quality of service as it is set: whom or what a flow is about, and its limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/context.h"
#include "core/api/ids.h"
#include "core/api/network.h"
#include "qos/price.h"

namespace stoa::core {

// What a flow is about. Persistent: never renumber. In the order of a request's path, the general before the
// particular; the root directory comes before all. kBackground: no request, but the volume's own work.
enum class FlowKind : std::uint8_t {
  kProtocol = 1,
  kExport = 2,
  kClients = 3,
  kDirectory = 4,
  kGroup = 5,
  kUser = 6,
  kBackground = 7
};

struct FlowTarget {
  FlowKind kind = FlowKind::kDirectory;
  std::uint64_t id = 0;  // Protocol, ExportId, FileId, gid or uid
  Network network{};     // kClients

  static FlowTarget protocol(Protocol protocol) { return {FlowKind::kProtocol, static_cast<std::uint64_t>(protocol)}; }
  static FlowTarget of_export(ExportId id) { return {FlowKind::kExport, static_cast<std::uint64_t>(id)}; }
  static FlowTarget clients(const Network& network) { return {FlowKind::kClients, 0, network}; }
  static FlowTarget directory(FileId id) { return {FlowKind::kDirectory, static_cast<std::uint64_t>(id)}; }
  static FlowTarget group(std::uint32_t gid) { return {FlowKind::kGroup, gid}; }
  static FlowTarget user(std::uint32_t uid) { return {FlowKind::kUser, uid}; }
  static FlowTarget background() { return {FlowKind::kBackground, 0}; }
  auto operator<=>(const FlowTarget&) const = default;
};

struct FlowRule {
  FlowTarget target{};
  qos::Limits limits{};
  bool operator==(const FlowRule&) const = default;
};

// What holds for background work while nobody has set anything.
inline FlowRule background_default() {
  return {FlowTarget::background(), {.weight = qos::kWeightLowest}};
}

}  // namespace stoa::core
