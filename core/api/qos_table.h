// The QoS classes of one moment and the look-up of those that a request pays. Immutable, part of a registry snapshot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/api/credentials.h"
#include "core/api/qos_index.h"
#include "core/api/qos_rules.h"
#include "qos/qos_class.h"

namespace stoa::core {

// The caller as QoS class look-ups see it.
struct QosCaller {
  Protocol protocol = Protocol::kInternal;
  ExportId through{};
  std::array<std::uint8_t, 16> address{};  // IPv4 as ::ffff:a.b.c.d
  const Credentials* cred = nullptr;
};

// QoS classes found stay valid as long as the table or any copy of it. A copy costs next to nothing.
class QosTable {
 public:
  QosTable() = default;
  explicit QosTable(std::vector<QosEntry> entries);  // each target once
  // The same table with another entry, which takes the place of its target's, or without one. Cost as those of
  // QosIndex.
  QosTable with(QosEntry entry) const;
  QosTable without(const QosTarget& target) const;

  std::size_t size() const;
  // Whether any request pays anything.
  bool governs_requests() const { return size() > of(QosKind::kBackground).size(); }
  // Whether the directories above a file matter at all.
  bool has_directories() const { return of(QosKind::kDirectory).size() > 0; }
  // Whether the caller's identity matters.
  bool has_owners() const { return of(QosKind::kGroup).size() + of(QosKind::kUser).size() > 0; }
  // Equal in two tables of this process only where both have the same QoS classes for the same directories; never 0
  // where there are any.
  std::uint64_t directories_version() const { return directories_version_; }
  // Null: it has no limits of its own.
  const QosEntry* find(const QosTarget& target) const { return of(target.kind).find(target); }
  // All by target, in O(n log n).
  std::vector<const QosEntry*> entries() const;
  // The path that a request pays, the general before the particular; empty: no QoS class applies. `directories` are
  // those above the file, and itself if it is one, from the root down (Namespace::ancestors).
  void find_path(const QosCaller& caller, std::span<const FileId> directories, std::vector<qos::QosClass*>& path) const;
  // The same in two steps, because the first may be cached (Namespace::find_qos_classes): appends the QoS classes of
  // those directories, and makes the path of a request from them.
  void find_directories(std::span<const FileId> directories, std::vector<qos::QosClass*>& found) const;
  void compose_path(const QosCaller& caller, std::span<qos::QosClass* const> directories,
                    std::vector<qos::QosClass*>& path) const;

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(QosKind::kBackground) + 1;

  const QosIndex& of(QosKind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  void add(QosKind kind, std::uint64_t id, std::vector<qos::QosClass*>& path) const {
    if (qos::QosClass* qos_class = of(kind).find(id); qos_class != nullptr) path.push_back(qos_class);
  }
  void add_groups(const Credentials& cred, std::vector<qos::QosClass*>& path) const;
  void count_prefix(const QosTarget& target, int by);
  // The QoS class of the target is another one now, or none.
  void note_changed(const QosTarget& target);

  std::array<QosIndex, kKinds> kinds_;
  std::vector<std::pair<std::uint8_t, std::size_t>> prefixes_;  // in order: how many networks have one of that length
  qos::QosClass* root_ = nullptr;                               // of the root directory, if it has one
  std::uint64_t directories_version_ = 0;
};

}  // namespace stoa::core
