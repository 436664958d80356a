#include "frontends/nfs/v4/seqid_slot.h"

#include "base/crc32c.h"
#include "frontends/nfs/v4/caller.h"
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

constexpr std::uint32_t kCloseOperation = 4;

// 9.1.7: after these results the client sends the same number again.
bool counts(Nfs4Status status) {
  switch (status) {
    case Nfs4Status::kStaleClientId:
    case Nfs4Status::kStaleStateId:
    case Nfs4Status::kBadStateId:
    case Nfs4Status::kBadSeqId:
    case Nfs4Status::kBadXdr:
    case Nfs4Status::kResource:
    case Nfs4Status::kNoFileHandle:
    case Nfs4Status::kMoved:
      return false;
    default:
      return true;
  }
}

// Null: it did not come in time.
std::shared_ptr<OwnerTurn> begin_turn(Compound& c, OwnerRef owner, std::uint32_t seqid) {
  const auto arguments = c.arguments.first(c.arguments.size() - c.in.left());
  auto turn = std::make_shared<OwnerTurn>(c.client, c.operation, crc32c(arguments));
  return turn->wait_for(std::move(owner), seqid, nfs::deadline_of(c.call)) ? turn : nullptr;
}

Nfs4Status replay(Compound& c, const LastRequest& last) {
  if (last.current) {
    if (const Nfs4Status entered = c.set_current(*last.current); entered != Nfs4Status::kOk) return entered;
  }
  if (!c.promise(last.pending)) return Nfs4Status::kDelay;
  c.out.fixed(last.body);
  c.error_body = last.status != Nfs4Status::kOk;
  return last.status;
}

// An OPEN that was never confirmed may have been an old one that came late; the next one of the owner takes its place
// (9.1.11).
void drop_opens(Compound& c, const OwnerRef& owner) {
  std::vector<core::OpenId> closed;
  {
    const std::lock_guard lock(c.client->mutex);
    if (owner->users == 1) return;
    std::vector<StateRef> opens;
    for (const auto& [key, open] : c.client->opens) {
      if (open->sequenced_by == owner) opens.push_back(open);
    }
    for (const StateRef& open : opens) {
      closed.push_back(open->open);
      forget_state(*c.client, open);
    }
  }
  for (const core::OpenId open : closed) c.env.state.close(open);
}

}  // namespace

bool OwnerTurn::wait_for(OwnerRef owner, std::uint32_t seqid, const Deadline& deadline) {
  const bool taken = owner->turn.take(deadline);
  held_.push_back({std::move(owner), seqid, taken});
  return taken;
}

OwnerTurn::~OwnerTurn() {
  for (const Held& held : held_) {
    if (held.taken) held.owner->turn.end();
  }
  const std::lock_guard lock(client_->mutex);
  for (const Held& held : held_) client_->owners.release(held.owner);
}

bool OwnerTurn::is_retry() const {
  const Held& held = held_.front();
  const auto& last = held.owner->last;
  return last && last->seqid == held.seqid && last->operation == operation_ && last->arguments_sum == arguments_sum_;
}

bool OwnerTurn::is_next() const {
  const Held& held = held_.back();
  return !held.owner->last || held.seqid == held.owner->last->seqid + 1;
}

void OwnerTurn::finish(const Compound& c, Nfs4Status status, std::span<const std::byte> body) {
  if (!counts(status)) return;
  for (Held& held : held_) {
    LastRequest& last = held.owner->last.emplace();
    last = {.seqid = held.seqid,
            .operation = operation_,
            .arguments_sum = arguments_sum_,
            .status = status,
            .body = {body.begin(), body.end()},
            .current = c.current,
            .pending = c.pending()};
  }
  if (operation_ == kCloseOperation) return;
  const std::lock_guard lock(client_->mutex);
  client_->owners.clear_closed(owner());
}

Answer take_turn(Compound& c, std::uint64_t client, std::string_view open_owner, std::uint32_t seqid) {
  if (c.minor != 0) return std::nullopt;
  if (const auto status = identify(c, client); status != Nfs4Status::kOk) return status;
  OwnerRef owner;
  {
    const std::lock_guard lock(c.client->mutex);
    owner = c.client->owners.use(OwnerKind::kOpen, open_owner);
  }
  auto turn = begin_turn(c, owner, seqid);
  if (turn == nullptr) return Nfs4Status::kResource;  // No number counts with this.
  if (turn->is_retry()) return replay(c, *owner->last);
  if (!owner->confirmed) {
    drop_opens(c, owner);
  } else if (!turn->is_next()) {
    return Nfs4Status::kBadSeqId;
  }
  c.turn = std::move(turn);
  return std::nullopt;
}

Answer take_turn(Compound& c, const Stateid& stateid, std::uint32_t seqid) {
  if (c.minor != 0) return std::nullopt;
  if (const auto status = identify(c, stateid); status != Nfs4Status::kOk) return status;
  OwnerRef owner;
  {
    const std::lock_guard lock(c.client->mutex);
    owner = owner_of(*c.client, stateid);
    if (owner == nullptr) return is_revoked(*c.client, stateid) ? Nfs4Status::kAdminRevoked : Nfs4Status::kBadStateId;
    c.client->owners.use(owner);
  }
  auto turn = begin_turn(c, owner, seqid);
  if (turn == nullptr) return Nfs4Status::kResource;  // No number counts with this.
  if (turn->is_retry()) return replay(c, *owner->last);
  if (!turn->is_next()) return Nfs4Status::kBadSeqId;
  c.turn = std::move(turn);
  return std::nullopt;
}

Answer take_turn_of_lock_owner(Compound& c, std::string_view lock_owner, std::uint32_t seqid) {
  if (c.minor != 0) return std::nullopt;
  OwnerRef owner;
  {
    const std::lock_guard lock(c.client->mutex);
    owner = c.client->owners.use(OwnerKind::kLock, lock_owner);
  }
  if (!c.turn->wait_for(owner, seqid, nfs::deadline_of(c.call))) {
    c.turn.reset();  // No number counts.
    return Nfs4Status::kResource;
  }
  if (c.turn->is_next()) return std::nullopt;
  const std::lock_guard lock(c.client->mutex);
  if (owner->users == 1) return std::nullopt;  // it has no state any more, and begins anew
  return Nfs4Status::kBadSeqId;
}

OwnerRef owner_in_turn(const Compound& c) {
  return c.turn != nullptr ? c.turn->owner() : nullptr;
}
OwnerRef lock_owner_in_turn(const Compound& c) {
  return c.turn != nullptr ? c.turn->last_owner() : nullptr;
}

}  // namespace stoa::nfs4
