// The clients by their holders in the table of opens, locks and leases; receives their events: recalls of delegations,
// and turns of byte-range locks. Its lock is its own, because events come from threads that have a client's mutex, too.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/api/holder_events.h"

namespace stoa::nfs4 {

struct Client;

// Thread-safe.
class HolderClients final : public core::HolderEvents {
 public:
  void add(core::HolderId holder, const std::shared_ptr<Client>& client);
  void remove(core::HolderId holder);
  std::shared_ptr<Client> find(core::HolderId holder) const;  // null: no confirmed client

  void lease_recalled(const core::LeaseRecall& event) override;
  void lock_turn(const core::LockTurn& event) override;

 private:
  mutable std::mutex mutex_;  // guards clients_
  std::unordered_map<core::HolderId, std::shared_ptr<Client>> clients_;
};

}  // namespace stoa::nfs4
