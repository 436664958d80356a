#include "frontends/nfs/v4/back_channel.h"

#include <algorithm>

namespace stoa::nfs4 {
namespace {

constexpr std::uint32_t kCbSequence = 11;
constexpr std::size_t kConnectionsMax = 16;
constexpr std::size_t kWaitingMax = 4096;
constexpr int kAttemptsMax = 3;  // at once; callbacks that the client refuses are repeated periodically

}  // namespace

CallbackSecurity read_callback_security(rpc::XdrReader& in) {
  enum : std::uint32_t { kAuthNone = 0, kAuthSys = 1, kRpcSecGss = 6 };
  CallbackSecurity security{.program = in.u32()};
  bool chosen = false;
  for (std::uint32_t left = in.u32(); left > 0 && in.ok(); --left) {
    rpc::ReplyBuffer buffer;
    rpc::XdrWriter credential(buffer);
    const std::uint32_t flavor = in.u32();
    credential.u32(flavor);
    switch (flavor) {
      case kAuthNone:
        credential.u32(0);
        break;
      case kAuthSys: {
        // The rest is the body of the credential, as it is.
        const std::span<const std::byte> body = in.rest();
        in.u32();
        in.opaque(rpc::kMachineNameBytesMax);
        in.u32();
        in.u32();
        const std::uint32_t groups = in.u32();
        if (groups > rpc::kAuthSysGroupsMax) in.reject();
        for (std::uint32_t i = 0; i < groups && in.ok(); ++i) in.u32();
        if (in.ok()) credential.opaque(body.first(body.size() - in.left()));
        break;
      }
      case kRpcSecGss:
        in.u32();
        in.opaque(rpc::kAuthBytesMax);
        in.opaque(rpc::kAuthBytesMax);
        continue;  // handles that we do not have
      default:
        in.reject();
    }
    if (!in.ok() || chosen) continue;
    chosen = true;
    const auto bytes = buffer.bytes();
    security.credential.assign(bytes.begin(), bytes.end());
  }
  return security;
}

void SessionBackChannel::set_form(std::uint32_t minor, std::uint32_t slots) {
  const std::lock_guard lock(mutex_);
  minor_ = minor;
  slots_in_use_ = std::clamp(slots, 1u, kSlotsMax);
}

void SessionBackChannel::set_security(CallbackSecurity security) {
  const std::lock_guard lock(mutex_);
  security_ = std::move(security);
}

void SessionBackChannel::bind(std::weak_ptr<rpc::BackChannel> connection) {
  std::unique_lock lock(mutex_);
  const auto same = [&](const std::weak_ptr<rpc::BackChannel>& known) {
    return known.expired() || (!known.owner_before(connection) && !connection.owner_before(known));
  };
  std::erase_if(connections_, same);
  if (connections_.size() >= kConnectionsMax) connections_.erase(connections_.begin());
  connections_.push_back(std::move(connection));
  ++binds_;
  send_all(lock);
}

bool SessionBackChannel::up() {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(connections_, [](const auto& known) {
    const auto connection = known.lock();
    return connection != nullptr && connection->connected();
  });
}

void SessionBackChannel::call(Callback callback) {
  std::unique_lock lock(mutex_);
  const auto same = [&](const Callback& other) {
    return other.operation == callback.operation && other.about.other == callback.about.other;
  };
  const bool known = std::ranges::any_of(waiting_, same) || std::ranges::any_of(slots_, [&](const Slot& slot) {
                       return slot.callback && same(*slot.callback);
                     });
  if (known) return;
  if (waiting_.size() < kWaitingMax) {
    waiting_.push_back(std::move(callback));
    return send_all(lock);
  }
  lock.unlock();
  if (callback.done) callback.done(false);
}

void SessionBackChannel::send_all(std::unique_lock<std::mutex>& lock) {
  for (std::size_t number = 0; number < slots_in_use_; ++number) {
    Slot& slot = slots_[number];
    if (!slot.callback && !waiting_.empty()) {
      slot.callback = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (!slot.callback || slot.sent) continue;
    slot.sent = true;
    const std::vector<std::byte> record = encode(number);
    bool sent = false;
    std::uint64_t seen = 0;
    do {
      seen = binds_;
      const auto connections = connections_;
      lock.unlock();
      for (auto it = connections.rbegin(); it != connections.rend() && !sent; ++it) {
        const auto connection = it->lock();
        if (connection == nullptr) continue;
        sent = connection->call_back(record, [weak = weak_from_this(), number](std::span<const std::byte> reply) {
          if (const auto self = weak.lock()) self->take_reply(number, reply);
        });
      }
      lock.lock();
      // One that was bound meanwhile found the slot in our hands and left the sending to us.
    } while (!sent && binds_ != seen);
    if (!sent) slot.sent = false;  // it waits for a connection to be bound
  }
}

void SessionBackChannel::take_reply(std::size_t number, std::span<const std::byte> reply) {
  std::unique_lock lock(mutex_);
  Slot& slot = slots_[number];
  slot.sent = false;
  if (!slot.callback) return;
  if (reply.empty()) return send_all(lock);  // the connection is gone: over another, under the same sequence number
  rpc::XdrReader in(reply);
  in.u32();  // xid
  in.u32();  // REPLY
  const std::uint32_t accepted = in.u32();
  in.u32();  // the verifier
  in.opaque(rpc::kAuthBytesMax);
  const std::uint32_t accept_status = in.u32();
  const auto status = static_cast<Nfs4Status>(in.u32());
  in.opaque(kTagBytesMax);
  in.u32();  // number of results
  const bool understood = in.ok() && accepted == 0 && accept_status == 0;
  const bool answered = understood && in.u32() == kCbSequence;
  const auto sequence_status = static_cast<Nfs4Status>(in.u32());
  // A client that took a call, but whose answer was lost with the connection, refuses the retransmission
  // (2.10.6.1.3).
  const bool arrived = answered && in.ok() &&
                       (sequence_status == Nfs4Status::kOk || sequence_status == Nfs4Status::kRetryUncachedRep ||
                        sequence_status == Nfs4Status::kSeqFalseRetry);
  if (arrived) ++slot.sequence;
  Callback callback = std::move(*slot.callback);
  slot.callback.reset();
  const bool taken = arrived && status == Nfs4Status::kOk;
  if (taken && callback.answer) {
    in.fixed(16 + 4 * 4);  // of CB_SEQUENCE: session, sequence, slot and two more of them
    const bool same = in.u32() == callback.operation && static_cast<Nfs4Status>(in.u32()) == Nfs4Status::kOk;
    lock.unlock();
    if (same && in.ok()) callback.answer(in);
    lock.lock();
  }
  if (arrived && !taken && ++callback.attempts < kAttemptsMax) {
    waiting_.push_back(std::move(callback));
    return send_all(lock);
  }
  send_all(lock);
  lock.unlock();
  if (callback.done) callback.done(taken);
}

std::vector<std::byte> SessionBackChannel::encode(std::size_t number) const {
  const Slot& slot = slots_[number];
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.u32(0);  // the connection sets the xid
  out.u32(rpc::kCall);
  out.u32(rpc::kRpcVersion);
  out.u32(security_.program);
  out.u32(kCallbackVersion);
  out.u32(kCbCompound);
  out.fixed(security_.credential);
  out.u32(0);  // verifier: AUTH_NONE
  out.u32(0);

  out.u32(0);  // tag
  out.u32(minor_);
  out.u32(0);  // callback_ident: of minor version 0
  out.u32(2);
  out.u32(kCbSequence);
  out.fixed(session_);
  out.u32(slot.sequence);
  out.u32(static_cast<std::uint32_t>(number));
  out.u32(slots_in_use_ - 1);  // highest slot
  out.boolean(false);          // not to be cached
  out.u32(0);                  // no referring calls
  out.u32(slot.callback->operation);
  out.fixed(slot.callback->arguments);
  const auto bytes = buffer.bytes();
  return {bytes.begin(), bytes.end()};
}

Callback recall_of(const Stateid& stateid, const core::HandleBytes& handle) {
  constexpr std::uint32_t kCbRecall = 4;
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  write_stateid(out, stateid);
  out.boolean(false);  // not for truncation
  out.opaque(handle);
  const auto bytes = buffer.bytes();
  return {.operation = kCbRecall, .about = stateid, .arguments = {bytes.begin(), bytes.end()}};
}

}  // namespace stoa::nfs4
