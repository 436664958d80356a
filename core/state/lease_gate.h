// The gate between opens and caching leases on one side and changes on the other ("break before mutate"). The core asks
// here with the nodes locked, when all else of the operation is decided, right before the change. MetaTxn::commit()
// asks for all changes of a transaction, the data path before it writes bytes in place. Asking under the locks closes
// the gap between question and change: a lease granted later covers the changed state (StateTable::grant_lease waits
// for the file to quiesce).
//
// Nothing here blocks or calls back. send_recalls() recalls the leases once all locks are gone. Without leases and
// opens each question costs one relaxed read; the node's lock orders it (see quiesced() in file_watch.h and
// StateTable::open).
#pragma once

#include <atomic>
#include <span>

#include "base/error.h"
#include "core/api/context.h"

namespace stoa::core {

class LeaseGate {
 public:
  virtual ~LeaseGate() = default;

  // The lease of the caller itself (`ctx.holder`, `ctx.lease_key`) does not count. kRecallPending: a conflicting lease
  // is to be recalled; nothing may be changed, the request is parked and tried again.
  Status before_mutate(const OpContext& ctx, std::span<const FileId> files) {
    if (leases_.load(std::memory_order_relaxed) == 0) return {};
    return break_leases(ctx, files, Access::kChange);
  }
  // The files lose a name, or get another instead.
  Status before_name_goes(const OpContext& ctx, std::span<const FileId> files) {
    if (handle_leases_.load(std::memory_order_relaxed) == 0) return {};
    return break_leases(ctx, files, Access::kTakeName);
  }
  // The same before reading content, size or times; needs no lock.
  Status before_look(const OpContext& ctx, FileId file) {
    if (write_leases_.load(std::memory_order_relaxed) == 0) return {};
    return break_leases(ctx, std::span(&file, 1), Access::kLook);
  }
  // Before a directory is unsealed, everybody must know who relies on its seal and holds no lease for that:
  // kRecallPending until then. No protocol does so far.
  Status before_unseal(const OpContext&, FileId) { return {}; }
  // With the data gate or the node locked, before bytes are read or written. kLocked: a mandatory lock of another open.
  Status before_io(const OpContext& ctx, FileId file, std::uint64_t offset, std::uint64_t length, bool write) {
    if (mandatory_locks_.load(std::memory_order_relaxed) == 0 || length == 0) return {};
    return check_mandatory(ctx, file, offset, length, write);
  }
  // With the node locked: whether the file must outlive its last name, because it is open, or may have been open before
  // a restart and grace is not over.
  virtual bool keeps(FileId file) = 0;
  // With the node locked.
  virtual bool is_open(FileId file) const = 0;
  void send_recalls() {
    if (recalls_due_.load(std::memory_order_acquire)) call_holders();
  }

 protected:
  enum class Access : std::uint8_t { kLook, kChange, kTakeName };
  virtual Status break_leases(const OpContext& ctx, std::span<const FileId> files, Access access) = 0;
  virtual Status check_mandatory(const OpContext& ctx, FileId file, std::uint64_t offset, std::uint64_t length,
                                 bool write) = 0;
  virtual void call_holders() = 0;

  // Every operation reads these; they share no cache line with members that each open and lock writes.
  alignas(64) std::atomic<std::int64_t> leases_{0};  // of all kinds, with those that were revoked and not returned
  std::atomic<std::int64_t> write_leases_{0};
  std::atomic<std::int64_t> handle_leases_{0};
  std::atomic<std::int64_t> mandatory_locks_{0};
  std::atomic<bool> recalls_due_{false};
};

}  // namespace stoa::core
