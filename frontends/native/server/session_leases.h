// The leases of one session: by the numbers of its client, with the recalls that it has not answered, and those that
// the core has taken away.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/api/state.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

// Of one session, with lost ones that were not listed yet; beyond it none is granted.
inline constexpr std::size_t kLeasesPerSessionMax = 50'000;
// So long a client has to answer a recall. It believes its leases for 20 s: PROTOCOL.md, "Leases".
inline constexpr std::chrono::seconds kLeaseRecallTime{30};
// Replies do not prolong that while a recall is unanswered for so long: 30 s less 20 s, less what an event of the core
// may come late.
inline constexpr std::chrono::seconds kRecallDoubtTime{8};

// Thread-safe. Calls the core with its mutex held only where that neither blocks nor calls back.
class SessionLeases {
 public:
  using Clock = std::chrono::steady_clock;

  // --- grants: ask() begins, and granted() or refused() ends
  // False: the number is of another file or kind, or the file has a lease by another number, or there are too many.
  bool ask(U64 number, core::FileId file, core::LeaseKind kind);
  // False: the client has given the number up meanwhile; the lease is to be returned. The core may have recalled it
  // already; then `recalled` is set, and the recall is to be sent.
  bool granted(U64 number, const core::GrantedLease& lease, bool& recalled);
  // Nothing was granted. What it has already.
  std::uint32_t refused(U64 number);

  // --- recalls
  // By a handler of the core's events. False: it is none of this session's.
  bool recalled(const core::LeaseRecall& recall, Clock::time_point now);
  // Up to `most` recalls that are to be sent; they count as sent.
  std::vector<RecallNotice> take_unsent(std::size_t most);
  // All unanswered ones are to be sent again. False: there are none.
  bool send_again();
  // The client keeps `bits`, which the core has taken for its answer. None: it is forgotten.
  void kept(U64 number, std::uint32_t bits);

  // --- what was taken away
  // Header::flags of what is said to the client now. Two relaxed reads while nothing is recalled or lost.
  U32 flags(core::StateTable& state) {
    if (any_recalled_.load(std::memory_order_relaxed)) return flags_recalled(state, Clock::now());
    return any_lost_.load(std::memory_order_relaxed) ? kLeasesWereLost : 0;
  }
  // Looks which recalls have lapsed, every 100 ms at most; their leases are lost, and returned to the core.
  void find_lapsed(core::StateTable& state, Clock::time_point now);
  // Up to `most` lost numbers, which are forgotten.
  std::vector<U64> take_lost(std::size_t most);
  void forget(U64 number) { kept(number, core::kLeaseNone); }

  // Nothing: no such lease, or it is lost.
  std::optional<core::LeaseId> find(U64 number) const;

 private:
  struct Held {
    core::FileId file{};
    core::LeaseKind kind{};
    std::uint32_t asking = 0;  // grants under way
    core::LeaseId id{};
    std::uint32_t bits = core::kLeaseNone;
    bool lost = false;
    std::optional<RecallNotice> recall{};
    Clock::time_point recalled_at{};
  };
  using ByNumber = std::map<U64, Held>;

  U32 flags_recalled(core::StateTable& state, Clock::time_point now);
  void erase_locked(ByNumber::iterator held);
  void end_asking_locked();
  void note_recall_locked(U64 number, Held& held, const core::LeaseRecall& recall, Clock::time_point now);
  void lose_locked(U64 number, Held& held);
  void end_recall_locked(U64 number, Held& held);

  mutable std::mutex mutex_;  // guards what follows
  ByNumber held_;
  std::unordered_map<core::FileId, U64> of_files_;  // without lost ones
  std::unordered_map<core::LeaseId, U64> numbers_;  // without lost ones
  std::uint32_t asking_ = 0;                        // grants under way; recalls of theirs may come first
  std::unordered_map<core::LeaseId, core::LeaseRecall> early_;
  std::set<U64> recalled_;  // numbers with a recall that is not answered
  std::set<U64> unsent_;    // of these, those to be sent
  std::set<U64> lost_;
  // What replies look at, without the mutex.
  std::atomic<bool> any_recalled_{false};
  std::atomic<bool> any_lost_{false};
  std::atomic<std::int64_t> doubtful_from_ns_{0};  // kRecallDoubtTime after the oldest recall, or before
  std::atomic<std::int64_t> next_look_ns_{0};      // for lapsed ones
};

}  // namespace stoa::native
