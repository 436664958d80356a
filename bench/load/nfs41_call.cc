#include "bench/load/nfs41_call.h"

#include "bench/load/nfs41_client.h"

namespace stoa::bench {
namespace {

constexpr std::uint32_t kAuthSys = 1;
constexpr std::uint32_t kModeBit = 1u << (33 - 32);

void write_mode(Call41& call, std::uint32_t mode) {
  call.u32(2).u32(0).u32(kModeBit).u32(4).u32(mode);
}

// An RPC call of COMPOUND by uid 0, from behind the xid up to the number of operations.
const XdrOut& call_head() {
  static const XdrOut head = [] {
    XdrOut out;
    for (const std::uint32_t word : {0u, 2u, 100003u, 4u, 1u}) out.u32(word);
    XdrOut credential;
    credential.u32(0);
    credential.opaque("stoa-bench");
    for (const std::uint32_t word : {0u, 0u, 0u}) credential.u32(word);
    out.u32(kAuthSys);
    out.opaque({credential.data(), credential.size()});
    out.u64(0);  // AUTH_NONE as verifier
    out.u32(0);  // no tag
    out.u32(1);  // minor version
    return out;
  }();
  return head;
}

}  // namespace

Call41::Call41(RpcConnection& connection, std::uint32_t xid) : connection_(connection) {
  begin(xid);
}

Call41::Call41(Slot41& slot, bool cache) : connection_(*slot.connection) {
  slot.xid += kSlotsMax41;
  slot.request_ns = now_ns();
  begin(slot.xid);
  const SessionId41& session = slot.client->session();
  op(Op::kSequence).fixed(session.data(), session.size());
  u32(++slot.sequence).u32(slot.number).u32(slot.client->highest_slot()).u32(cache ? 1 : 0);
}

void Call41::begin(std::uint32_t xid) {
  record_at_ = connection_.begin_record();
  const XdrOut& head = call_head();
  u32(xid).fixed(head.data(), head.size());
  count_at_ = connection_.out.size();
  u32(0);
}

Call41::~Call41() {
  connection_.out.patch_u32(count_at_, operations_);
  connection_.end_record(record_at_);
}

Call41& Call41::getattr() {
  return op(Op::kGetattr).u32(2).u32(kLinuxAttributes[0]).u32(kLinuxAttributes[1]);
}

Call41& Call41::create_directory(std::string_view name) {
  op(Op::kCreate).u32(kTypeDirectory).opaque(name);
  write_mode(*this, 0755);
  return *this;
}

Call41& Call41::open(std::uint64_t client, std::string_view owner, std::uint32_t access, bool create,
                     std::string_view name) {
  op(Op::kOpen).u32(0).u32(access).u32(0).u64(client).opaque(owner).u32(create ? 1 : 0);
  if (create) write_mode(u32(0), 0644);
  return u32(0).opaque(name);
}

Call41& Call41::lock(const Stateid41& open, std::uint64_t client, std::string_view owner, std::uint64_t offset,
                     std::uint64_t length) {
  op(Op::kLock).u32(2).u32(0).u64(offset).u64(length).u32(1).u32(0);
  return stateid(open).u32(0).u64(client).opaque(owner);
}

Call41& Call41::lock_again(const Stateid41& locks, std::uint64_t offset, std::uint64_t length) {
  return op(Op::kLock).u32(2).u32(0).u64(offset).u64(length).u32(0).stateid(locks).u32(0);
}

Call41& Call41::unlock(const Stateid41& locks, std::uint64_t offset, std::uint64_t length) {
  return op(Op::kLockU).u32(2).u32(0).stateid(locks).u64(offset).u64(length);
}

}  // namespace stoa::bench
