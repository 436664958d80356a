// The turns of owners in minor version 0: an operation with a seqid takes the turn of its owner. The loop over the
// operations ends it with the result (RFC 7530 9.1.7, 9.1.8). In later minor versions nothing here does anything.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/nfs/v4/client.h"

namespace stoa::nfs4 {

class OwnerTurn {
 public:
  OwnerTurn(std::shared_ptr<Client> client, std::uint32_t operation, std::uint32_t arguments_sum)
      : client_(std::move(client)), operation_(operation), arguments_sum_(arguments_sum) {}
  ~OwnerTurn();
  OwnerTurn(const OwnerTurn&) = delete;
  OwnerTurn& operator=(const OwnerTurn&) = delete;

  // `owner` has this one as a user already. Waits for requests of the same owner to end; false: they took too long.
  bool wait_for(OwnerRef owner, std::uint32_t seqid, const Deadline& deadline);
  const OwnerRef& owner() const { return held_.front().owner; }
  const OwnerRef& last_owner() const { return held_.back().owner; }
  bool is_retry() const;  // of the last request of owner()
  bool is_next() const;   // by its number, of the owner that was waited for last
  // The number counts, if this result lets it (9.1.7), and a retry will be answered with `body`.
  void finish(const Compound& c, Nfs4Status status, std::span<const std::byte> body);

 private:
  struct Held {
    OwnerRef owner;
    std::uint32_t seqid;
    bool taken;
  };
  const std::shared_ptr<Client> client_;
  const std::uint32_t operation_;
  const std::uint32_t arguments_sum_;
  std::vector<Held> held_;  // the second: the new lock-owner of a LOCK
};

// These return the status to answer at once: a retry's result, or an error. Empty: go on, it is this request's turn.
// They set c.client, and are called when the arguments were read, before anything that may fail with an error that
// counts.
using Answer = std::optional<Nfs4Status>;
// OPEN.
Answer take_turn(Compound& c, std::uint64_t client, std::string_view open_owner, std::uint32_t seqid);
// The others: the owner of this state.
Answer take_turn(Compound& c, const Stateid& stateid, std::uint32_t seqid);
// LOCK with a lock-owner that is new to the file, behind the turn of the open-owner.
Answer take_turn_of_lock_owner(Compound& c, std::string_view lock_owner, std::uint32_t seqid);

// The owner that has the turn, and the lock-owner of a LOCK. Null in later minor versions.
OwnerRef owner_in_turn(const Compound& c);
OwnerRef lock_owner_in_turn(const Compound& c);

}  // namespace stoa::nfs4
