#include "core/state/reclaim.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/kv/codec.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kWrites = 1;

std::string client_record(bool writer) {
  Encoder body;
  if (writer) body.put(kWrites);
  return encode_record(kVersion, kVersion, body.bytes());
}

bool wrote(std::string_view value) {
  Decoder in(decode_record(value, kVersion).body);
  return in.get<std::uint8_t>() == kWrites && in.ok();
}

Status check_name(std::string_view name) {
  if (name.empty() || name.size() > Reclaim::kNameBytesMax) return fail(Errc::kInvalid, "name of a client");
  return {};
}

}  // namespace

Status Reclaim::load() {
  const std::lock_guard lock(mutex_);
  STOA_CHECK_OK(count_start());
  const std::string prefix(keys::kClientPrefix);
  const auto it = kv_.scan(Family::kState, prefix, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) {
    const bool writer = wrote(it->value());
    clients_[std::string(it->key())] = {.before = true, .waited_for = true, .writer = writer, .awaited_writer = writer};
    if (writer) writers_awaited_.fetch_add(1);
  }
  STOA_CHECK_OK(it->status());
  waited_for_ = clients_.size();
  grace_end_ = now_() + grace_;
  writers_end_ = now_() + kWritersWait;
  grace_over_.store(waited_for_ == 0);
  return {};
}

Status Reclaim::count_start() {
  std::string value;
  STOA_TRY(known, kv_.get(Family::kState, keys::kStarts, &value));
  if (known) {
    Decoder in(decode_record(value, kVersion).body);
    starts_ = in.get<std::uint32_t>();
    if (!in.ok()) return fail(Errc::kCorrupt, "the count of starts");
  }
  Encoder body;
  body.put(++starts_);
  WriteBatch batch;
  batch.put(Family::kState, keys::kStarts, encode_record(kVersion, kVersion, body.bytes()));
  STOA_TRY(ticket, committer_.commit({.batch = std::move(batch)}));
  return committer_.wait_durable(ticket);
}

Status Reclaim::remember(Protocol protocol, std::string_view name, bool as_writer) {
  STOA_CHECK_OK(check_name(name));
  const std::string key = keys::client_key(protocol, name);
  CommitTicket ticket{};
  {
    const std::lock_guard lock(mutex_);
    const auto known = clients_.find(key);
    if (known == clients_.end() && clients_.size() >= kClientsMax) return fail(Errc::kBusy, "too many clients");
    // Also when there is a record: it may not be durable yet.
    WriteBatch batch;
    const bool writer = as_writer || (known != clients_.end() && known->second.writer);
    batch.put(Family::kState, key, client_record(writer));
    STOA_TRY(committed, committer_.commit({.batch = std::move(batch)}));
    ticket = committed;
    Client& client = clients_[key];
    client.writer = writer;
    client.here = true;
    ++client.remembered;
  }
  const Status durable = committer_.wait_durable(ticket);
  if (!durable) {
    // The caller forgets only clients that were reported as remembered.
    const std::lock_guard lock(mutex_);
    const auto known = clients_.find(key);
    if (known != clients_.end() && known->second.remembered > 0) --known->second.remembered;
  }
  return durable;
}

Status Reclaim::forget(Protocol protocol, std::string_view name) {
  CommitTicket ticket{};
  {
    const std::lock_guard lock(mutex_);
    const auto known = clients_.find(keys::client_key(protocol, name));
    if (known == clients_.end() || (known->second.remembered > 0 && --known->second.remembered > 0)) return {};
    WriteBatch batch;
    batch.remove(Family::kState, known->first);
    STOA_TRY(committed, committer_.commit({.batch = std::move(batch)}));
    ticket = committed;
    no_longer_waited_for(known->second);
    no_longer_awaited(known->second);
    clients_.erase(known);
  }
  return committer_.wait_durable(ticket);
}

void Reclaim::no_longer_awaited(Client& client) {
  if (!std::exchange(client.awaited_writer, false)) return;
  const std::size_t before = writers_awaited_.fetch_sub(1, std::memory_order_acq_rel);
  STOA_ASSERT(before > 0, "a writer that is waited for is counted");
}

void Reclaim::no_longer_waited_for(Client& client) {
  if (!client.waited_for) return;
  STOA_ASSERT(waited_for_ > 0, "a client that is waited for is counted");
  STOA_ASSERT(client.before, "only clients of before the start are waited for");
  client.waited_for = false;
  if (--waited_for_ == 0) grace_over_.store(true, std::memory_order_release);
}

bool Reclaim::in_grace() {
  if (grace_over_.load(std::memory_order_acquire)) return false;
  if (now_() < grace_end_) return true;
  CommitTicket ticket{};
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return true;
    if (grace_over_.load()) return false;
    const auto ended = end_grace();
    if (!ended) return true;  // the store failed: no promise can be made
    ticket = *ended;
  }
  if (!committer_.wait_durable(ticket)) return true;
  grace_over_.store(true, std::memory_order_release);
  return false;
}

Result<CommitTicket> Reclaim::end_grace() {
  WriteBatch batch;
  std::size_t lost = 0;
  STOA_ASSERT(waited_for_ <= clients_.size(), "who is waited for is known");
  for (auto it = clients_.begin(); it != clients_.end();) {
    const Client& client = it->second;
    no_longer_awaited(it->second);
    if (client.waited_for && !client.here) {
      batch.remove(Family::kState, it->first);
      it = clients_.erase(it);
      ++lost;
    } else {
      it->second.waited_for = false;
      ++it;
    }
  }
  waited_for_ = 0;
  if (lost == 0) return committer_.applied();
  log_info("state", "clients that held state before the restart did not come back in time", {{"clients", lost}});
  return committer_.commit({.batch = std::move(batch)});
}

bool Reclaim::may_reclaim(Protocol protocol, std::string_view name) {
  if (!in_grace()) return false;
  const std::lock_guard lock(mutex_);
  const auto known = clients_.find(keys::client_key(protocol, name));
  if (known == clients_.end() || !known->second.before) return false;
  known->second.here = true;
  return true;
}

void Reclaim::done(Protocol protocol, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto known = clients_.find(keys::client_key(protocol, name));
  if (known == clients_.end()) return;
  known->second.here = true;
  no_longer_waited_for(known->second);
  no_longer_awaited(known->second);
}

std::vector<std::string> Reclaim::names_before(Protocol protocol) {
  std::vector<std::string> names;
  if (!in_grace()) return names;
  const std::string prefix = keys::client_key(protocol, {});
  const std::lock_guard lock(mutex_);
  for (const auto& [key, client] : clients_) {
    if (client.before && key.starts_with(prefix)) names.push_back(key.substr(prefix.size()));
  }
  return names;
}

std::size_t Reclaim::size() const {
  const std::lock_guard lock(mutex_);
  return clients_.size();
}

}  // namespace stoa::core
