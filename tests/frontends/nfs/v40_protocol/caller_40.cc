#include "tests/frontends/nfs/v40_protocol/caller_40.h"

#include <gtest/gtest.h>

#include <atomic>

namespace stoa::test {
namespace {

std::atomic<std::uint32_t> g_xid{0x5000'0000};

}  // namespace

Caller40::Caller40(std::uint16_t port, std::string id, std::uint64_t verifier, std::uint32_t uid)
    : wire(port), id_(std::move(id)), verifier_(verifier), uid_(uid), xid_(g_xid.fetch_add(0x10000)) {}

CompoundResult Caller40::send(const Ops& ops) {
  ++xid_;
  return send_again(ops);
}

CompoundResult Caller40::send_again(const Ops& ops) {
  Xdr arguments;
  arguments.string("").u32(0).u32(ops.count);
  arguments.raw(ops.body.bytes());
  const CallSpec spec{.xid = xid_,
                      .program = 100003,
                      .version = 4,
                      .procedure = 1,
                      .auth_flavor = 1,
                      .auth_body = auth_sys(uid_, uid_)};
  return expect_listed(ops, 0, {wire.call(spec, arguments)});
}

CompoundResult Caller40::set_client(std::string_view address) {
  return send(Ops().op(35).u64(verifier_).string(id_).u32(0x40000000).string("tcp").string(address).u32(7));
}

Caller40::Set Caller40::set() {
  auto result = set_client();
  Set set{.status = result.status};
  if (!result.ok()) return set;
  result.next(35);
  set.client = result.in.u64();
  set.confirm = result.in.u64();
  return set;
}

void Caller40::connect() {
  const Set made = set();
  ASSERT_EQ(made.status, Nfs4Status::kOk);
  ASSERT_EQ(confirm(made), Nfs4Status::kOk);
  client = made.client;
}

Bytes Caller40::handle_of(std::initializer_list<std::string_view> path) {
  Ops ops;
  ops.putrootfh();
  for (const auto name : path) ops.lookup(name);
  auto result = send(ops.getfh());
  EXPECT_TRUE(result.ok()) << static_cast<std::uint32_t>(result.status);
  if (!result.ok()) return {};
  result.next(24);
  for (std::size_t i = 0; i < path.size(); ++i) result.next(15);
  result.next(10);
  const auto handle = result.in.opaque(128);
  return {handle.begin(), handle.end()};
}

Ops Caller40::open_ops(const Bytes& dir, std::string_view name, std::uint32_t seqid, const How& how) const {
  Ops ops;
  ops.putfh(dir).op(18).u32(seqid).u32(how.access).u32(how.deny).u64(client).string(how.owner);
  if (how.reclaim) {
    ops.u32(0).u32(1).u32(how.held);  // no creation, CLAIM_PREVIOUS
  } else {
    ops.u32(how.create ? 1 : 0);
    if (how.create) ops.u32(how.guarded ? 1 : 0).u32(0).u32(0);  // no attributes
    ops.u32(0).string(name);
  }
  ops.getfh();
  return ops;
}

Caller40::Open Caller40::read_open(CompoundResult& result) {
  Open open{.status = result.status, .stateid = {}, .handle = {}};
  if (!result.ok()) return open;
  result.next(22);
  result.next(18);
  open.stateid = read_wire_stateid(result.in);
  result.in.fixed(20);  // change_info4
  open.flags = result.in.u32();
  for (std::uint32_t words = result.in.u32(); words > 0; --words) result.in.u32();
  open.delegation = read_delegation(result.in);
  result.next(10);
  const auto handle = result.in.opaque(128);
  open.handle = {handle.begin(), handle.end()};
  return open;
}

Caller40::Open Caller40::open(const Bytes& dir, std::string_view name, std::uint32_t seqid, const How& how) {
  auto result = send(open_ops(dir, name, seqid, how));
  return read_open(result);
}

Caller40::Open Caller40::open_confirmed(const Bytes& dir, std::string_view name, std::uint32_t seqid, const How& how) {
  Open made = open(dir, name, seqid, how);
  EXPECT_EQ(made.status, Nfs4Status::kOk);
  if (made.status != Nfs4Status::kOk || !made.must_confirm()) return made;
  const Changed confirmed = open_confirm(made.handle, made.stateid, seqid + 1);
  EXPECT_EQ(confirmed.status, Nfs4Status::kOk);
  made.stateid = confirmed.stateid;
  return made;
}

Caller40::Changed Caller40::change(const Bytes& handle, const Ops& operation, std::uint32_t number) {
  Ops ops;
  ops.putfh(handle);
  ops.body.raw(operation.body.bytes());
  ops.count += operation.count;
  auto result = send(ops);
  Changed changed{.status = result.status, .stateid = {}};
  if (!result.ok()) return changed;
  result.next(22);
  result.next(number);
  changed.stateid = read_wire_stateid(result.in);
  return changed;
}

Caller40::Changed Caller40::open_confirm(const Bytes& handle, const WireStateid& stateid, std::uint32_t seqid) {
  return change(handle, Ops().op(20).stateid(stateid).u32(seqid), 20);
}

Caller40::Changed Caller40::downgrade(const Bytes& handle, const WireStateid& stateid, std::uint32_t seqid,
                                      std::uint32_t access) {
  return change(handle, Ops().op(21).stateid(stateid).u32(seqid).u32(access).u32(0), 21);
}

Caller40::Changed Caller40::close(const Bytes& handle, const WireStateid& stateid, std::uint32_t seqid) {
  return change(handle, Ops().op(4).u32(seqid).stateid(stateid), 4);
}

Caller40::Changed Caller40::lock_new(const Bytes& handle, const WireStateid& open, std::uint32_t open_seqid,
                                     std::string_view owner, std::uint32_t lock_seqid, std::uint64_t offset,
                                     std::uint64_t length, bool reclaim) {
  return change(handle,
                Ops()
                    .op(12)
                    .u32(2)
                    .u32(reclaim ? 1 : 0)
                    .u64(offset)
                    .u64(length)
                    .u32(1)
                    .u32(open_seqid)
                    .stateid(open)
                    .u32(lock_seqid)
                    .u64(client)
                    .string(owner),
                12);
}

Caller40::Changed Caller40::lock(const Bytes& handle, const WireStateid& locks, std::uint32_t seqid,
                                 std::uint64_t offset, std::uint64_t length) {
  return change(handle, Ops().op(12).u32(2).u32(0).u64(offset).u64(length).u32(0).stateid(locks).u32(seqid), 12);
}

Caller40::Changed Caller40::unlock(const Bytes& handle, const WireStateid& locks, std::uint32_t seqid,
                                   std::uint64_t offset, std::uint64_t length) {
  return change(handle, Ops().op(14).u32(2).u32(seqid).stateid(locks).u64(offset).u64(length), 14);
}

Nfs4Status Caller40::write(const Bytes& handle, const WireStateid& stateid, std::string_view text) {
  return send(Ops().putfh(handle).op(38).stateid(stateid).u64(0).u32(2).string(text)).status;
}

}  // namespace stoa::test
