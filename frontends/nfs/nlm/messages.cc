#include "frontends/nfs/nlm/messages.h"

namespace stoa::nlm {
namespace {

Netobj read_netobj(rpc::XdrReader& in) {
  return in.opaque(kNetobjBytesMax);
}

LockArguments read_lock_arguments(rpc::XdrReader& in) {
  LockArguments lock;
  lock.caller_name = in.string(kNameBytesMax);
  lock.handle = read_netobj(in);
  lock.owner = read_netobj(in);
  lock.svid = in.u32();
  lock.offset = in.u64();
  lock.length = in.u64();
  return lock;
}

}  // namespace

Request read_test(rpc::XdrReader& in) {
  Request request;
  request.cookie = read_netobj(in);
  request.exclusive = in.boolean();
  request.lock = read_lock_arguments(in);
  return request;
}

Request read_cancel(rpc::XdrReader& in) {
  Request request;
  request.cookie = read_netobj(in);
  request.block = in.boolean();
  request.exclusive = in.boolean();
  request.lock = read_lock_arguments(in);
  return request;
}

Request read_lock(rpc::XdrReader& in) {
  Request request = read_cancel(in);
  request.reclaim = in.boolean();
  request.state = in.u32();
  return request;
}

Request read_unlock(rpc::XdrReader& in) {
  Request request;
  request.cookie = read_netobj(in);
  request.lock = read_lock_arguments(in);
  return request;
}

ShareRequest read_share(rpc::XdrReader& in) {
  constexpr std::uint32_t kBoth = 3;
  ShareRequest request;
  request.cookie = read_netobj(in);
  request.caller_name = in.string(kNameBytesMax);
  request.handle = read_netobj(in);
  request.owner = read_netobj(in);
  request.deny = in.u32();
  request.access = in.u32();
  request.reclaim = in.boolean();
  if (request.deny > kBoth || request.access > kBoth) in.reject();
  return request;
}

Answer read_answer(rpc::XdrReader& in) {
  Answer answer;
  answer.cookie = read_netobj(in);
  answer.status = static_cast<NlmStatus>(in.u32());
  return answer;
}

Notification read_notification(rpc::XdrReader& in) {
  Notification told;
  told.name = in.string(kNameBytesMax);
  told.state = in.u32();
  return told;
}

void write_answer(rpc::XdrWriter& out, Netobj cookie, NlmStatus status) {
  out.opaque(cookie);
  out.u32(static_cast<std::uint32_t>(status));
}

std::vector<std::byte> granted_arguments(std::uint64_t cookie, bool exclusive, const LockArguments& lock) {
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.u32(sizeof cookie);
  out.u64(cookie);
  out.boolean(exclusive);
  out.string(lock.caller_name);
  out.opaque(lock.handle);
  out.opaque(lock.owner);
  out.u32(lock.svid);
  out.u64(lock.offset);
  out.u64(lock.length);
  return {buffer.bytes().begin(), buffer.bytes().end()};
}

}  // namespace stoa::nlm
