// One table of opens, byte-range locks and caching leases, for all protocols. Stateids, sequence numbers and
// sessions are the front end's.
//
// Rules for every call: thread-safe; never waits for a client, and blocks at most for one durable write or one read of
// the store where it says so. Calls back with no lock held. A file that is gone, an id that was never given out or that
// has ended: nothing happens, unless an error is named. An unknown holder: kInvalid, or nothing is granted.
//
// Conflicts: core/state/conflicts.h. Protocols without opens (NFSv3, S3) read and write without regard to share-deny,
// which conflicts with other opens, and with I/O of protocols that ask (check_denied). Operations of namespace.h break
// leases for them and then answer kRecallPending.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/api/context.h"
#include "core/api/holder_events.h"
#include "core/api/holder_state.h"
#include "core/api/ids.h"
#include "core/api/leases.h"
#include "core/api/lock_request.h"
#include "core/api/opened_name.h"

namespace stoa::core {

// A holder: a client as its protocol knows it (an NFSv4 client, an NLM host, an SMB session), which has state and loses
// all of it at once. Conflicts are between holders; one holder's own opens conflict with each other only by share-deny,
// its own leases with nothing. HolderId itself is in ids.h, because OpContext carries it.

struct OpenSpec {
  FileId file;
  HolderId holder;
  std::uint32_t access;  // ShareBits; none: attributes only, which conflicts with nothing, and denies nothing (MS-FSA)
  std::uint32_t deny;    // ShareBits
  LeaseKey lease_key{};  // of the lease that does not conflict with it
  std::shared_ptr<const OpenedName> name{};  // set if it may delete; null: its name is unknown
};

// The amount of a holder's state.
struct HeldCounts {
  std::int64_t opens = 0, locks = 0, leases = 0;
};

// State held of one file or directory, and the waiters for its locks.
struct FileHoldings {
  template <class T>
  struct List {
    std::vector<T> first{};   // limited to the requested number
    std::uint64_t total = 0;  // total number
  };
  struct Opens {  // all that one holder has, together
    HolderId holder;
    std::uint32_t count, access, deny;  // ShareBits
  };
  struct Lock {
    HolderId holder;
    LockRange range;
    bool exclusive, mandatory;
  };
  struct Lease {
    HolderId holder;
    std::uint32_t bits;   // LeaseBits
    bool recalled;        // recalled, and not returned yet
    FileId of = kNoFile;  // of a files lease that covers the file: the directory
  };
  List<Opens> opens{};
  List<Lock> locks{};
  List<Lease> leases{};  // without those that were not returned in time, which conflict with nothing
  List<Lock> waits{};    // in order of arrival
};

class StateTable {
 public:
  virtual ~StateTable() = default;

  // --- holders
  // `events` receives the events of the holder's state and waits; it outlives the holder, or is muted before it goes.
  // Null: no events. An event may come before the call that caused it has returned. kNoHolder: too many (65536).
  // `peer`: the client behind it as the front end sees it (an address). The limits of one holder, and of all holders of
  // one peer together, are below those of the table, so none can exhaust it. Empty: a peer of its own.
  virtual HolderId add_holder(Protocol protocol, HolderEvents* events, std::string_view peer = {},
                              const LeaseTerms& terms = {}) = 0;
  // Once it returns, the holders of `events` get no more events; they keep their state. It waits for an event that is
  // being handled, so it must not be called by a handler nor with a lock held that one takes.
  virtual void mute(const HolderEvents& events) = 0;
  // Ends all opens, locks, waits and leases of the holder. Once it returns, the holder gets no more events. It waits
  // for a running event handler, so it must not be called within one nor with a lock held that one takes. close()s its
  // opens.
  virtual void remove_holder(HolderId holder) = 0;
  // Whether it holds anything (a client that holds nothing may be forgotten at once).
  virtual bool holds_state(HolderId holder) const = 0;
  virtual HeldCounts held_by(HolderId holder) const = 0;
  // State of all holders, for administrators: up to `most` of each kind. Nothing of a file that is gone or unknown.
  virtual FileHoldings held_of(FileId file, std::size_t most) const = 0;

  // The holder's state, without its waits and lapsed leases. A head asserts that to the next owner of the shard, whose
  // table adopts it under the same ids, before others may open and lock there. The reply of that adoption is the state
  // lost to conflicts. May read the store.
  virtual HolderState export_holder(HolderId holder) const = 0;
  virtual HolderState adopt_holder(HolderId holder, const HolderState& state) = 0;

  // --- opens. A file that is open keeps its content when its last name goes, and goes on counting, until its last
  // close, also across a restart. kShareConflict: another open denies the access, or has an access that is to be
  // denied. kRecallPending: a lease must go first (it is being recalled). kStale: no such file. kBusy: too many opens.
  // May read the store.
  virtual Result<OpenId> open(const OpenSpec& spec) = 0;
  // Other access and deny for the same open (upgrade, downgrade). Errors as open(); on error as before.
  virtual Status change_open(OpenId open, std::uint32_t access, std::uint32_t deny) = 0;
  // Merges the access and denied access of `from` into `into` and ends `from`; both are of one file and owner. Nothing
  // happens where one of them is gone.
  virtual void join_opens(OpenId into, OpenId from) = 0;
  // Whether the open (kNoOpen: none) may read or write (`access`: ShareBits) beside all other opens of the file,
  // including those of the same holder. kShareConflict: one of them denies it. One relaxed read while no open denies
  // anything.
  virtual Status check_denied(FileId file, OpenId through, std::uint32_t access) const = 0;
  // Deleting through an open (MS-FSA: DeletePending, delete on close). While it is pending, the file is opened no more
  // (kShareConflict) and gets no leases. Its last close removes the name by which this open has it, if that still is a
  // name of the file. Other names stay. The removal waits for lease recalls (of the directory); any other refusal is
  // logged. A crash forgets it. kInvalid: no such open, or by no name. kAccess: not opened for deleting.
  // kRecallPending: the handle is cached.
  virtual Status set_delete(OpenId open, DeleteWhen when) = 0;
  virtual bool delete_pending(FileId file) const = 0;
  // The last close of a file without a name deletes it: reads and queues a write, and waits for neither to be durable.
  virtual void close(OpenId open) = 0;

  // --- byte-range locks
  // Empty: granted (adjacent and overlapping ranges of the owner are merged, split, up- or downgraded: POSIX fcntl).
  // Else the first conflicting lock. kInvalid: length 0 or a range beyond 2^64-1. kBusy: too many locks.
  // kRecallPending: a lease allows its holder to lock without asking, so it must go first; of test_lock, too.
  virtual Result<std::optional<HeldLock>> lock(FileId file, const LockOwner& owner, LockRange range,
                                               bool exclusive) = 0;
  virtual Result<std::optional<HeldLock>> test_lock(FileId file, const LockOwner& owner, LockRange range,
                                                    bool exclusive) = 0;
  // kBusy: too many locks, and this would split one.
  virtual Status unlock(FileId file, const LockOwner& owner, LockRange range) = 0;
  virtual void unlock_all(FileId file, const LockOwner& owner) = 0;
  virtual bool has_locks(FileId file, const LockOwner& owner) const = 0;

  // --- mandatory byte-range locks (MS-FSA 2.1.4.10). They belong to an open and end with it; they are neither merged
  // nor split, and may be of no bytes. Content is not read or written through another open, or none, against them
  // (OpContext::open): kLocked. lock() and they conflict, too. Empty: granted. Else a conflicting lock; an exclusive
  // one also conflicts with the open's own ones. kInvalid: no such open, a range beyond 2^64-1. kBusy, kRecallPending:
  // as lock().
  virtual Result<std::optional<HeldLock>> lock_mandatory(OpenId open, LockRange range, bool exclusive) = 0;
  // One lock of exactly this range. kNotFound: the open has none.
  virtual Status unlock_mandatory(OpenId open, LockRange range) = 0;

  // --- waiting for a byte-range lock. Waiters are served first come, first served: a newcomer does not pass if its
  // range would keep an earlier waiter waiting. lock() ignores the queue and takes a free range. True: granted, as by
  // lock(). False: it waits, until it is granted (the holder gets an event), cancelled, or its holder removed;
  // conflicting leases are recalled. An owner that is queued already keeps its place and is checked anew. kDeadlock:
  // the wait would close a cycle with this owner, over any number of waiters and files; it does not wait then. kBusy:
  // it is not free, and too many wait (1024 of a holder, 4096 of a peer, 1024 for a file, 16384 in all). Others as
  // lock().
  virtual Result<bool> lock_or_wait(const LockRequest& wanted) = 0;
  // The same for clients that poll (NFSv4; RFC 8881 9.6): as lock(), but in turn with all waiters. A request of an
  // earlier waiter blocks later ones like a lock. A caller that is refused, or that must retry after a lease recall
  // (kRecallPending), is queued from then on. With the client's `handle` of the file, the holder gets one LockTurn with
  // it when its turn has come. The place is kept for kTurnAskedFor from the last retry, and for kTurnCalled from the
  // event. Without a handle it is kept for three times the last retry interval, between the two. Such waiters may have
  // given up, so deadlock detection ignores them. When too many wait, the call behaves like lock().
  static constexpr std::chrono::seconds kTurnAskedFor{45};  // clients ask every 30 s at least, the first time after 1 s
  static constexpr std::chrono::seconds kTurnCalled{3};
  virtual Result<std::optional<HeldLock>> lock_in_turn(const LockRequest& wanted,
                                                       const std::optional<HandleBytes>& handle) = 0;
  // Whether it waited; else it was granted, or is unknown.
  virtual bool cancel_wait(const LockRequest& wanted) = 0;
  // Lapsed leases, limits with room again and unused turns cause no event. A front end whose clients wait for locks or
  // delete through opens calls this from time to time.
  virtual void retry_waits() = 0;

  // --- leases, of files and directories (a change of entries is a change of the directory). An owner has one lease of
  // a file. The requested lease, or as much of it as may be had; a delegation is given as a whole. A cache lease that
  // the owner has already gets more bits. Empty: not now. Reasons: conflicting opens, locks or leases of others, a
  // delegation that the owner has already, content that is just being read or written, a recent recall, too many
  // leases. Granted: the file's state from now on stays unchanged until the recall; state read before may be old. May
  // read the store.
  virtual std::optional<GrantedLease> grant_lease(FileId file, const LeaseOwner& owner, const LeaseRequest& wanted) = 0;
  // The holder keeps `bits` of the lease and gives up the others. None: the lease ends. kInvalid: no such lease, or
  // more than a recall left to it; nothing happens then. kTimeout: it was revoked.
  virtual Status acknowledge(LeaseId lease, std::uint32_t bits) = 0;
  virtual void return_lease(LeaseId lease) = 0;
  // True when the holder did not answer a recall in time: the lease is gone, and the front end must tell its client.
  // Until it is returned or the holder removed.
  virtual bool lease_revoked(LeaseId lease) const = 0;
  // Calls `clear` once, when the pending recalls of the file are answered, from any thread, with no lock held; it must
  // not block. Unanswered leases conflict with nothing from `lapses` on, and there is no call. Empty: no recall is
  // pending, and there is no call. kBusy: too many wait (65536).
  virtual Result<std::optional<RecallWait>> when_clear(FileId file, std::function<void()> clear) = 0;
  // Not called any more, unless it is being called just now.
  virtual void stop_waiting(const RecallWait& wait) = 0;
  // A reader's access of protocols without opens, and GETATTR of others: recalls write leases. kRecallPending; else
  // nothing.
  virtual Status before_read(const OpContext& ctx, FileId file) = 0;

  // --- reclaim after a restart. `name` identifies the client across restarts (NFSv4 co_ownerid and the like).
  // Durable when it returns: after a restart this client may reclaim, and is waited for. kInvalid: empty or longer than
  // 1040 bytes; kBusy: too many clients (65536).
  virtual Status remember_client(Protocol protocol, std::string_view name) = 0;
  // As remember_client(), of a client that is about to hold a write lease: it may have data that the server does not.
  // After a restart, looks of others at what it may have cached wait (kRecallPending) until it has reported completion,
  // 30 s at most.
  virtual Status remember_writer(Protocol protocol, std::string_view name) = 0;
  // Takes back one remember_client() or remember_writer(): an incarnation that ends does not take the record of the
  // next one away.
  virtual Status forget_client(Protocol protocol, std::string_view name) = 0;
  // While true, only reclaims may open and lock. It ends when all remembered clients have reported completion, or after
  // the grace time; at once when there are none. Clients that missed it are forgotten before it ends, by one durable
  // write of the call that finds the time over.
  virtual bool in_grace() = 0;
  // Whether the client held state before the restart and grace is not over.
  virtual bool may_reclaim(Protocol protocol, std::string_view name) = 0;
  virtual void reclaim_done(Protocol protocol, std::string_view name) = 0;
  // Clients that held state when the volume was opened and may yet reclaim, by protocol; empty when grace is over.
  virtual std::vector<std::string> clients_to_reclaim(Protocol protocol) = 0;
  // The number of times the volume was opened, this time included. Durable.
  virtual std::uint32_t start_number() const = 0;
};

}  // namespace stoa::core
