#include "frontends/nfs/v4/client_table.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/log.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

// Limit of revoked stateids of a client that are distinguished from invalid ones.
constexpr std::size_t kRevokedMax = 200'000;
constexpr std::chrono::hours kCourtesy{24};  // how long an expired client may keep state that conflicts with nothing
constexpr std::chrono::seconds kReaperPeriod{15};
constexpr std::chrono::seconds kTurnPeriod{1};  // others wait for a lock that a turn keeps free
constexpr std::size_t kNamePrefixBytes = 5;     // "v4.0 ", "v4.1 ": the two have names of their own

}  // namespace

PeerKey peer_key(const rpc::Peer& peer) {
  PeerKey key = peer.address;
  const bool is_v4 = std::ranges::all_of(std::span(key).first(10), [](std::uint8_t byte) { return byte == 0; }) &&
                     key[10] == 0xff && key[11] == 0xff;
  if (!is_v4) std::ranges::fill(std::span(key).last(8), 0);
  return key;
}

std::size_t ClientTable::SessionHash::operator()(const SessionId& id) const {
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, id.data(), sizeof low);
  std::memcpy(&high, id.data() + 8, sizeof high);
  return low * 0x9E3779B97F4A7C15ULL ^ high;
}

ClientTable::ClientTable(core::StateTable& state, rpc::Dialer& dialer, std::uint32_t boot, std::chrono::seconds lease,
                         MetricRegistry& metrics, std::function<Clock::time_point()> clock, LostAll lost_all)
    : state_(state),
      dialer_(dialer),
      boot_(boot),
      lease_(lease),
      clock_(std::move(clock)),
      lost_all_(std::move(lost_all)),
      refused_(metrics.counter("stoa_nfs4_refused_for_room_total",
                               "NFSv4 clients and sessions refused because there were too many")) {
  metrics.gauge_callback("stoa_nfs4_clients", "NFSv4 clients", {}, [this] {
    const std::shared_lock lock(lock_);
    return static_cast<double>(clients_.size());
  });
  metrics.gauge_callback("stoa_nfs4_sessions", "NFSv4.1 sessions", {}, [this] {
    const std::shared_lock lock(lock_);
    return static_cast<double>(sessions_.size());
  });
  reaper_ = std::jthread([this](const std::stop_token& stop) { expire_idle(stop); });
}

ClientTable::~ClientTable() {
  reaper_.request_stop();
  if (reaper_.joinable()) reaper_.join();
  // Clients come back and reclaim at the next start: nothing of theirs is closed, which would delete files that live
  // only because they are open. Clients and sessions only release references to each other.
  state_.mute(holders_);
  const std::lock_guard lock(lock_);
  for (const auto& [id, client] : clients_) {
    client->sessions.clear();
    client->share->clients.clear();
  }
}

std::chrono::nanoseconds ClientTable::idle(const Client& client) const {
  const std::chrono::nanoseconds now = (clock_ ? clock_() : Clock::now()).time_since_epoch();
  return now - std::chrono::nanoseconds(client.renewed_ns.load(std::memory_order_relaxed));
}

bool ClientTable::expired(const Client& client) const {
  return idle(client) > lease_;
}
bool ClientTable::in_use(const Client& client) const {
  return !expired(client) && (state_.holds_state(client.holder) || !client.sessions.empty());
}

// --- clients
// -------------------------------------------------------------------------------------------------------------

ClientTable::Exchanged ClientTable::exchange(const Exchange& wanted) {
  std::vector<ClientRef> ended;
  Exchanged result;
  {
    const std::lock_guard lock(lock_);
    const std::string name = std::string("v4.1 ").append(wanted.owner);
    const auto found = confirmed_.find(name);
    const ClientRef known = found != confirmed_.end() ? found->second : nullptr;
    if (wanted.update) {
      // Cases 6 to 9 of 18.35.4: the record must be there, of the same incarnation and principal.
      if (known == nullptr) return {.status = Nfs4Status::kNoEnt};
      if (known->verifier != wanted.verifier) return {.status = Nfs4Status::kNotSame};
      if (known->principal != wanted.principal) return {.status = Nfs4Status::kPerm};
      return {.client = known->id, .sequence = known->next_session_sequence, .confirmed = true};
    }
    if (known != nullptr && known->principal != wanted.principal) {
      // Case 3: another principal has it, unless its client is silent or without state.
      if (in_use(*known)) return {.status = Nfs4Status::kClidInUse};
      remove_locked(known, ended);
    } else if (known != nullptr && known->verifier == wanted.verifier) {
      // Case 2: the same incarnation asks again.
      renew(*known);
      return {.client = known->id, .sequence = known->next_session_sequence, .confirmed = true};
    }
    // Cases 1, 4 and 5: a new record; a confirmed one of an earlier incarnation stays until the new one is confirmed.
    if (const auto pending = unconfirmed_.find(name); pending != unconfirmed_.end()) {
      remove_locked(ClientRef(pending->second), ended);
    }
    if (!has_room_locked(wanted.peer, ended)) {
      result.status = Nfs4Status::kDelay;
    } else {
      const ClientRef client = add_locked(true, name, wanted.verifier, wanted.principal, wanted.peer, wanted.address);
      result = {.client = client->id, .sequence = client->next_session_sequence};
    }
  }
  end(ended);
  return result;
}

ClientTable::NewSession ClientTable::create_session(std::uint64_t id, std::uint32_t sequence,
                                                    const Principal& principal, ChannelAttributes fore,
                                                    const EncodeSession& encode) {
  std::vector<ClientRef> ended;
  NewSession result;
  {
    const std::lock_guard lock(lock_);
    const auto found = clients_.find(id);
    if (found == clients_.end() || !found->second->has_sessions || lapsed_locked(*found->second)) {
      return {Nfs4Status::kStaleClientId, {}};
    }
    const ClientRef client = found->second;
    if (sequence + 1 == client->next_session_sequence && !client->session_reply.empty()) {
      return {Nfs4Status::kOk, client->session_reply};
    }
    if (sequence != client->next_session_sequence) return {Nfs4Status::kSeqMisordered, {}};
    if (!client->confirmed) {
      if (client->principal != principal) return {Nfs4Status::kClidInUse, {}};
      // The earlier incarnation ends, and all that it held.
      if (const auto old = confirmed_.find(client->name); old != confirmed_.end()) {
        remove_locked(ClientRef(old->second), ended);
      }
      confirm_locked(client);
    }
    PeerShare& share = *client->share;
    const auto full = [&] { return share.sessions >= kSessionsPerPeerMax || share.slots >= kSlotsPerPeerMax; };
    while (full() && forget_one_locked(share, client.get(), ended)) {
    }
    if (client->sessions.size() >= kSessionsPerClientMax || sessions_.size() >= kSessionsMax || full()) {
      refused_.add();
      result.status = Nfs4Status::kNoSpc;
    } else {
      fore.requests = std::min(fore.requests, kSlotsPerPeerMax - share.slots);
      ++share.sessions;
      share.slots += fore.requests;
      SessionId session_id{};
      const std::uint64_t serial = next_session_++;
      std::memcpy(session_id.data(), &id, sizeof id);
      std::memcpy(session_id.data() + 8, &serial, sizeof serial);
      const auto session = std::make_shared<Session>(session_id, client, fore);
      sessions_.emplace(session_id, session);
      client->sessions.push_back(session);
      renew(*client);
      ++client->next_session_sequence;
      client->session_reply = encode(*session);
      client->recalls.add_channel(session->back);
      result.reply = client->session_reply;
    }
  }
  end(ended);
  return result;
}

void ClientTable::confirm_locked(const ClientRef& client) {
  unconfirmed_.erase(client->name);
  client->confirmed = true;
  client->holder =
      state_.add_holder(core::Protocol::kNfs, &holders_,
                        std::string_view(reinterpret_cast<const char*>(client->peer.data()), client->peer.size()));
  confirmed_.emplace(client->name, client);
  if (client->holder != core::kNoHolder) holders_.add(client->holder, client);
}

std::shared_ptr<Session> ClientTable::find_session(const SessionId& id) const {
  const std::shared_lock lock(lock_);
  const auto found = sessions_.find(id);
  return found != sessions_.end() ? found->second : nullptr;
}

Nfs4Status ClientTable::destroy_session(const SessionId& id) {
  const std::lock_guard lock(lock_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return Nfs4Status::kBadSession;
  found->second->client->recalls.remove_channel(found->second->back);
  std::erase(found->second->client->sessions, found->second);
  --found->second->client->share->sessions;
  found->second->client->share->slots -= found->second->fore.requests;
  sessions_.erase(found);
  return Nfs4Status::kOk;
}

Nfs4Status ClientTable::destroy_client(std::uint64_t id) {
  std::vector<ClientRef> ended;
  {
    const std::lock_guard lock(lock_);
    const auto found = clients_.find(id);
    if (found == clients_.end() || !found->second->has_sessions) return Nfs4Status::kStaleClientId;
    const ClientRef client = found->second;
    if (!client->sessions.empty()) return Nfs4Status::kClientIdBusy;
    {
      const std::lock_guard state_lock(client->mutex);
      if (!client->states.empty()) return Nfs4Status::kClientIdBusy;
    }
    remove_locked(client, ended);
  }
  end(ended);
  return Nfs4Status::kOk;
}

bool ClientTable::has_room_locked(const PeerKey& peer, std::vector<ClientRef>& ended) {
  const auto share = peers_.find(peer);
  bool room = share == peers_.end() || share->second->clients.size() < kClientsPerPeerMax ||
              forget_one_locked(*share->second, nullptr, ended);
  // Unconfirmed names must not keep others out.
  if (clients_.size() >= kClientsMax && !unconfirmed_.empty())
    remove_locked(ClientRef(unconfirmed_.begin()->second), ended);
  room = room && clients_.size() < kClientsMax;
  if (!room) refused_.add();
  return room;
}

bool ClientTable::forget_one_locked(PeerShare& share, const Client* keep, std::vector<ClientRef>& ended) {
  ClientRef longest;
  std::tuple<bool, bool, std::int64_t> lowest;
  for (const auto& [id, client] : share.clients) {
    if (client.get() == keep) continue;
    const std::lock_guard lock(client->mutex);
    const bool holds = !client->states.empty();
    if (holds && !expired(*client)) continue;
    const std::tuple rank(holds, client->confirmed, client->renewed_ns.load());
    if (longest != nullptr && rank >= lowest) continue;
    longest = client;
    lowest = rank;
  }
  if (longest == nullptr) return false;
  {
    // A running OPEN either comes before this, or finds its client gone.
    const std::lock_guard lock(longest->mutex);
    if (!longest->states.empty() && !expired(*longest)) return false;
    longest->gone = true;
  }
  remove_locked(longest, ended);
  return true;
}

ClientTable::ClientRef ClientTable::add_locked(bool sessions, const std::string& name, std::uint64_t verifier,
                                               const Principal& principal, const PeerKey& peer,
                                               std::string_view address) {
  auto& share = peers_[peer];
  if (share == nullptr) share = std::make_shared<PeerShare>();
  const std::uint64_t id = std::uint64_t{boot_} << 32 | next_client_++;
  auto client =
      std::make_shared<Client>(id, sessions, name, verifier, principal, peer, address, share, delegated_writes_);
  renew(*client);
  clients_.emplace(id, client);
  unconfirmed_.emplace(name, client);
  share->clients.emplace(id, client);
  return client;
}

void ClientTable::remove_locked(const ClientRef& client, std::vector<ClientRef>& ended) {
  for (const auto& session : client->sessions) {
    sessions_.erase(session->id);
    --client->share->sessions;
    client->share->slots -= session->fore.requests;
  }
  client->sessions.clear();
  client->share->clients.erase(client->id);
  if (client->share->clients.empty()) peers_.erase(client->peer);
  const auto erase_owner = [&](auto& owners) {
    if (const auto it = owners.find(client->name); it != owners.end() && it->second == client) owners.erase(it);
  };
  erase_owner(confirmed_);
  erase_owner(unconfirmed_);
  holders_.remove(client->holder);
  clients_.erase(client->id);
  ended.push_back(client);
}

void ClientTable::end(const std::vector<ClientRef>& ended) {
  for (const ClientRef& client : ended) {
    {
      const std::lock_guard lock(client->mutex);
      client->gone = true;
      client->share->states.fetch_sub(static_cast<std::int64_t>(client->states.size()));
      for (const auto& [file, delegation] : client->delegations)
        delegated_writes_->remove(delegation->file.id, client->holder);
      client->states.clear();
      client->opens.clear();
      client->locks.clear();
      client->delegations.clear();
      client->owners.clear();
    }
    if (lost_all_) lost_all_(*client);
    if (client->holder != core::kNoHolder) state_.remove_holder(client->holder);
    if (!client->remembered.load()) continue;
    if (const Status forgotten = state_.forget_client(core::Protocol::kNfs, client->name); !forgotten) {
      log_warning("nfs4", "a client that is gone will be waited for after the next start",
                  {{"error", describe(forgotten.error())}});
    }
  }
}

// --- leases of clients
// -----------------------------------------------------------------------------------------------------

bool ClientTable::end_expired(core::FileId file) {
  std::vector<ClientRef> candidates;
  {
    const std::shared_lock lock(lock_);
    for (const auto& [id, client] : clients_) {
      if (!client->confirmed || !expired(*client)) continue;
      const std::lock_guard state_lock(client->mutex);
      const bool has =
          std::ranges::any_of(client->states, [&](const auto& one) { return one.second->file.id == file; });
      if (has) candidates.push_back(client);
    }
  }
  return end_if_expired(candidates);
}

bool ClientTable::end_expired(core::HolderId holder) {
  std::vector<ClientRef> candidates;
  if (const ClientRef known = holders_.find(holder); known != nullptr && expired(*known)) candidates.push_back(known);
  return end_if_expired(candidates);
}

bool ClientTable::end_if_expired(const std::vector<ClientRef>& candidates) {
  if (candidates.empty()) return false;
  std::vector<ClientRef> ended;
  {
    const std::lock_guard lock(lock_);
    for (const ClientRef& client : candidates) {
      if (clients_.contains(client->id) && expired(*client)) remove_locked(client, ended);
    }
  }
  end(ended);
  return !ended.empty();
}

void ClientTable::expire_idle(std::stop_token stop) {
  std::unique_lock sleep(reaper_mutex_);
  auto reaped = Clock::now();
  while (!reaper_wake_.wait_for(sleep, stop, kTurnPeriod, [&] { return stop.stop_requested(); })) {
    state_.retry_waits();
    if (Clock::now() - reaped < kReaperPeriod) continue;
    reaped = Clock::now();
    std::vector<ClientRef> ended, present;
    {
      const std::lock_guard lock(lock_);
      std::vector<ClientRef> candidates;
      for (const auto& [id, client] : clients_) {
        present.push_back(client);
        if (!expired(*client)) continue;
        const bool holds = client->holder != core::kNoHolder && state_.holds_state(client->holder);
        if (!holds || idle(*client) > kCourtesy) candidates.push_back(client);
      }
      for (const ClientRef& client : candidates) remove_locked(client, ended);
    }
    end(ended);
    for (const ClientRef& client : present) {
      client->recalls.try_again();
      if (const Status forgotten = forget_if_idle(*client); !forgotten) {
        log_warning("nfs4", "an idle client will be waited for after the next start",
                    {{"error", describe(forgotten.error())}});
      }
    }
  }
}

// --- clients that may reclaim after a restart
// -------------------------------------------------------------------------------------

Status ClientTable::remember(Client& client) {
  if (client.remembered.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(client.record_mutex);
  if (client.remembered.load(std::memory_order_acquire)) return {};
  if (const Status recorded = state_.remember_client(core::Protocol::kNfs, client.name); !recorded) {
    if (recorded.error().code != Errc::kIo && recorded.error().code != Errc::kNoSpace) return recorded;
    // The store has failed, or has no room: files can still be read. A start before that is fixed refuses this
    // client's reclaims.
    log_error("nfs4", "a client opens files and could not be recorded for reclaim",
              {{"error", describe(recorded.error())}});
    if (recorded.error().code == Errc::kNoSpace) {
      client.unrecorded.store(true, std::memory_order_release);
      return {};
    }
  }
  client.unrecorded.store(false, std::memory_order_release);
  client.remembered.store(true, std::memory_order_release);
  return {};
}

Status ClientTable::forget_if_idle(Client& client) {
  const std::lock_guard lock(client.record_mutex);
  {
    // A thread that adds state checks `remembered` under the same mutex, and has the client remembered again.
    const std::lock_guard state_lock(client.mutex);
    if (!client.remembered.load() || !client.states.empty() || client.gone) return {};
    client.remembered.store(false, std::memory_order_release);
  }
  return state_.forget_client(core::Protocol::kNfs, client.name);
}

// --- for administrators
// ----------------------------------------------------------------------------------------------------

std::vector<nfs::ClientStatus> ClientTable::list() const {
  std::vector<nfs::ClientStatus> all;
  const std::shared_lock lock(lock_);
  for (const auto& [name, client] : confirmed_) {
    all.push_back({.id = client->holder,
                   .protocol = client->has_sessions ? "nfs4.1" : "nfs4.0",
                   .address = client->address,
                   .name = name.substr(kNamePrefixBytes),
                   .held = state_.held_by(client->holder),
                   .silent = std::chrono::floor<std::chrono::seconds>(idle(*client))});
  }
  return all;
}

Status ClientTable::evict(core::HolderId holder) {
  ClientRef client;
  {
    const std::shared_lock lock(lock_);
    const auto found = std::ranges::find_if(confirmed_, [&](const auto& one) { return one.second->holder == holder; });
    if (found == confirmed_.end()) return fail(Errc::kNotFound, "no such client");
    client = found->second;
  }
  std::vector<core::OpenId> closed;
  std::size_t count = 0;
  {
    const std::lock_guard lock(client->mutex);
    count = client->states.size();
    if (client->revoked.size() + count > kRevokedMax) client->revoked.clear();
    while (!client->states.empty()) {
      const StateRef state = client->states.begin()->second;
      client->revoked.insert(state->serial);
      if (state->kind == StateKind::kLock) {
        // With the client's mutex held: the same owner may come for the same locks again.
        release_locks(state_, *client, state);
        continue;
      }
      if (state->kind == StateKind::kOpen) closed.push_back(state->open);
      if (state->kind == StateKind::kDelegation) state_.return_lease(state->lease);
      forget_state(*client, state);
    }
    client->owners.clear();  // they begin anew, with any number
    client->has_revoked.store(!client->revoked.empty());
  }
  if (lost_all_) lost_all_(*client);
  for (const core::OpenId open : closed) state_.close(open);
  log_info("nfs4", "an administrator has taken the state of a client away",
           {{"client", client->address}, {"states", count}});
  return forget_if_idle(*client);
}

}  // namespace stoa::nfs4
