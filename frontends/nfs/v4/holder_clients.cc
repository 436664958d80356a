#include "frontends/nfs/v4/holder_clients.h"

#include "base/crc32c.h"
#include "frontends/nfs/v4/client.h"

namespace stoa::nfs4 {
namespace {

// CB_NOTIFY_LOCK (RFC 8881 20.11)
Callback lock_notice(const Client& client, const core::LockTurn& turn) {
  constexpr std::uint32_t kCbNotifyLock = 13;
  const std::string_view owner = std::string_view(turn.wanted.owner.name).substr(kOwnerClientBytes);
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.opaque(turn.handle);
  out.u64(client.id);
  out.string(owner);
  const auto bytes = buffer.bytes();
  Callback callback{.operation = kCbNotifyLock, .arguments = {bytes.begin(), bytes.end()}};
  // Not a stateid, a new lock-owner has none: this key distinguishes it from the client's other
  // calls.
  const auto id = static_cast<std::uint64_t>(turn.wanted.file);
  std::byte* const about = callback.about.other.data();
  rpc::store_be32(about, static_cast<std::uint32_t>(id >> 32));
  rpc::store_be32(about + 4, static_cast<std::uint32_t>(id));
  rpc::store_be32(about + 8, crc32c(std::as_bytes(std::span(owner))));
  return callback;
}

}  // namespace

void HolderClients::add(core::HolderId holder, const std::shared_ptr<Client>& client) {
  const std::lock_guard lock(mutex_);
  clients_.emplace(holder, client);
}

void HolderClients::remove(core::HolderId holder) {
  const std::lock_guard lock(mutex_);
  clients_.erase(holder);
}

std::shared_ptr<Client> HolderClients::find(core::HolderId holder) const {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(holder);
  return found != clients_.end() ? found->second : nullptr;
}

void HolderClients::lease_recalled(const core::LeaseRecall& event) {
  if (const auto client = find(event.holder)) client->recalls.recall(event.file);
}

void HolderClients::lock_turn(const core::LockTurn& event) {
  if (const auto client = find(event.wanted.owner.holder)) client->recalls.call(lock_notice(*client, event));
}

}  // namespace stoa::nfs4
