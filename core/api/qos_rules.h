// Quality of service rules: the target of a QoS class, and its limits.
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

// The kind of target of a QoS class. Persistent: never renumber. In the order of a request's path, the general
// before the particular; the root directory comes before all. kBackground: no request, but the volume's own
// work.
enum class QosKind : std::uint8_t {
  kProtocol = 1,
  kExport = 2,
  kClients = 3,
  kDirectory = 4,
  kGroup = 5,
  kUser = 6,
  kBackground = 7
};

struct QosTarget {
  QosKind kind = QosKind::kDirectory;
  std::uint64_t id = 0;  // Protocol, ExportId, FileId, gid or uid
  Network network{};     // kClients

  static QosTarget protocol(Protocol protocol) { return {QosKind::kProtocol, static_cast<std::uint64_t>(protocol)}; }
  static QosTarget of_export(ExportId id) { return {QosKind::kExport, static_cast<std::uint64_t>(id)}; }
  static QosTarget clients(const Network& network) { return {QosKind::kClients, 0, network}; }
  static QosTarget directory(FileId id) { return {QosKind::kDirectory, static_cast<std::uint64_t>(id)}; }
  static QosTarget group(std::uint32_t gid) { return {QosKind::kGroup, gid}; }
  static QosTarget user(std::uint32_t uid) { return {QosKind::kUser, uid}; }
  static QosTarget background() { return {QosKind::kBackground, 0}; }
  auto operator<=>(const QosTarget&) const = default;
};

struct QosRule {
  QosTarget target{};
  qos::Limits limits{};
  bool operator==(const QosRule&) const = default;
};

// The rule of background work while none is set.
inline QosRule background_default() {
  return {QosTarget::background(), {.weight = qos::kWeightLowest}};
}

}  // namespace stoa::core
