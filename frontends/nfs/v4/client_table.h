// The clients and sessions of NFSv4. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <thread>

#include "base/metrics.h"
#include "base/rw_lock.h"
#include "frontends/nfs/client_status.h"
#include "frontends/nfs/v4/client.h"
#include "frontends/nfs/v4/holder_clients.h"

namespace stoa::nfs4 {

inline constexpr std::uint32_t kSlotsMax = 64;  // of a session
inline constexpr std::uint32_t kSessionsPerClientMax = 16;
inline constexpr std::size_t kSessionsMax = 4096;  // of all clients: bounds the memory of their replay caches
inline constexpr std::uint32_t kClientsMax = 10'000;
// Of the clients from one address together, so that no host exhausts the table. Opens, locks and delegations: the
// core's.
inline constexpr std::uint32_t kClientsPerPeerMax = 2'000;
inline constexpr std::uint32_t kSessionsPerPeerMax = 2'048;
inline constexpr std::uint32_t kSlotsPerPeerMax = 16'384;

class ClientTable {
 public:
  using Clock = std::chrono::steady_clock;
  // `boot` differs from start to start: ids of earlier starts are known as stale by it. Clients of minor version 0 are
  // called over `dialer`. `clock` runs the leases; null: the steady clock. `lost_all` receives, with no lock held, each
  // client that has ended or was evicted; may be null.
  using LostAll = std::function<void(const Client&)>;
  ClientTable(core::StateTable& state, rpc::Dialer& dialer, std::uint32_t boot, std::chrono::seconds lease,
              MetricRegistry& metrics, std::function<Clock::time_point()> clock = nullptr, LostAll lost_all = nullptr);
  ~ClientTable();

  // --- EXCHANGE_ID (RFC 8881 18.35.4)
  struct Exchange {
    std::string_view owner;
    std::uint64_t verifier = 0;
    bool update = false;
    Principal principal;
    PeerKey peer{};
    std::string_view address{};  // for people
  };
  struct Exchanged {
    Nfs4Status status = Nfs4Status::kOk;
    std::uint64_t client = 0;
    std::uint32_t sequence = 0;
    bool confirmed = false;
  };
  Exchanged exchange(const Exchange& wanted);

  // --- CREATE_SESSION (18.36.4). `encode` writes the reply of a new session; a retry gets the same again. A session
  // may get fewer slots than `fore` asks for. kNoSpc: there are too many sessions.
  struct NewSession {
    Nfs4Status status = Nfs4Status::kOk;
    std::vector<std::byte> reply;
  };
  using EncodeSession = std::function<std::vector<std::byte>(const Session&)>;
  NewSession create_session(std::uint64_t client, std::uint32_t sequence, const Principal& principal,
                            ChannelAttributes fore, const EncodeSession& encode);

  // --- minor version 0, client_table_minor_0.cc: SETCLIENTID (RFC 7530 16.33.5), SETCLIENTID_CONFIRM (16.34.5)
  struct SetClient {
    std::string_view id;
    std::uint64_t verifier = 0;
    Principal principal;
    PeerKey peer{};
    std::string_view address{};  // for people
    CallbackAddress callback;
  };
  struct ClientSet {
    Nfs4Status status = Nfs4Status::kOk;
    std::uint64_t client = 0;
    std::uint64_t confirm_verifier = 0;
    CallbackAddress in_use{};  // kClidInUse: address of the user
  };
  ClientSet set_client(const SetClient& wanted);
  // `peer`: only there the client is called back.
  Nfs4Status confirm_client(std::uint64_t client, std::uint64_t confirm_verifier, const Principal& principal,
                            const rpc::Peer& peer);
  struct FoundClient {
    std::shared_ptr<Client> client;
    bool ended = false;  // there was one
  };
  // A confirmed client of minor version 0.
  FoundClient find_client(std::uint64_t id) const;

  std::shared_ptr<Session> find_session(const SessionId& id) const;
  Nfs4Status destroy_session(const SessionId& id);
  Nfs4Status destroy_client(std::uint64_t client);  // kStaleClientId; kClientIdBusy while it has sessions or state

  // The client's lease begins anew; `now` by the steady clock.
  void renew(Client& client, Clock::time_point now) const {
    client.renewed_ns.store((clock_ ? clock_() : now).time_since_epoch().count(), std::memory_order_relaxed);
  }
  // Expired clients keep their state until it conflicts (courtesy). Ends those whose lease has run out and that hold
  // state of this file; or the client with a conflicting lock, if its lease has run out. True when there were any.
  bool end_expired(core::FileId file);
  bool end_expired(core::HolderId holder);

  // Durable: the next start lets this client reclaim. Called before its first state. A thread that adds state checks
  // client.remembered with client.mutex held, because clients without state are forgotten periodically.
  Status remember(Client& client);

  // --- for administrators
  std::vector<nfs::ClientStatus> list() const;  // the confirmed ones
  // Takes all opens, locks and delegations of a client away. It stays, and gets an error when it uses one of them:
  // NFS4ERR_ADMIN_REVOKED (RFC 8881 15.1.5.1, RFC 7530 13.1.5.1) and SEQ4_STATUS_ADMIN_STATE_REVOKED. Its state cannot
  // be reclaimed after a restart: blocks until that is durable. kNotFound: no such client; errors of the store, the
  // state is gone nevertheless.
  Status evict(core::HolderId holder);

  std::uint32_t boot() const { return boot_; }
  core::StateTable& state() { return state_; }
  DelegatedWrites& delegated_writes() { return *delegated_writes_; }

 private:
  using ClientRef = std::shared_ptr<Client>;
  struct SessionHash {
    std::size_t operator()(const SessionId& id) const;
  };
  struct SameSession {  // std::array compares its bytes one by one
    bool operator()(const SessionId& a, const SessionId& b) const {
      return std::memcmp(a.data(), b.data(), a.size()) == 0;
    }
  };
  // Room for one more client of this peer, for which another may have to go.
  bool has_room_locked(const PeerKey& peer, std::vector<ClientRef>& ended);
  // Evicts the least recently active of this peer's clients without state; unconfirmed ones first. After these, clients
  // with state whose lease has run out. False: there is none but `keep`.
  bool forget_one_locked(PeerShare& share, const Client* keep, std::vector<ClientRef>& ended);
  ClientRef add_locked(bool sessions, const std::string& name, std::uint64_t verifier, const Principal& principal,
                       const PeerKey& peer, std::string_view address);
  // Takes a client out of the tables; clients to end with no lock held go to `ended`.
  void remove_locked(const ClientRef& client, std::vector<ClientRef>& ended);
  void end(const std::vector<ClientRef>& ended);
  // Not confirmed within a lease: as if it had never been made (RFC 8881 18.35.4, RFC 7530 16.33.5).
  bool lapsed_locked(const Client& client) const { return !client.confirmed && expired(client); }
  void renew(Client& client) const { renew(client, Clock::now()); }
  std::chrono::nanoseconds idle(const Client& client) const;
  bool expired(const Client& client) const;
  bool end_if_expired(const std::vector<ClientRef>& candidates);
  Status forget_if_idle(Client& client);
  // Whether its name is refused to another principal: it is alive and has state.
  bool in_use(const Client& client) const;
  void confirm_locked(const ClientRef& client);
  // Minor version 0: from now on the client is called at client.callback. Looks whether it can be.
  void set_callback_locked(const ClientRef& client, const rpc::Peer& peer);
  void expire_idle(std::stop_token stop);

  core::StateTable& state_;
  rpc::Dialer& dialer_;
  const std::uint32_t boot_;
  const std::chrono::seconds lease_;
  const std::function<Clock::time_point()> clock_;
  const LostAll lost_all_;
  const std::shared_ptr<DelegatedWrites> delegated_writes_ = std::make_shared<DelegatedWrites>();
  HolderClients holders_;  // that are confirmed
  mutable RwLock lock_;    // guards everything below
  std::uint32_t next_client_ = 1;
  std::uint64_t next_session_ = 1;
  std::unordered_map<std::uint64_t, ClientRef> clients_;
  std::uint64_t next_confirm_verifier_ = 1;
  std::map<std::string, ClientRef, std::less<>> confirmed_;    // by name
  std::map<std::string, ClientRef, std::less<>> unconfirmed_;  // by name
  std::unordered_map<SessionId, std::shared_ptr<Session>, SessionHash, SameSession> sessions_;
  std::map<PeerKey, std::shared_ptr<PeerShare>> peers_;  // that have clients
  Counter& refused_;

  std::mutex reaper_mutex_;
  std::condition_variable_any reaper_wake_;
  std::jthread reaper_;
};

}  // namespace stoa::nfs4
