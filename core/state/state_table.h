// The table of opens, byte-range locks and leases of one volume, in the memory of the server: the implementation of
// core/api/state.h, and of the gate that every change passes. Its parts are in the files beside this one.
//
// Sharded by file, and ids carry their shard: all state that an operation needs is under one mutex, held for a few
// hundred nanoseconds. Waiters for locks are under one mutex of their own. Lock order: the waits, a shard, then the
// list of recalls or the holders. FileWatch, holders and waiting requests are called with none of them held.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "base/metrics.h"
#include "core/state/covered_leases.h"
#include "core/state/file_watch.h"
#include "core/state/holders.h"
#include "core/state/lease_gate.h"
#include "core/state/leases.h"
#include "core/state/lock_waits.h"
#include "core/state/mandatory_ranges.h"
#include "core/state/reclaim.h"
#include "core/state/share_table.h"

namespace stoa::core {

inline std::unexpected<Error> recall_pending(FileId file) {
  return fail(Error{.code = Errc::kRecallPending, .subject = static_cast<std::uint64_t>(file)});
}

struct StateLimits {
  std::int64_t opens, locks, leases;
};

struct StateOptions {
  std::int64_t opens_max = 1'000'000;
  std::int64_t locks_max = 1'000'000;
  std::int64_t leases_max = 250'000;
  // Opens: above the limits of NFSv4 (frontends/nfs/v4/stateid_limits.h), which knows that a second OPEN of a file adds
  // to the first one.
  StateLimits of_peer{.opens = 510'000, .locks = 250'000, .leases = 60'000};
  StateLimits of_holder{.opens = 210'000, .locks = 100'000, .leases = 50'000};
  StateClock::duration lease_recall_timeout = std::chrono::seconds(90);
  StateClock::duration grace = std::chrono::seconds(90);
  std::function<StateClock::time_point()> now = StateClock::now;
};

class VolumeState final : public StateTable, public LeaseGate {
 public:
  static constexpr std::int64_t kRecallWaitsMax = 65536;

  VolumeState(StateOptions options, FileWatch& files, KvStore& kv, Committer& committer, MetricRegistry& metrics);

  // Waits, with no lock held, until the pending recalls of the file are answered or have lapsed; at most until then.
  // kBusy: too many wait.
  Status wait_until_clear(FileId file, StateClock::time_point until);

  // Files that somebody may have written to without telling yet. In any order, some more than once.
  std::vector<FileId> files_with_cached_writes() const;

  // At start: loads the clients that may reclaim.
  Status load();

  HolderId add_holder(Protocol protocol, HolderEvents* events, std::string_view peer = {},
                      const LeaseTerms& terms = {}) override;
  void mute(const HolderEvents& events) override { holders_.mute(events); }
  void remove_holder(HolderId holder) override;
  bool holds_state(HolderId holder) const override { return holders_.held(holder) != 0; }
  HeldCounts held_by(HolderId holder) const override;
  FileHoldings held_of(FileId file, std::size_t most) const override;
  HolderState export_holder(HolderId holder) const override;
  HolderState adopt_holder(HolderId holder, const HolderState& state) override;

  Result<OpenId> open(const OpenSpec& spec) override;
  // For a file that is being made and that no other request can meet yet. With its directory locked.
  Result<OpenId> open_unmade(const OpenSpec& spec);
  Status change_open(OpenId open, std::uint32_t access, std::uint32_t deny) override;
  void join_opens(OpenId into, OpenId from) override;
  Status set_delete(OpenId open, DeleteWhen when) override;
  bool delete_pending(FileId file) const override;
  Status check_denied(FileId file, OpenId through, std::uint32_t access) const override;
  void close(OpenId open) override;

  Result<std::optional<HeldLock>> lock(FileId file, const LockOwner& owner, LockRange range, bool exclusive) override;
  Result<std::optional<HeldLock>> test_lock(FileId file, const LockOwner& owner, LockRange range,
                                            bool exclusive) override;
  Status unlock(FileId file, const LockOwner& owner, LockRange range) override;
  void unlock_all(FileId file, const LockOwner& owner) override;
  bool has_locks(FileId file, const LockOwner& owner) const override;

  Result<std::optional<HeldLock>> lock_mandatory(OpenId open, LockRange range, bool exclusive) override;
  Status unlock_mandatory(OpenId open, LockRange range) override;

  Result<bool> lock_or_wait(const LockRequest& wanted) override;
  Result<std::optional<HeldLock>> lock_in_turn(const LockRequest& wanted,
                                               const std::optional<HandleBytes>& handle) override;
  bool cancel_wait(const LockRequest& wanted) override;
  void retry_waits() override;

  std::optional<GrantedLease> grant_lease(FileId file, const LeaseOwner& owner, const LeaseRequest& wanted) override;
  Status acknowledge(LeaseId lease, std::uint32_t bits) override;
  void return_lease(LeaseId lease) override { (void)acknowledge(lease, kLeaseNone); }
  bool lease_revoked(LeaseId lease) const override;
  Result<std::optional<RecallWait>> when_clear(FileId file, std::function<void()> clear) override;
  void stop_waiting(const RecallWait& wait) override;
  Status before_read(const OpContext& ctx, FileId file) override;

  Status remember_client(Protocol protocol, std::string_view name) override {
    return reclaim_.remember(protocol, name, false);
  }
  Status remember_writer(Protocol protocol, std::string_view name) override {
    return reclaim_.remember(protocol, name, true);
  }
  Status forget_client(Protocol protocol, std::string_view name) override;
  bool in_grace() override { return reclaim_.in_grace(); }
  bool may_reclaim(Protocol protocol, std::string_view name) override { return reclaim_.may_reclaim(protocol, name); }
  void reclaim_done(Protocol protocol, std::string_view name) override;
  std::vector<std::string> clients_to_reclaim(Protocol protocol) override { return reclaim_.names_before(protocol); }
  std::uint32_t start_number() const override { return reclaim_.start_number(); }

  bool keeps(FileId file) override;
  bool is_open(FileId file) const override;

 protected:
  Status break_leases(const OpContext& ctx, std::span<const Touched> files, Access access) override;
  void follow_name(FileId file, FileId directory) override;
  Status check_mandatory(const OpContext& ctx, FileId file, std::uint64_t offset, std::uint64_t length,
                         bool write) override;
  void call_holders() override;

 private:
  struct FileState {
    ShareTable shares;
    LockRanges locks;
    MandatoryRanges mandatory;
    Leases leases;
    struct Waiting {
      std::uint64_t number;
      std::function<void()> clear;
    };
    std::vector<Waiting> recall_waits;         // requests parked until its recalls are answered; there is a lease then
    std::shared_ptr<const OpenedName> doomed;  // goes with the last close; delete pending
    bool orphan = false;                       // its last close must be reported
    bool waited_for = false;                   // for a lock: returning a lock or a lease serves the waiters
    bool empty() const {
      return shares.empty() && locks.empty() && leases.empty() && !doomed && !waited_for;
    }  // mandatory locks have opens
  };
  struct Open {
    FileId file;
    LeaseOwner owner;
    Modes modes;
    std::shared_ptr<const OpenedName> name{};
    bool delete_on_close = false;
  };
  struct Holdings {  // of one holder in one shard
    std::unordered_set<OpenId> opens;
    std::unordered_set<FileId> locked;
    std::unordered_set<LeaseId> leases;
    bool empty() const { return opens.empty() && locked.empty() && leases.empty(); }
  };
  static constexpr unsigned kShardBits = 6;
  static constexpr std::size_t kShards = std::size_t{1} << kShardBits;
  static constexpr std::size_t kPauses = 128;
  static constexpr std::uint64_t kWriterWaits = std::uint64_t{1} << 63;  // of the number of a wait: not for a recall
  // Ids are never reused, not even those of an earlier owner of the shard: each start counts from a place of its own.
  static constexpr unsigned kSerialBits = 48 - kShardBits;
  static constexpr unsigned kSerialsOfAStart = 30;
  // The file recalled last, for each slot of ids: another file in the slot replaces it, which does no harm.
  struct Pause {
    FileId file = kNoFile;
    std::array<std::optional<StateClock::time_point>, 3> since{};  // by RecallReason
  };
  struct Shard {
    mutable std::mutex mutex;  // guards all that follows
    std::unordered_map<FileId, FileState> files;
    std::unordered_map<OpenId, Open> opens;
    std::unordered_map<LeaseId, FileId> leases;
    std::unordered_map<HolderId, Holdings> holdings;
    std::array<Pause, kPauses> pauses{};
    std::uint64_t next_id = 1;
  };

  static std::uint64_t mixed(FileId file) { return static_cast<std::uint64_t>(file) * 0x9E3779B97F4A7C15ULL; }
  static std::size_t shard_number(FileId file) { return mixed(file) >> (64 - kShardBits); }
  Shard& shard_of(FileId file) { return shards_[shard_number(file)]; }
  const Shard& shard_of(FileId file) const { return shards_[shard_number(file)]; }
  Shard& shard_of(OpenId open) { return shards_[static_cast<std::uint64_t>(open) % kShards]; }
  Shard& shard_of(LeaseId lease) { return shards_[static_cast<std::uint64_t>(lease) % kShards]; }
  const Shard& shard_of(LeaseId lease) const { return shards_[static_cast<std::uint64_t>(lease) % kShards]; }
  // The shard of the volume (ids.h), a serial, the shard here.
  std::uint64_t new_id(Shard& shard, FileId file) {
    const std::uint64_t serial = shard.next_id++ & ((std::uint64_t{1} << kSerialBits) - 1);
    return static_cast<std::uint64_t>(core::shard_of(file)) << 48 | serial << kShardBits |
           static_cast<std::uint64_t>(&shard - shards_.data());
  }
  static Pause& pause_of(Shard& shard, FileId file) { return shard.pauses[mixed(file) >> 32 & (kPauses - 1)]; }

  // All of these with the shard's mutex held.
  static RecallReason recall_for(Modes asked);
  // The bits that the holder does not get yet, because they were recalled lately.
  std::uint32_t paused_bits(Shard& shard, FileId id, HolderId holder, LeaseKind kind, StateClock::time_point now) const;
  static void pause(Shard& shard, FileId id, RecallReason why, StateClock::time_point now);
  // Whether leases have to go or lose bits that have not lapsed; they are then to be recalled, because of `subject`.
  // `left(lease)`: the bits that do not conflict.
  bool recall_leases(Shard& shard, FileId id, FileState& file, RecallReason why, FileId subject,
                     const std::function<std::uint32_t(const Lease&)>& left);
  // kRecallPending: leases of other owners conflict with `asked`.
  Status ask_leases(Shard& shard, FileId id, FileState& file, const LeaseOwner& owner, Modes asked);
  // Handle caching of holders whose opens conflict with `asked`.
  bool handle_caching_in_the_way(Shard& shard, FileId id, FileState& file, const LeaseOwner& owner, Modes asked);
  Status may_open(Shard& shard, FileId id, FileState& file, const LeaseOwner& owner, Modes asked, Modes others);
  // The modes that others hold of the file, as far as they matter to a lease of this kind.
  static Modes held_by_others(const FileState& file, const LeaseOwner& owner, LeaseKind kind,
                              StateClock::time_point now);
  // The same for a files lease of the directory `id`: of it and of its files.
  Modes held_of_files(FileId id, const FileState* file, const LeaseOwner& owner, StateClock::time_point now) const;

  // Files leases: state_files_leases.cc. With no shard's mutex held.
  // kRecallPending: files leases of the directory that others than the holder have conflict with `asked` of `subject`.
  Status ask_files_leases(FileId directory, FileId subject, HolderId holder, Modes asked);
  // The same for a file by its id alone; it costs one relaxed read when there are none.
  Status ask_files_leases(FileId subject, HolderId holder, Modes asked);
  // The same for the file and holder of an open. kInvalid: there is none.
  Status ask_files_leases(OpenId open, Modes asked);
  // What files leases of others in the way of a lease of the file have; the lease is pinned in covered_ till unpin().
  Modes files_leases_beside(FileId id, const LeaseOwner& owner, const FileWatch::Place& place);
  // Tells grants of files leases of an open that denies something before it is in the table: it first asks the files
  // leases that there are.
  class DenyAnnounced {
   public:
    DenyAnnounced(VolumeState& state, Modes open) : state_(state), open_(open) { state_.count_denying(open_, +1); }
    ~DenyAnnounced() { state_.count_denying(open_, -1); }
    DenyAnnounced(const DenyAnnounced&) = delete;
    DenyAnnounced& operator=(const DenyAnnounced&) = delete;

   private:
    VolumeState& state_;
    const Modes open_;
  };
  // The same of a files lease before it is compared with what others hold: who comes later meets it.
  class FilesLeaseAnnounced {
   public:
    explicit FilesLeaseAnnounced(VolumeState& state) : state_(state) { state_.files_leases_.fetch_add(1); }
    ~FilesLeaseAnnounced() { state_.files_leases_.fetch_sub(1); }
    FilesLeaseAnnounced(const FilesLeaseAnnounced&) = delete;
    FilesLeaseAnnounced& operator=(const FilesLeaseAnnounced&) = delete;

   private:
    VolumeState& state_;
  };
  Status check_fence(const OpContext& ctx) const;
  bool writes_by_itself(const OpContext& ctx, const Touched& touched) const;
  // After a restart: whether it is (still) waited for writers.
  bool awaits_writers();
  // As when_clear().
  Result<std::optional<RecallWait>> when_writers_are_back(FileId id, std::function<void()> clear);
  void writers_are_back();
  // grant_lease() but for seals.
  std::optional<GrantedLease> grant_wished(FileId id, const LeaseOwner& owner, LeaseRequest wanted);
  std::optional<GrantedLease> grant_beside(FileId id, const LeaseOwner& owner, const LeaseRequest& wanted,
                                           Modes around);
  std::optional<GrantedLease> add_bits(Shard& shard, FileId id, FileState& file, Lease& lease,
                                       const LeaseRequest& wanted, Modes around);
  void count_bits(std::uint32_t bits, std::int64_t more);
  // Calls the waiting requests when no recall of the file is pending any more.
  void wake_if_clear(FileState& file);
  void add_open(Shard& shard, OpenId id, const Open& open);
  void add_lease(Shard& shard, FileId id, Lease lease);
  void count_denying(Modes open, std::int64_t more);
  struct Ended {
    bool orphan = false;  // the file's last close must be reported
    bool doomed = false;  // its name is to be deleted
  };
  Ended end_open(Shard& shard, OpenId open);
  void forget_lease(Shard& shard, const Lease& gone);  // that was taken out
  void end_lease(Shard& shard, LeaseId lease);
  void end_mandatory(HolderId holder, std::size_t count);
  void end_locks(Shard& shard, FileId id, FileState& file, HolderId holder, std::size_t count);
  void forget_if_empty(Shard& shard, FileId id);
  void forget_if_empty(Shard& shard, HolderId holder);
  Result<std::optional<HeldLock>> lock_in_the_way(Shard& shard, FileId id, FileState& file, const LockOwner& owner,
                                                  const ByteSpan& span, bool exclusive);
  static bool kept_by_locks(const FileState& file, const LockRequest& wanted, const ByteSpan& span);
  // Empty: granted.
  Result<std::optional<HeldLock>> take_lock(Shard& shard, FileId id, FileState& file, const LockOwner& owner,
                                            const ByteSpan& span, bool exclusive);
  // With no lock held.
  void finish_close(FileId file, const Ended& ended);
  void delete_doomed(FileId file);
  // With no lock held. Fails, and the open ends, when the file is gone.
  Status look_at_opened(OpenId open, FileId id);
  bool adopt(HolderId holder, const HolderState::Open& open);
  bool adopt(HolderId holder, const HolderState::Lease& lease);
  bool adopt_beside(const LeaseOwner& owner, const HolderState::Lease& lease, Modes around);
  // Counts `more` of them, of the holder, of its peer and of all. kBusy: there is none left; nothing was counted.
  Status take_opens(HolderId holder, std::int64_t more);
  Status take_locks(HolderId holder, std::int64_t more);
  Status take_leases(HolderId holder, std::int64_t more);

  // Events for holders, to be sent once no lock is held.
  struct News {
    std::vector<LockRequest> granted;
    std::vector<LockTurn> turns;
  };
  // With no lock held: takes the range if it is free and has no waiters. False: the request must go through the queue.
  bool take_unwaited(const LockRequest& wanted, const ByteSpan& span);
  // With waits_mutex_ held, and no shard's.
  LockWait* add_wait(const LockRequest& wanted, const ByteSpan& span);  // null: there are too many
  std::vector<LockOwner> owners_in_the_way(const LockWait& wait) const;
  // Grants freed locks to waiters, and drops expired places.
  void serve_waits(FileId id, News& news);
  // Without a place in the queue: as lock(), past all waiters.
  Result<std::optional<HeldLock>> take_without_place(const LockRequest& wanted, const ByteSpan& span, News& news);
  Result<std::optional<HeldLock>> take_in_turn(LockWait& wait);
  // With no lock held: the same, and tells the holders.
  void serve_waits(FileId id);
  // A request that was granted by the way waits no more.
  void end_wait(const LockRequest& wanted);
  void tell(const News& news);

  const StateOptions options_;
  FileWatch& files_;
  Reclaim reclaim_;
  Holders holders_;
  std::array<Shard, kShards> shards_;
  alignas(64) std::atomic<std::int64_t> opens_{0};
  std::atomic<std::int64_t> locks_{0};
  std::atomic<std::int64_t> denying_opens_{0};

  mutable std::mutex waits_mutex_;  // guards waits_, and all `waited_for` together with the shard's mutex
  LockWaits waits_;

  std::mutex recalls_mutex_;  // guards the recalls to be sent
  std::vector<LeaseRecall> due_;
  std::vector<std::function<void()>> due_clear_;
  std::atomic<std::int64_t> recall_waits_{0};
  std::vector<FileState::Waiting> writer_waits_;  // until the writers of before the restart are back
  std::uint64_t next_writer_wait_ = 1;

  CoveredLeases covered_;

  std::mutex undeleted_mutex_;              // guards the next
  std::unordered_set<FileId> undeleted_{};  // doomed, and a lease conflicts

  Counter& recalls_;
  Counter& revocations_;
};

}  // namespace stoa::core
