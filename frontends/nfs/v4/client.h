// A client (RFC 8881 2.4, RFC 7530 9.1.1), its sessions (2.10) and the state that it holds (8.2, 9).
// core/api/state.h decides on conflicts; NFSv4 adds owners, stateids and slots here.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/api/state.h"
#include "frontends/nfs/v4/back_channel.h"
#include "frontends/nfs/v4/callback_client.h"
#include "frontends/nfs/v4/compound.h"
#include "frontends/nfs/v4/delegated_writes.h"
#include "frontends/nfs/v4/recalls.h"
#include "frontends/nfs/v4/state_owner.h"

namespace stoa::nfs4 {

using SessionId = std::array<std::byte, 16>;

// The principal that made a client record (RFC 8881 2.4.3 compares principals): by Kerberos, by AUTH_SYS, or none by
// AUTH_NONE.
struct Principal {
  bool sys = false;
  std::uint32_t uid = 0;
  std::string name{};  // of Kerberos
  bool operator==(const Principal&) const = default;
  static Principal of(const rpc::Credential& credential) {
    return {credential.sys, credential.sys ? credential.uid : 0, std::string(credential.principal)};
  }
};

// The origin of a client for limits: an IPv4 address, or the /64 of an IPv6 address, which is one host's.
using PeerKey = std::array<std::uint8_t, 16>;
PeerKey peer_key(const rpc::Peer& peer);

struct Client;

// The totals of the clients of one peer.
struct PeerShare {
  std::atomic<std::int64_t> states{0};
  // Guarded by the client table's lock.
  std::unordered_map<std::uint64_t, std::shared_ptr<Client>> clients;  // by id
  std::uint32_t sessions = 0;
  std::uint32_t slots = 0;
};

// --- state
// ---------------------------------------------------------------------------------------------------------------

// In stateids; those of copies (offloads.h) are from here on, so that nothing is taken for the other.
inline constexpr std::uint32_t kCopySerials = 0x8000'0000;

enum class StateKind : std::uint8_t { kOpen, kLock, kDelegation };

struct StateRecord {
  StateKind kind;
  std::uint32_t serial;  // in the stateid
  std::uint32_t seqid = 1;
  core::FileRef file;
  std::string owner;      // of the open or of the locks
  OwnerRef sequenced_by;  // minor version 0: the owner of these requests; else null

  // kOpen
  core::OpenId open{};
  std::uint32_t access = 0, deny = 0;  // ShareBits
  std::uint32_t combinations = 0;      // of access and deny that were opened: bit access * 4 + deny
  std::uint32_t lock_states = 0;       // that began with it
  // kLock: the open that it began with
  std::shared_ptr<StateRecord> base;
  // kDelegation
  core::LeaseId lease{};
  bool writes = false;  // a write delegation
};
using StateRef = std::shared_ptr<StateRecord>;

// --- sessions
// ------------------------------------------------------------------------------------------------------------

// channel_attrs4
struct ChannelAttributes {
  std::uint32_t header_pad = 0;
  std::uint32_t request_bytes = 0;
  std::uint32_t response_bytes = 0;
  std::uint32_t cached_response_bytes = 0;
  std::uint32_t operations = 0;
  std::uint32_t requests = 0;
};

struct Slot {
  std::uint32_t sequence = 0;
  bool busy = false;
  bool cached = false;
  std::uint32_t request_sum = 0;    // a retry with other operations is a false one (RFC 8881 2.10.6.1.3.1)
  std::vector<std::byte> reply;     // COMPOUND4res
  core::PendingDurability pending;  // must be durable before the reply may leave again
};

struct Session {
  Session(const SessionId& session_id, std::shared_ptr<Client> owner, const ChannelAttributes& fore_channel)
      : id(session_id),
        client(std::move(owner)),
        fore(fore_channel),
        back(std::make_shared<SessionBackChannel>(session_id)),
        slots(fore_channel.requests) {}
  const SessionId id;
  const std::shared_ptr<Client> client;
  const ChannelAttributes fore;
  const std::shared_ptr<SessionBackChannel> back;
  std::mutex mutex;  // guards what follows
  std::vector<Slot> slots;
  std::size_t waiting = 0;  // slots whose COMPOUND waits for a recall
};

// --- clients
// -------------------------------------------------------------------------------------------------------------

struct Client {
  Client(std::uint64_t client_id, bool sessions, std::string client_name, std::uint64_t client_verifier,
         const Principal& maker, const PeerKey& from, std::string_view from_address,
         std::shared_ptr<PeerShare> peers_share, std::shared_ptr<DelegatedWrites> all_delegated_writes)
      : id(client_id),
        has_sessions(sessions),
        name(std::move(client_name)),
        verifier(client_verifier),
        principal(maker),
        peer(from),
        address(from_address),
        share(std::move(peers_share)),
        delegated_writes(std::move(all_delegated_writes)) {}
  const std::uint64_t id;
  const bool has_sessions;  // made by EXCHANGE_ID; else by SETCLIENTID
  const std::string name;   // its co_ownerid or nfs_client_id4.id, and which of the two: also across restarts
  const std::uint64_t verifier;
  const Principal principal;
  const PeerKey peer;
  const std::string address;  // for people
  const std::shared_ptr<PeerShare> share;
  const std::shared_ptr<DelegatedWrites> delegated_writes;  // of all clients

  // Guarded by the client table's lock.
  bool confirmed = false;
  std::uint32_t next_session_sequence = 1;  // csa_sequence that the next CREATE_SESSION has
  std::vector<std::byte> session_reply;     // of the last CREATE_SESSION, for its retry; empty: none
  std::vector<std::shared_ptr<Session>> sessions;
  std::uint64_t confirm_verifier = 0;  // minor version 0: setclientid_confirm
  CallbackAddress callback;
  std::shared_ptr<CallbackClient> callback_client;  // null: the address is not one that this client may be called at
  struct Update {                                   // SETCLIENTID of the confirmed client, to be confirmed
    std::uint64_t confirm_verifier = 0;
    CallbackAddress callback;
  };
  std::optional<Update> update;

  std::atomic<std::int64_t> renewed_ns{0};  // steady clock; the lease runs from here
  core::HolderId holder = core::kNoHolder;  // from confirmation on
  std::atomic<bool> reclaim_complete{false};
  // A full disk did not take the record. The client's opens are kept all the same, and its next OPEN tries again.
  std::atomic<bool> unrecorded{false};
  std::atomic<bool> remembered{false};  // the next start waits for it; changes with record_mutex held
  std::mutex record_mutex;              // comes before `mutex`; held while the store is written

  Recalls recalls;
  std::atomic<std::uint32_t> delegation_count{0};
  std::atomic<bool> has_revoked{false};  // whether `revoked` has any

  // Guards everything below. Never held while the core may block.
  std::mutex mutex;
  bool gone = false;
  std::uint32_t next_serial = 1;
  std::unordered_map<std::uint32_t, StateRef> states;
  std::map<std::pair<std::string, core::FileId>, StateRef> opens;  // by open owner
  std::map<std::pair<std::string, core::FileId>, StateRef> locks;  // by lock owner
  std::unordered_map<std::uint64_t, StateRef> delegations;         // by file id
  OwnerTable owners;                                               // minor version 0
  // By serial: state revoked by an administrator, until the client acknowledges it (FREE_STATEID). Minor version 0
  // cannot acknowledge.
  std::unordered_set<std::uint32_t> revoked;
};

}  // namespace stoa::nfs4
