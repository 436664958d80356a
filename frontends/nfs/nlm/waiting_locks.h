// Locks that clients wait for: from BLOCKED to the acknowledged GRANTED call. Thread-safe.
//
// The table gives a lock out before the client knows. It is the client's for good when it answers GRANTED, or asks for
// it again. It is given back when the client declines it, or is silent for kPatience.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/metrics.h"
#include "frontends/nfs/nlm/hosts.h"
#include "frontends/nfs/nlm/messages.h"
#include "frontends/nfs/rpc/remote_caller.h"

namespace stoa::nlm {

inline constexpr std::uint32_t kNlmProgram = 100021;
inline constexpr std::uint32_t kNlmVersion = 4;

class WaitingLocks final : public core::HolderEvents {
 public:
  static constexpr std::chrono::seconds kPatience{120};
  static constexpr std::size_t kLocksMax = 16384;
  static constexpr std::size_t kPerAddress = 4096;

  WaitingLocks(core::StateTable& state, rpc::RemoteCaller& caller, MetricRegistry& metrics);

  // Requests a lock that may wait. `lock`: as the client sent it, for the GRANTED call. Without a place in the queue,
  // the client must retry.
  NlmStatus ask(const HostRef& host, const core::LockRequest& wanted, const LockArguments& lock);
  // Requests a lock without waiting, or releases one: as the table. The client then knows its locks.
  Result<std::optional<core::HeldLock>> lock(const core::LockRequest& wanted);
  Status unlock(const core::LockRequest& known);
  // Whether it waited, or had it and did not know; it has it no more.
  bool cancel(const core::LockRequest& wanted);
  void drop(const HostRef& host);  // with its holder gone

  void lock_granted(const core::LockGranted& event) override;
  // The client's answer: of the GRANTED call, or in a GRANTED_RES with the cookie of ours.
  void answered(const Address& from, std::uint64_t cookie, NlmStatus status);

  // Repeats unanswered calls, gives back unclaimed locks.
  void call_due(Clock::time_point now);
  bool any() const;

 private:
  struct Key {
    core::HolderId holder;
    core::FileId file;
    std::string owner;
    std::uint64_t offset, length;
    bool exclusive;
    auto operator<=>(const Key&) const = default;
  };
  struct Waiting {
    HostRef host;
    core::LockRequest wanted;
    std::uint64_t cookie;
    std::vector<std::byte> call;  // GRANTED's arguments
    bool granted = false;
    // From here on when it is granted:
    Clock::time_point since{};
    Clock::time_point due{};
    std::chrono::seconds pause{1};
  };
  // Calls of one owner for one file are serial: a declined lock must not remove one that is granted anew meanwhile.
  // Held over calls of the table.
  class Turn;
  using OwnerOfFile = std::tuple<core::HolderId, core::FileId, std::string>;

  static Key key_of(const core::LockRequest& lock);
  // With the owner's turn: for a request without a place in the queue.
  NlmStatus take(const core::LockRequest& wanted);
  // The client knows its state: it got the lock by another way, or gives one back that overlaps.
  void finish(const core::LockRequest& known);
  // Releases a granted lock, unless its owner has requested it meanwhile.
  void refuse(std::uint64_t cookie, const core::LockRequest& lock);
  // With mutex_ held.
  bool has_place(const Address& address) const;
  void call(Waiting& waiting, Clock::time_point now);
  std::map<Key, Waiting>::iterator erase(std::map<Key, Waiting>::iterator at);
  void give_back(const core::LockRequest& lock);  // with the owner's turn

  core::StateTable& state_;
  rpc::RemoteCaller& caller_;
  Counter& calls_;
  Counter& given_back_;

  mutable std::mutex mutex_;  // guards the members below
  std::map<Key, Waiting> waiting_;
  std::map<std::uint64_t, Key> by_cookie_;
  std::map<Address, std::size_t> by_address_;
  std::uint64_t next_cookie_;
  std::set<OwnerOfFile> turns_;
  std::condition_variable turn_ended_;
};

}  // namespace stoa::nlm
