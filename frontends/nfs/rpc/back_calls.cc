#include "frontends/nfs/rpc/back_calls.h"

#include <algorithm>
#include <utility>

#include "frontends/nfs/rpc/call_handler.h"
#include "frontends/nfs/rpc/record_mark.h"
#include "frontends/wire/connection.h"

namespace stoa::rpc {

bool BackCalls::connected() const {
  return !connection_.closed.load();
}

std::weak_ptr<BackChannel> BackCalls::keep() {
  kept_.store(true, std::memory_order_relaxed);
  return std::shared_ptr<BackChannel>(connection_.shared_from_this(), this);
}

bool BackCalls::call_back(std::vector<std::byte> record, OnReply on_reply) {
  std::uint32_t xid = 0;
  {
    const std::lock_guard lock(mutex_);
    if (connection_.closed.load() || calls_.size() >= kCallsMax) return false;
    xid = next_xid_++;
    calls_.emplace(xid, std::move(on_reply));
  }
  store_be32(record.data(), xid);
  std::vector<std::byte> framed(kMarkBytes + record.size());
  store_be32(framed.data(), kLastFragment | static_cast<std::uint32_t>(record.size()));
  std::ranges::copy(record, framed.begin() + kMarkBytes);
  // A broken connection is closed by the worker that meets it, which ends this call.
  connection_.send(framed);
  return true;
}

bool BackCalls::take_reply(std::span<const std::byte> record) {
  if (record.size() < 8 || load_be32(record.data() + 4) != kReply) return false;
  OnReply on_reply;
  {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(load_be32(record.data()));
    // One that is not waited for any more, or, where nothing was ever called, no record that belongs here.
    if (found == calls_.end()) return next_xid_ != 1;
    on_reply = std::move(found->second);
    calls_.erase(found);
  }
  on_reply(record);
  return true;
}

void BackCalls::closed() {
  std::map<std::uint32_t, OnReply> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(calls_);
  }
  for (const auto& [xid, on_reply] : dropped) on_reply({});
}

}  // namespace stoa::rpc
