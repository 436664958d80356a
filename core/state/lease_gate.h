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

// A file or directory that an operation meets (core/txn/covered.h).
struct Touched {
  FileId file = kNoFile;
  FileId directory = kNoFile;  // whose files lease covers it: that of its only name; kNoFile: none
  bool is_directory = false;
};

class LeaseGate {
 public:
  virtual ~LeaseGate() = default;

  // Whether a change, or a look, is to be brought before the gate at all.
  bool asks_of_changes(const OpContext& ctx) const {
    return leases_.load(std::memory_order_relaxed) != 0 || awaits_writers_.load(std::memory_order_relaxed) ||
           ctx.cached_under;
  }
  bool knows_files_leases() const { return files_leases_.load(std::memory_order_relaxed) != 0; }
  bool asks_of_looks() const {
    return write_leases_.load(std::memory_order_relaxed) != 0 || awaits_writers_.load(std::memory_order_relaxed);
  }
  // The lease of the caller itself (`ctx.holder`, `ctx.lease_key`; of a files lease the holder alone) does not count.
  // kRecallPending: a conflicting lease is to be recalled, or a writer of before the restart is not back; nothing may
  // be changed, the request is parked (by Error::subject) and tried again. kLeaseLost: OpContext::cached_under.
  Status before_mutate(const OpContext& ctx, std::span<const Touched> files) {
    return asks_of_changes(ctx) ? break_leases(ctx, files, Access::kChange) : Status{};
  }
  // The files lose a name, or get another instead.
  Status before_name_goes(const OpContext& ctx, std::span<const FileId> files) {
    if (handle_leases_.load(std::memory_order_relaxed) == 0) return {};
    Status may;
    for (const FileId file : files) {
      const Touched touched{.file = file};
      if (const Status one = break_leases(ctx, std::span(&touched, 1), Access::kTakeName); !one) may = one;
    }
    return may;
  }
  // The same before reading content, size or times; needs no lock.
  Status before_look(const OpContext& ctx, const Touched& file) {
    return asks_of_looks() ? break_leases(ctx, std::span(&file, 1), Access::kLook) : Status{};
  }
  // Before a file, or all files of a directory, can be written to no more: what clients have written comes first.
  Status before_seal(const OpContext& ctx, FileId file) {
    const Touched touched{.file = file};
    return asks_of_looks() ? break_leases(ctx, std::span(&touched, 1), Access::kSeal) : Status{};
  }
  // With the node locked, when bytes have changed in place that were asked for before: kRecallPending, if meanwhile
  // somebody got a files lease that covers them. To be done again then.
  Status behind_mutate(const OpContext& ctx, const Touched& file) {
    if (files_leases_.load(std::memory_order_relaxed) == 0) return {};
    return break_leases(ctx, std::span(&file, 1), Access::kChanged);
  }
  // With the nodes locked, when a change passed: the file is to have a name in the directory, too.
  void name_comes(FileId file, FileId directory) {
    if (leases_.load(std::memory_order_relaxed) != 0) follow_name(file, directory);
  }
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
  enum class Access : std::uint8_t { kLook, kChange, kChanged, kTakeName, kSeal };
  virtual Status break_leases(const OpContext& ctx, std::span<const Touched> files, Access access) = 0;
  virtual void follow_name(FileId file, FileId directory) = 0;
  virtual Status check_mandatory(const OpContext& ctx, FileId file, std::uint64_t offset, std::uint64_t length,
                                 bool write) = 0;
  virtual void call_holders() = 0;

  // Every operation reads these; they share no cache line with members that each open and lock writes.
  alignas(64) std::atomic<std::int64_t> leases_{0};  // of all kinds, with those that were revoked and not returned
  std::atomic<std::int64_t> write_leases_{0};
  std::atomic<std::int64_t> handle_leases_{0};
  std::atomic<std::int64_t> files_leases_{0};
  std::atomic<bool> awaits_writers_{false};  // after a restart: looks of others wait (StateTable::remember_writer)
  std::atomic<std::int64_t> mandatory_locks_{0};
  std::atomic<bool> recalls_due_{false};
};

}  // namespace stoa::core
