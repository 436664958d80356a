// The calls of a client program, answered from what is kept under leases where that is possible.
//
// Leases are asked for in the message of the call that shows interest in a directory. What others change recalls them;
// what this client changes is known here. When the server has not been heard of for a while (LeaseCalls::
// trusted_until_ns), nothing is answered from the caches, and calls wait for the server.
#pragma once

#include <functional>
#include <shared_mutex>

#include "frontends/native/cache/lease_cache.h"
#include "frontends/native/cache/local_opens.h"
#include "frontends/native/cache/recall_engine.h"
#include "frontends/native/storage/forwarding_storage.h"

namespace stoa::native {

struct LeaseStats {
  LeaseCacheCounts cache;
  std::size_t local_opens = 0;
};

// Thread-safe. Errors are those of the storage below.
class LeasedStorage : public ForwardingStorage, public LeaseCovers, public LeaseEvents {
 public:
  // kBusy: threads could not be started. `below` and `calls` outlive it.
  static Result<std::unique_ptr<LeasedStorage>> make(Storage& below, LeaseCalls& calls,
                                                     const LeaseCacheLimits& limits = {});
  // What others keep under the leases; null: nothing (any more). Returns when no call to the former is under way. Not
  // called by what is told of recalls.
  void set_kept(KeptUnderLeases* kept);
  // The kernel that names and attributes are told to; null: none (any more).
  void set_kernel(KernelCache* kernel);
  // The end: no recall is answered any more, and those under way do not wait for a server that is gone. What they hold
  // ends with the session.
  void stop_recalls() { engine_.stop(); }
  LeaseStats stats() const { return {cache_.counts(), opens_.size()}; }

  // --- for a process that goes on with the session
  // Gives all leases back, as if they were recalled, and asks for none until ask_again(). kTimeout: some are still
  // held. Not called by what is told of recalls.
  Status give_all_back(std::chrono::steady_clock::time_point until);
  void ask_again() { cache_.set_asking(true); }
  std::vector<LocalOpen> local_opens() const { return opens_.all(); }
  void restore(const LocalOpen& open) { opens_.restore(open); }

  // For what the kernel is told: taken before the question, the pin behind the answer.
  LeaseTicket ticket() { return cache_.ticket(); }
  std::optional<LeasePin> pin_since(const LeaseTicket& ticket, core::FileId file, std::uint32_t bits) {
    return cache_.pin_since(ticket, file, bits);
  }
  std::chrono::nanoseconds trusted_for() const { return cache_.trusted_for(); }
  // Whoever asks may search the directory, as far as is known.
  bool everybody_searches(core::FileId dir) { return cache_.everybody_searches(dir); }
  KnownEntry known_entry(core::FileId dir, std::string_view name, core::FileId file) {
    return cache_.known_entry(dir, name, file);
  }
  // Before the kernel hears of a rename: it takes the name along into the directory, with the time that it may be kept
  // for under the lease of the old one. `may_keep`: if the directory has a lease, too.
  void name_moves_to(core::FileId dir, std::string_view name, bool may_keep) {
    if (!may_keep || !cache_.note_name(dir, name)) engine_.forget_name(dir, name);
  }

  // --- for messages of their own, which go past this storage
  // The number under which the server knows the open; 0: the server has refused it. Blocks when it did not know it.
  OpenNumber at_server(core::FileId file, OpenNumber open) {
    opens_.make_real(file);
    return opens_.at_server(open);
  }
  // The server does not know the open yet.
  bool is_local(OpenNumber open) const { return opens_.at_server(open) != open; }
  // Around a message that may make a name: nothing of it, and nothing of its directory, is kept over the message.
  std::shared_ptr<NameChange> begin_making(core::FileId parent, std::string_view name) {
    return cache_.begin_name_change(parent, name, false);
  }
  void end_making(const std::shared_ptr<NameChange>& change) { cache_.end_name_change(change, {}, {}); }

  // --- LeaseCovers
  std::optional<LeasePin> pin(core::FileId file, std::uint32_t bits) override { return cache_.pin(file, bits); }
  void want(const core::Credentials& cred, core::FileId file, std::uint32_t bits) override;
  Listed listed(const core::Credentials& cred, core::FileId directory, const ListedWish& wish) override {
    return cache_.listed(cred, directory, wish);
  }
  std::uint64_t place_in_listing(core::FileId directory, core::FileId file) override {
    return cache_.place_in_listing(directory, file);
  }
  // --- LeaseEvents
  void lease_recalled(const LeaseRecalled& recall) override { engine_.recall(recall.lease, recall.keeps); }
  void lease_lost(U64 lease) override { engine_.lost(lease); }

  // --- Storage
  Result<core::Attributes> lookup(const Asker& asker, core::FileId parent, std::string_view name) override;
  Result<core::Attributes> getattr(const Asker& asker, core::FileId id) override;
  Result<core::Attributes> setattr(const Asker& asker, core::FileId id, OpenNumber open,
                                   const core::SetAttributes& set) override;
  Result<std::uint32_t> access(const Asker& asker, core::FileId id, std::uint32_t wanted) override;
  Result<std::string> readlink(const Asker& asker, core::FileId id) override;
  Result<core::Attributes> mkdir(const Asker& asker, const core::MkdirRequest& request) override;
  Result<core::Attributes> mknod(const Asker& asker, const core::MknodRequest& request) override;
  Result<core::Attributes> create(const Asker& asker, const core::CreateRequest& request) override;
  Result<core::Attributes> symlink(const Asker& asker, const core::SymlinkRequest& request) override;
  Result<core::Attributes> link(const Asker& asker, const core::LinkRequest& request) override;
  Status unlink(const Asker& asker, const core::RemoveRequest& request) override;
  Status rmdir(const Asker& asker, const core::RemoveRequest& request) override;
  Status rename(const Asker& asker, const core::RenameRequest& request) override;
  Status open_directory(const Asker& asker, core::FileId dir) override;
  Result<StorageEntries> readdir(const Asker& asker, const core::ReaddirRequest& request) override;
  Result<StorageOpen> open(const Asker& asker, const core::OpenRequest& request) override;
  void close(const Asker& asker, OpenNumber open) override;
  Result<std::size_t> read(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                           std::span<std::byte> into) override;
  Result<StorageBytes> read_to_keep(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                    std::size_t length) override;
  Result<StorageWritten> write(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                               std::span<const std::byte> data, WriteWay way) override;
  std::vector<Result<StorageWritten>> write_all(const Asker& asker, std::span<const StorageWrite> writes) override;
  Result<StorageWritten> append(const Asker& asker, core::FileId id, OpenNumber open, std::span<const std::byte> data,
                                bool durable) override;
  Status commit(const Asker& asker, core::FileId id, OpenNumber open) override;
  std::vector<Status> commit_all(const Asker& asker, std::span<const StorageCommit> commits) override;
  Status allocate(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override;
  Status zero(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override;
  Status punch(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override;
  Result<std::uint64_t> copy_range(const Asker& asker, const core::CopyRangeRequest& request, OpenNumber from,
                                   OpenNumber to) override;
  Result<std::string> get_xattr(const Asker& asker, const core::GetXattrRequest& request) override;
  Status set_xattr(const Asker& asker, const core::SetXattrRequest& request) override;
  Status remove_xattr(const Asker& asker, const core::RemoveXattrRequest& request) override;
  Result<std::optional<StorageLock>> lock(const Asker& asker, const StorageLock& wanted, bool waits) override;

 private:
  LeasedStorage(Storage& below, LeaseCalls& calls, const LeaseCacheLimits& limits)
      : ForwardingStorage(below), cache_(calls, limits), opens_(calls), engine_(calls, cache_, opens_) {}

  // A call together with the wish for a lease, where one is to be asked for. The ticket is of the call.
  template <class Call>
  auto asking(const Asker& asker, core::FileId file, bool of_files, std::uint32_t bits, LeaseTicket& ticket,
              const Call& call);
  // A call through an open, which may be one that the server does not know; again when that has become known meanwhile.
  template <class Call>
  auto through(OpenNumber open, const Call& call);
  // A call that makes a name.
  template <class Call>
  Result<core::Attributes> making(const Asker& asker, core::FileId parent, std::string_view name, const Call& call);
  Status change_xattr(core::FileId file, std::string_view name, const std::function<Status()>& call);
  // Gives memory and leases back when there are too many.
  void stay_within_limits();
  // Before a name is taken from what it names.
  void learn_forgotten(const Asker& asker, core::FileId parent, std::string_view name);
  // After a change that may be one of rights. `names_too`: to search a directory, too.
  void forget_rights(core::FileId file, bool names_too);
  // Asks for the names of a directory, if they are few, so that others are known not to be there.
  void learn_names(const Asker& asker, core::FileId dir);
  void look_ahead(const Asker& asker, core::FileId dir);
  // Before a change that takes files from under their lease.
  void settle(const NameChange& change);
  void settle(const std::optional<HeldLease>& lease, core::FileId file);
  Status remove(const Asker& asker, const core::RemoveRequest& request, const std::function<Status()>& call);
  std::optional<StorageOpen> open_locally(const Asker& asker, const core::OpenRequest& request);
  Result<StorageOpen> open_name(const Asker& asker, const core::OpenRequest& request);

  LeaseCache cache_;
  LocalOpens opens_;
  std::shared_mutex kept_mutex_;  // guards kept_; held, shared, while it is called for a request
  KeptUnderLeases* kept_ = nullptr;
  RecallEngine engine_;
};

}  // namespace stoa::native
