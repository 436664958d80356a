// Stateids: their state, and their validity (RFC 8881 8.2, RFC 7530 9.1.4).
#pragma once

#include <variant>

#include "frontends/nfs/v4/client.h"

namespace stoa::nfs4 {

// The bytes of a stateid on the wire: boot, client and serial, so that one of an earlier run is recognised.
Stateid stateid_of(const Client& client, const StateRecord& state);

// The state behind a stateid of the compound's client (client->mutex held): kBadStateId, kOldStateId, kAdminRevoked.
struct FoundState {
  Nfs4Status status = Nfs4Status::kOk;
  StateRef state;
};
FoundState find_state(const Client& client, const Stateid& stateid);
// Whether an administrator has taken it away; and the client's word that it knows.
bool is_revoked(const Client& client, const Stateid& stateid);
bool forget_revoked(Client& client, const Stateid& stateid);

// Replaces the special stateid for the current one (16.2.3.1.2). kBadStateId: there is none.
Nfs4Status resolve_current(const Compound& c, Stateid& stateid);

// The client named in it.
std::uint64_t client_of(const Stateid& stateid);
// The owner that numbers the requests on this state (minor version 0), for any seqid; also of an open that its last
// CLOSE has ended. Null: none (client.mutex held).
OwnerRef owner_of(const Client& client, const Stateid& stateid);

// Stateids without state, with any seqid (RFC 7530 9.1.4.3).
bool is_special(const Stateid& stateid);
bool is_anonymous(const Stateid& stateid);  // all zeros
bool is_bypass(const Stateid& stateid);     // all ones

// --- changes of a client's state; client.mutex held
// Whether the compound's client, and all clients of its peer together, may have one more. The status when not:
// kResource exists in minor version 0 alone.
bool has_room_for_state(const Compound& c);
Nfs4Status no_room_for_state(const Compound& c);
// `sequenced_by`: in minor version 0 the owner that numbers the requests.
StateRef add_state(Client& client, StateKind kind, const core::FileRef& file, std::string owner, OwnerRef sequenced_by);
void forget_state(Client& client, const StateRef& state);
// False for an open that waits for OPEN_CONFIRM, and is good for nothing else until then.
bool is_confirmed(const StateRecord& open);
// Gives up all that the owner of these locks has locked in the file, and the state; op_lock.cc.
void release_locks(core::StateTable& table, Client& client, const StateRef& locks);
bool holds_locks(const core::StateTable& table, const Client& client, const StateRecord& locks);

}  // namespace stoa::nfs4
