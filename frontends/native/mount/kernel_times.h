// How long the kernel may keep what a mount tells it: as long as a lease covers it.
#pragma once

#include <chrono>
#include <functional>

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
  // answered may see the names of a directory if anybody may; else the kernel, which knows no ACLs, keeps names only of
  // directories that everybody may search.
  KernelTimes(LeasedStorage* leases, bool one_user) : leases_(leases), one_user_(one_user) {}

  LeaseTicket moment() const { return leases_ == nullptr ? LeaseTicket{} : leases_->ticket(); }
  std::chrono::nanoseconds attributes(const fuse::Call& call, const LeaseTicket& moment, core::FileId file) const {
    return covered(call, moment, file) ? leases_->trusted_for() : std::chrono::nanoseconds(0);
  }
  // Of a name, which is that of `file`; kNoFile: there is no such name.
  std::chrono::nanoseconds name(const fuse::Call& call, const LeaseTicket& moment, core::FileId directory,
                                std::string_view name, core::FileId file) const {
    const bool keeps = covered(call, moment, directory) && may_keep_names(directory) &&
                       leases_->known_entry(directory, name, file).name;
    return keeps ? leases_->trusted_for() : std::chrono::nanoseconds(0);
  }
  bool may_keep_names(core::FileId directory) const { return one_user_ || everybody_searches(directory); }
  // Whether the kernel has names of the directory for all users because of that.
  bool shares_names(core::FileId directory) const { return !one_user_ && everybody_searches(directory); }
  // What is known of entries that were listed some time ago. Empty: the kernel keeps nothing of them.
  std::function<KnownEntry(std::string_view name, core::FileId file)> known_entries(const fuse::Call& call,
                                                                                    core::FileId directory) const {
    if (!covered(call, moment(), directory)) return {};
    return [this, directory](std::string_view name, core::FileId file) {
      return leases_->known_entry(directory, name, file);
    };
  }
  // After a rename, before the kernel hears of it.
  void renamed(const fuse::RenameCall& rename) const {
    if (leases_ == nullptr || rename.from_parent == rename.to_parent) return;
    leases_->name_moves_to(rename.to_parent, rename.to_name, may_keep_names(rename.to_parent));
    if (rename.exchange)
      leases_->name_moves_to(rename.from_parent, rename.from_name, may_keep_names(rename.from_parent));
  }
  std::chrono::nanoseconds trusted_for() const { return leases_->trusted_for(); }
  // Whether content and attributes of the file stay as they are until a recall.
  bool covered(const fuse::Call& call, const LeaseTicket& moment, core::FileId file) const {
    if (leases_ == nullptr) return false;
    auto pin = leases_->pin_since(moment, file, core::kReadCaching);
    if (!pin) return false;
    call.hold(std::make_shared<LeasePin>(std::move(*pin)));
    return true;
  }

 private:
  bool everybody_searches(core::FileId directory) const {
    return leases_ != nullptr && leases_->everybody_searches(directory);
  }

  LeasedStorage* const leases_;
  const bool one_user_;
};

// Recalls, to the kernel. What it does not know needs nothing, and a mount that has ended keeps nothing.
class KernelNotices final : public KernelCache {
 public:
  // `notifier` outlives it.
  explicit KernelNotices(fuse::Notifier& notifier) : notifier_(notifier) {}

  // The kernel takes the lock of the directory for one name, which a call under way may have; all at once it does
  // without.
  void forget_names(core::FileId directory, std::span<const std::string> names) override {
    if (forget_all_names()) return;
    for (const std::string& name : names) (void)notifier_.inval_entry(directory, name);
  }
  bool forget_all_names() override { return notifier_.inval_all_entries().has_value(); }
  void forget_attributes(core::FileId file) override { (void)notifier_.inval_inode(file, -1, 0); }
  void forget_pages(core::FileId file) override { (void)notifier_.inval_inode(file, 0, 0); }

 private:
  fuse::Notifier& notifier_;
};

}  // namespace stoa::native::mount
