// How long the kernel may keep what a mount tells it: as long as a lease covers it.
#pragma once

#include <chrono>

#include "frontends/native/cache/kernel_cache.h"
#include "frontends/native/cache/leased_storage.h"
#include "frontends/native/fuse/file_system.h"
#include "frontends/native/fuse/notifier.h"

namespace stoa::native::mount {

// Thread-safe. Each question takes a moment() first; times are 0 when a lease was lost since then. A lease that an
// answer was given under stays until the kernel has the reply (fuse::Call::hold), so that no recall overtakes it. The
// times end with the trust in the lease: also a frozen mount makes the kernel answer no longer.
class KernelTimes {
 public:
  // `leases`: null: the kernel keeps nothing. `one_user`: all requests are made for the same user, so that whoever is
  // answered may see the names of a directory if anybody may; else the kernel, which knows no ACLs, keeps no names.
  KernelTimes(LeasedStorage* leases, bool one_user) : leases_(leases), one_user_(one_user) {}

  LeaseTicket moment() const { return leases_ == nullptr ? LeaseTicket{} : leases_->ticket(); }
  std::chrono::nanoseconds attributes(const fuse::Call& call, const LeaseTicket& moment, core::FileId file) const {
    return covered(call, moment, file) ? leases_->trusted_for() : std::chrono::nanoseconds(0);
  }
  std::chrono::nanoseconds names(const fuse::Call& call, const LeaseTicket& moment, core::FileId directory) const {
    return one_user_ ? attributes(call, moment, directory) : std::chrono::nanoseconds(0);
  }
  // Whether content and attributes of the file stay as they are until a recall.
  bool covered(const fuse::Call& call, const LeaseTicket& moment, core::FileId file) const {
    if (leases_ == nullptr) return false;
    auto pin = leases_->pin_since(moment, file, core::kReadCaching);
    if (!pin) return false;
    call.hold(std::make_shared<LeasePin>(std::move(*pin)));
    return true;
  }

 private:
  LeasedStorage* const leases_;
  const bool one_user_;
};

// Recalls, to the kernel. What it does not know needs nothing, and a mount that has ended keeps nothing.
class KernelNotices : public KernelCache {
 public:
  // `notifier` outlives it. `keeps_names`: as KernelTimes with one user.
  KernelNotices(fuse::Notifier& notifier, bool keeps_names) : notifier_(notifier), keeps_names_(keeps_names) {}

  // The kernel takes the lock of the directory for one name, which a call under way may have; all at once it does
  // without.
  void forget_names(core::FileId directory, std::span<const std::string> names) override {
    if (!keeps_names_ || notifier_.inval_all_entries()) return;
    for (const std::string& name : names) (void)notifier_.inval_entry(directory, name);
  }
  void forget_attributes(core::FileId file) override { (void)notifier_.inval_inode(file, -1, 0); }
  void forget_pages(core::FileId file) override { (void)notifier_.inval_inode(file, 0, 0); }

 private:
  fuse::Notifier& notifier_;
  const bool keeps_names_;
};

}  // namespace stoa::native::mount
