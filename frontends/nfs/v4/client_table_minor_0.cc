// Clients of minor version 0. The letters of RFC 7530 16.33.5 and 16.34.5: a record is { verifier, id string, clientid,
// callback, confirm verifier }. An unconfirmed record with the clientid of a confirmed one is that client's `update`
// here.
#include "frontends/nfs/v4/client_table.h"

namespace stoa::nfs4 {

ClientTable::ClientSet ClientTable::set_client(const SetClient& wanted) {
  std::vector<ClientRef> ended;
  ClientSet result;
  {
    const std::lock_guard lock(lock_);
    const std::string name = std::string("v4.0 ").append(wanted.id);
    const auto found = confirmed_.find(name);
    const ClientRef known = found != confirmed_.end() ? found->second : nullptr;
    const bool same_principal = known != nullptr && known->principal == wanted.principal;
    if (known != nullptr && !same_principal && in_use(*known)) {
      return {.status = Nfs4Status::kClidInUse, .in_use = known->callback};
    }
    // An unconfirmed record of this name is replaced.
    if (const auto pending = unconfirmed_.find(name); pending != unconfirmed_.end()) {
      remove_locked(ClientRef(pending->second), ended);
    }
    if (known != nullptr) known->update.reset();
    const std::uint64_t confirm_verifier = std::uint64_t{boot_} << 32 ^ next_confirm_verifier_++;
    if (same_principal && known->verifier == wanted.verifier) {
      // The same incarnation has another callback, or lost our answer.
      known->update = Client::Update{confirm_verifier, wanted.callback};
      result = {.client = known->id, .confirm_verifier = confirm_verifier};
    } else if (!has_room_locked(wanted.peer, ended)) {
      result.status = Nfs4Status::kResource;
    } else {
      // A new one, or a new incarnation: the old one stays until this one is confirmed.
      const ClientRef client = add_locked(false, name, wanted.verifier, wanted.principal, wanted.peer, wanted.address);
      client->confirm_verifier = confirm_verifier;
      client->callback = wanted.callback;
      result = {.client = client->id, .confirm_verifier = confirm_verifier};
    }
  }
  end(ended);
  return result;
}

Nfs4Status ClientTable::confirm_client(std::uint64_t id, std::uint64_t confirm_verifier, const Principal& principal,
                                       const rpc::Peer& peer) {
  std::vector<ClientRef> ended;
  {
    const std::lock_guard lock(lock_);
    const auto found = clients_.find(id);
    if (found == clients_.end() || found->second->has_sessions || lapsed_locked(*found->second))
      return Nfs4Status::kStaleClientId;
    const ClientRef client = found->second;
    if (client->principal != principal) return Nfs4Status::kClidInUse;
    if (client->confirmed) {
      if (client->update && client->update->confirm_verifier == confirm_verifier) {
        client->callback = std::move(client->update->callback);
        client->confirm_verifier = confirm_verifier;
        client->update.reset();
        set_callback_locked(client, peer);
      } else if (client->confirm_verifier != confirm_verifier) {
        return Nfs4Status::kStaleClientId;
      }
      // Else it was confirmed by this very verifier: a retry.
    } else {
      if (client->confirm_verifier != confirm_verifier) return Nfs4Status::kStaleClientId;
      if (const auto old = confirmed_.find(client->name); old != confirmed_.end()) {
        if (old->second->principal != principal && in_use(*old->second)) return Nfs4Status::kClidInUse;
        remove_locked(ClientRef(old->second), ended);
      }
      confirm_locked(client);
      set_callback_locked(client, peer);
    }
    renew(*client);
  }
  end(ended);
  return Nfs4Status::kOk;
}

void ClientTable::set_callback_locked(const ClientRef& client, const rpc::Peer& peer) {
  if (client->callback_client != nullptr) client->recalls.remove_channel(client->callback_client);
  client->callback_client = nullptr;
  const auto port = callback_port(client->callback, peer.address);
  if (!port) return;
  client->callback_client = std::make_shared<CallbackClient>(dialer_.line(peer.address, *port),
                                                             client->callback.program, client->callback.ident);
  client->recalls.add_channel(client->callback_client);
  // Recalls that failed over the old path go over this one.
  client->callback_client->probe([weak = std::weak_ptr(client)] {
    if (const auto called = weak.lock()) called->recalls.try_again();
  });
}

ClientTable::FoundClient ClientTable::find_client(std::uint64_t id) const {
  const std::shared_lock lock(lock_);
  const auto found = clients_.find(id);
  if (found == clients_.end()) {
    const auto number = static_cast<std::uint32_t>(id);
    return {nullptr, id >> 32 == boot_ && number != 0 && number < next_client_};
  }
  const ClientRef& client = found->second;
  return {client->confirmed && !client->has_sessions ? client : nullptr, false};
}

}  // namespace stoa::nfs4
