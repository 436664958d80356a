#include "frontends/native/server/op/byte_locks.h"

#include "frontends/native/protocol/login.h"

namespace stoa::native {

core::LockOwner lock_owner(const OperationRun& run, U64 owner) {
  std::string name(sizeof owner, '\0');
  store(reinterpret_cast<std::byte*>(name.data()), owner);
  return {.holder = run.session.holder, .name = std::move(name)};
}

core::LockRange lock_range(U64 offset, U64 length) {
  return {.offset = offset, .length = length == kLockToEnd ? core::LockRange::kToEnd : length};
}

WireStatus may_lock(OperationRun& run, core::FileId file) {
  constexpr std::uint32_t kAny = core::kAccessRead | core::kAccessModify | core::kAccessExtend;
  const auto found = run.ns.access(run.ctx, {.id = file, .wanted = kAny});
  if (!found) return run.failed(found.error());
  if (found->attr.type != core::FileType::kRegular) return WireStatus::wrong_type;
  return found->granted != 0 || run.session.has_open_of(file) ? WireStatus::ok : WireStatus::access;
}

LockReply in_the_way(const OperationRun& run, const core::HeldLock& lock) {
  LockReply reply{.offset = lock.range.offset, .length = lock.range.length, .exclusive = lock.exclusive};
  reply.mine = lock.owner.holder == run.session.holder && lock.owner.name.size() == sizeof(U64);
  if (reply.mine != 0) reply.owner = load<U64>(as_bytes(lock.owner.name).data());
  return reply;
}

}  // namespace stoa::native
