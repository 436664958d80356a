// The registry of a volume: records in the family config, an immutable snapshot in memory.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/deadline.h"
#include "base/metrics.h"
#include "base/rw_lock.h"
#include "base/time_source.h"
#include "core/api/registry.h"
#include "core/kv/kv_store.h"
#include "core/registry/snapshot.h"
#include "qos/background_throttle.h"
#include "qos/scheduler.h"

namespace stoa::core {

// Writes one batch and returns when it is durable. Called by one thread at a time.
using RegistryCommit = std::function<Status(const WriteBatch&, const Deadline& by)>;

// Thread-safe. Owned by the volume; `kv`, `scheduler`, `time` and the objects that `commit` uses must outlive it. The
// QoS classes of all snapshots are those of `scheduler`.
class StoredRegistry final : public Registry {
 public:
  // kCorrupt, kNotSupported: a record cannot be read; the detail is its key.
  static Result<std::unique_ptr<StoredRegistry>> load(KvStore& kv, RegistryCommit commit, qos::Scheduler& scheduler,
                                                      const TimeSource& time = kSystemTime);

  std::shared_ptr<const RegistrySnapshot> snapshot() const override;

  Result<Export> add_export(const Export& wanted, const Deadline& by = {}) override;
  Status change_export(const Export& changed, const Deadline& by = {}) override;
  Status remove_export(std::string_view name, const Deadline& by = {}) override;
  Status add_user(const User& user, const Deadline& by = {}) override;
  Status change_user(const User& user, const Deadline& by = {}) override;
  Status remove_user(std::string_view name, const Deadline& by = {}) override;
  Status add_group(const Group& group, const Deadline& by = {}) override;
  Status remove_group(std::string_view name, const Deadline& by = {}) override;
  Status set_qos_class(const QosRule& rule, const Deadline& by = {}) override;
  Status remove_qos_class(const QosTarget& target, const Deadline& by = {}) override;
  Status set_recycle(const RecyclePolicy& policy, const Deadline& by = {}) override;
  Status remove_recycle(FileId dir, const Deadline& by = {}) override;

  // The present terms of background work: the root directory's QoS class, if there is one, and its own.
  qos::BackgroundThrottle::Terms background_terms() const;
  Status add_token(const Token& token, const Deadline& by = {}) override;
  Status remove_token(std::string_view name, const Deadline& by = {}) override;
  void note_use(const Token& token, Timestamp now) override;
  Timestamp last_use(const Token& token) const override;
  Status set_audit_policy(const AuditPolicy& policy, const Deadline& by = {}) override;
  Status remove_audit_policy(FileId directory, const Deadline& by = {}) override;
  bool audited() const override { return audited_.load(std::memory_order_acquire); }

 private:
  // Threads read different cells, each with a pointer and a reference count of its own, so that requests on different
  // processors never meet on one cache line. The lock is held for one copy of a pointer, by readers of one cell and by
  // a rare change. (libstdc++ 12's std::atomic<std::shared_ptr> is a lock as well, and thread sanitizer rejects it.)
  struct alignas(64) Cell {
    mutable std::mutex mutex;
    std::shared_ptr<const RegistrySnapshot> snapshot;
  };

  // The time when a token was last used, and the stored one.
  struct TokenUse {
    Timestamp last;
    Timestamp stored;
  };

  StoredRegistry(RegistryCommit commit, qos::Scheduler& scheduler, const TimeSource& time, RegistryRecords records,
                 std::vector<QosRule> rules, const SidDomain& domain, std::uint32_t next_export);
  Status load_uses(KvStore& kv);
  void publish(RegistryRecords records) { publish(std::move(records), now().qos_table()); }
  void publish(RegistryRecords records, QosTable qos_classes);
  void publish(QosTable qos_classes);
  void publish(std::shared_ptr<const RegistryView> now_on);
  std::shared_ptr<qos::QosClass> qos_class_for(const QosTarget& target) const;  // a new one, but for background work
  // Holds at once, so before the snapshot that shows it.
  void set_limits(qos::QosClass& qos_class, const qos::Limits& limits);
  // The table without it; requests are no longer held back by it.
  QosTable without_qos_class(const QosTarget& target);
  const RegistryView& now() const { return *snapshot_; }

  RegistryCommit commit_;
  const TimeSource& time_;
  qos::Scheduler& scheduler_;
  const std::shared_ptr<qos::QosClass> background_ = std::make_shared<qos::QosClass>();
  const SidDomain domain_;
  // One change at a time, over its commit: the next must see its outcome. Guards the two below.
  RwLock change_lock_;
  std::shared_ptr<const RegistryView> snapshot_;
  std::uint32_t next_export_ = 1;
  std::array<Cell, kMetricCells> cells_;
  mutable std::mutex uses_mutex_;                      // guards the next one; held for one look
  std::map<std::string, TokenUse, std::less<>> uses_;  // by the name of the token
  std::atomic<bool> audited_{false};
};

}  // namespace stoa::core
