// The open-owners and lock-owners of a client of NFSv4.0 (RFC 7530 9.1.5, 9.1.7 to 9.1.11): each numbers its requests
// itself, and the last reply is kept for its retry. Later minor versions have sessions for that.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/deadline.h"
#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

enum class OwnerKind : std::uint8_t { kOpen, kLock };

inline constexpr std::size_t kOwnerBytesMax = 1024;  // NFS4_OPAQUE_LIMIT
// In the table of all protocols a lock-owner's name has the id of its client as prefix, for LOCK4denied.
inline constexpr std::size_t kOwnerClientBytes = 8;
inline constexpr std::size_t kIdleOwnersMax = 256;  // of a client: open-owners without state, kept for their numbers

struct LastRequest {
  std::uint32_t seqid = 0;
  std::uint32_t operation = 0;
  std::uint32_t arguments_sum = 0;
  Nfs4Status status{};
  std::vector<std::byte> body;      // behind the status
  std::optional<Handle> current;    // the filehandle that it left
  core::PendingDurability pending;  // must be durable before the reply may leave again
};

// One request at a time. Thread-safe.
class Turns {
 public:
  // False: the others took too long.
  bool take(const Deadline& deadline) {
    std::unique_lock lock(mutex_);
    while (taken_) {
      if (!deadline.wait(ended_, lock) && taken_) return false;
    }
    taken_ = true;
    return true;
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      taken_ = false;
    }
    ended_.notify_one();
  }

 private:
  std::mutex mutex_;  // guards taken_
  std::condition_variable ended_;
  bool taken_ = false;
};

struct StateOwner {
  StateOwner(OwnerKind owner_kind, std::string_view owner_name) : kind(owner_kind), name(owner_name) {}
  const OwnerKind kind;
  const std::string name;

  // Guarded by the client's mutex.
  std::uint32_t users = 0;          // states, and requests that have or wait for their turn
  std::uint64_t idle_since = 0;     // in the order of the table; 0: it has users
  std::uint32_t closed_serial = 0;  // of the state that its last CLOSE ended, which a retry will name; 0: none

  // Changed with `turn` and the client's mutex held, so either will do to read it.
  bool confirmed = false;  // an open-owner: OPEN_CONFIRM has come, or was not needed (9.1.11)

  // Held by the request that has the turn, to its end; before the client's mutex, and an open-owner's before a
  // lock-owner's.
  Turns turn;
  std::optional<LastRequest> last;  // guarded by `turn`; none: any number begins
};
using OwnerRef = std::shared_ptr<StateOwner>;

// Guarded by the client's mutex.
class OwnerTable {
 public:
  OwnerRef find(OwnerKind kind, std::string_view name) const;
  // Found or made, and with one more user.
  OwnerRef use(OwnerKind kind, std::string_view name);
  void use(const OwnerRef& owner);
  // One user less. An open-owner without users is kept for a while: until kIdleOwnersMax others were used later.
  void release(const OwnerRef& owner);
  // RELEASE_LOCKOWNER. A request that uses it goes on with it alone.
  void forget(const OwnerRef& owner);

  // CLOSE has ended this state of the owner: a retry still finds the owner by it, until the owner's next request.
  void set_closed(const OwnerRef& owner, std::uint32_t serial);
  void clear_closed(const OwnerRef& owner);
  OwnerRef of_closed(std::uint32_t serial) const;

  void clear();
  std::size_t size() const { return owners_.size(); }

 private:
  std::map<std::pair<OwnerKind, std::string>, OwnerRef> owners_;
  std::map<std::uint64_t, OwnerRef> idle_;  // by idle_since
  std::unordered_map<std::uint32_t, OwnerRef> closed_;
  std::uint64_t next_idle_ = 1;
};

}  // namespace stoa::nfs4
