// Where opens and caching leases meet changes ("break before mutate"). The core asks here with the nodes locked, when all
// else of the operation is decided, right before it changes anything: MetaTxn::commit() for all that a transaction changes,
// the data path before it writes bytes in place. Asking under the locks closes the gap between the question and the change:
// a lease that is granted later is granted on what the change has made (StateTable::grant_lease waits for the file to
// settle).
//
// Nothing here blocks or calls anybody. Who must give a lease back is told by send_recalls(), once all locks are gone.
// Without leases and opens each question costs one relaxed read; the node's lock orders it (see settled() in file_watch.h
// and StateTable::open).
#pragma once

#include <atomic>
#include <span>

#include "base/error.h"
#include "core/api/context.h"

namespace stoa::core {

class LeaseGate {
 public:
  virtual ~LeaseGate() = default;

  // Leases of `ctx.holder` itself do not count. kRecallPending: a conflicting lease is to be recalled; nothing may be
  // changed, the door parks the request and tries again.
  Status before_mutate(const OpContext& ctx, std::span<const FileId> files) {
    if (leases_.load(std::memory_order_relaxed) == 0) return {};
    return break_leases(ctx, files, true);
  }
  // The same for who is about to look at content, size or times; needs no lock.
  Status before_look(const OpContext& ctx, FileId file) {
    if (write_leases_.load(std::memory_order_relaxed) == 0) return {};
    return break_leases(ctx, std::span(&file, 1), false);
  }
  // With the node locked: whether the file must live on without its last name, because it is open.
  bool keeps(FileId file) {
    if (opens_.load(std::memory_order_relaxed) == 0) return false;
    return keep_nameless(file);
  }
  void send_recalls() {
    if (recalls_due_.load(std::memory_order_acquire)) call_holders();
  }

 protected:
  virtual Status break_leases(const OpContext& ctx, std::span<const FileId> files, bool change) = 0;
  virtual bool keep_nameless(FileId file) = 0;
  virtual void call_holders() = 0;

  // Every operation reads these; they share no cache line with what each open and lock writes.
  alignas(64) std::atomic<std::int64_t> leases_{0};  // of both kinds, with those that were revoked and not returned
  std::atomic<std::int64_t> write_leases_{0};
  std::atomic<bool> recalls_due_{false};
  alignas(64) std::atomic<std::int64_t> opens_{0};
};

}  // namespace stoa::core
