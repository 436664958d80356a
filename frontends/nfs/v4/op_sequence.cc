#include "frontends/nfs/v4/op_sequence.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c.h"
#include "frontends/nfs/v4/client_table.h"

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t {
  kCbPathDown = 0x1,
  kAdminStateRevoked = 0x20,
  kRecallableStateRevoked = 0x40,
  kCbPathDownSession = 0x200
};

// sr_status_flags: conditions for the client to handle.
std::uint32_t status_flags(Client& client, const core::StateTable& table) {
  std::uint32_t flags = client.has_revoked.load(std::memory_order_relaxed) ? std::uint32_t{kAdminStateRevoked} : 0u;
  if (client.delegation_count.load(std::memory_order_relaxed) == 0) return flags;
  if (!client.recalls.channel_up()) flags |= kCbPathDown | kCbPathDownSession;
  // Only recalled state is revoked: there is little of it, and may be very much other.
  const std::vector<core::FileId> recalled = client.recalls.recalled();
  if (recalled.empty()) return flags;
  const std::lock_guard lock(client.mutex);
  const bool revoked = std::ranges::any_of(recalled, [&](core::FileId file) {
    const auto found = client.delegations.find(static_cast<std::uint64_t>(file));
    return found != client.delegations.end() && table.lease_revoked(found->second->lease);
  });
  return revoked ? flags | kRecallableStateRevoked : flags;
}

}  // namespace

WaitingSlot::~WaitingSlot() {
  if (session_ == nullptr) return;
  const std::lock_guard lock(session_->mutex);
  Slot& slot = session_->slots[slot_];
  --slot.sequence;
  slot.busy = false;
  --session_->waiting;
}

std::optional<WaitingSlot> SequenceGuard::wait() {
  if (session_ == nullptr) return WaitingSlot{};
  {
    const std::lock_guard lock(session_->mutex);
    if (session_->waiting >= session_->slots.size() / 2) return std::nullopt;
    ++session_->waiting;
  }
  return std::optional<WaitingSlot>(std::in_place, std::move(session_), slot_);
}

// kOk: taken, or the reply of before was written.
Nfs4Status SequenceGuard::take_slot(Session& session, std::uint32_t number, std::uint32_t sequence) {
  const std::span<const std::byte> arguments = c_.call.header.arguments;
  const std::uint32_t sum = crc32c(arguments);
  const std::lock_guard lock(session.mutex);
  Slot& slot = session.slots[number];
  if (sequence == slot.sequence && slot.sequence != 0) {
    if (slot.busy) return Nfs4Status::kDelay;
    if (slot.request_sum != sum) return Nfs4Status::kSeqFalseRetry;
    if (!slot.cached) return Nfs4Status::kRetryUncachedRep;
    if (!c_.promise(slot.pending)) return Nfs4Status::kDelay;
    c_.out.truncate(reply_at_);
    c_.out.fixed(slot.reply);
    replayed_ = true;
    return Nfs4Status::kOk;
  }
  if (sequence != slot.sequence + 1) return Nfs4Status::kSeqMisordered;
  if (slot.busy) return Nfs4Status::kDelay;
  if (arguments.size() + kCallHeaderBytes > session.fore.request_bytes) return Nfs4Status::kReqTooBig;
  if (operations_ > session.fore.operations) return Nfs4Status::kTooManyOps;
  slot.sequence = sequence;
  slot.busy = true;
  slot.cached = false;
  slot.request_sum = sum;
  slot.reply.clear();
  slot.pending.clear();
  return Nfs4Status::kOk;
}

Nfs4Status SequenceGuard::begin(WaitingSlot* waited) {
  rpc::XdrReader& in = c_.in;
  SessionId id{};
  const auto bytes = in.fixed(id.size());
  const std::uint32_t sequence = in.u32();
  const std::uint32_t slot_number = in.u32();
  const std::uint32_t highest = in.u32();
  const bool cache_this = in.boolean();
  if (!in.ok()) return Nfs4Status::kBadXdr;
  std::memcpy(id.data(), bytes.data(), id.size());

  std::shared_ptr<Session> session = c_.env.clients.find_session(id);
  if (session == nullptr) return Nfs4Status::kBadSession;
  if (slot_number >= session->slots.size()) return Nfs4Status::kBadSlot;
  if (highest >= session->slots.size()) return Nfs4Status::kBadHighSlot;
  if (waited != nullptr && *waited) {
    waited->session_.reset();  // It is this guard's again.
    const std::lock_guard lock(session->mutex);
    --session->waiting;
  } else if (const auto status = take_slot(*session, slot_number, sequence); status != Nfs4Status::kOk || replayed_) {
    return status;
  }
  c_.env.clients.renew(*session->client, c_.call.now);
  session_ = std::move(session);
  slot_ = slot_number;
  cache_this_ = cache_this;
  c_.session = session_.get();
  c_.client = session_->client;
  c_.holder = session_->client->holder;
  c_.ctx.holder = c_.holder;

  const auto highest_slot = static_cast<std::uint32_t>(session_->slots.size() - 1);
  c_.out.fixed(id);
  c_.out.u32(sequence);
  c_.out.u32(slot_number);
  c_.out.u32(highest_slot);
  c_.out.u32(highest_slot);
  c_.out.u32(status_flags(*session_->client, c_.env.state));
  return Nfs4Status::kOk;
}

Nfs4Status SequenceGuard::check_size(std::size_t bytes) const {
  if (session_ == nullptr) return Nfs4Status::kOk;
  if (bytes > session_->fore.response_bytes) return Nfs4Status::kRepTooBig;
  if (cache_this_ && bytes > session_->fore.cached_response_bytes) return Nfs4Status::kRepTooBigToCache;
  return Nfs4Status::kOk;
}

void SequenceGuard::finish() {
  // The COMPOUND may have destroyed its session: it lives until the lock is gone.
  const std::shared_ptr<Session> session = std::move(session_);
  if (session == nullptr) return;
  const std::lock_guard lock(session->mutex);
  Slot& slot = session->slots[slot_];
  // SEQUENCE alone is always cached (2.10.6.1.3); it is small.
  if ((cache_this_ || operations_ == 1) && c_.reply.slices.empty()) {
    const auto whole = c_.out.written_since(reply_at_);
    slot.reply.assign(whole.begin(), whole.end());
    slot.cached = true;
    // The promised changes may not be durable yet: a retry waits for them, too.
    slot.pending = c_.pending();
  }
  slot.busy = false;
}

SequenceGuard::~SequenceGuard() {
  finish();
}

}  // namespace stoa::nfs4
