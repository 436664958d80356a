#include "tests/frontends/nfs/v4_door/compound_caller.h"

#include <gtest/gtest.h>

#include <atomic>

namespace stoa::test {
namespace {

std::atomic<std::uint32_t> g_xid{0x4000'0000};

Bytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

WireStateid read_wire_stateid(rpc::XdrReader& in) {
  WireStateid stateid{.seqid = in.u32()};
  stateid.other = copy(in.fixed(12));
  return stateid;
}

CompoundCaller::CompoundCaller(std::uint16_t port, std::string owner, std::uint64_t verifier, std::uint32_t uid)
    : wire(port), owner_(std::move(owner)), verifier_(verifier), uid_(uid), xid_(g_xid.fetch_add(0x10000)) {}

CompoundResult CompoundCaller::send(const Ops& ops, std::uint32_t minor) {
  Xdr arguments;
  arguments.string("").u32(minor).u32(ops.count);
  arguments.raw(ops.body.bytes());
  const CallSpec spec{.xid = xid_++, .program = 100003, .version = 4, .procedure = 1, .auth_flavor = 1,
                      .auth_body = auth_sys(uid_, uid_)};
  return {wire.call(spec, arguments)};
}

CompoundResult CompoundCaller::call(const Ops& ops, std::uint32_t minor) {
  Ops whole;
  whole.sequence(session, sequence++);
  whole.body.raw(ops.body.bytes());
  whole.count += ops.count;
  return send(whole, minor);
}

CompoundResult CompoundCaller::exchange(std::uint32_t flags) {
  return send(Ops().op(42).u64(verifier_).string(owner_).u32(flags).u32(0).u32(0));
}

CompoundResult CompoundCaller::create_session(std::uint64_t id, std::uint32_t number, std::uint32_t request_bytes) {
  Ops ops;
  ops.op(43).u64(id).u32(number).u32(0);
  for (int channel = 0; channel < 2; ++channel) {
    ops.u32(0).u32(request_bytes).u32(1 << 20).u32(4096).u32(16).u32(8).u32(0);
  }
  ops.u32(0x40000000).u32(1).u32(0);
  return send(ops);
}

void CompoundCaller::connect(bool reclaim_complete) {
  {
    auto exchanged = exchange();
    ASSERT_TRUE(exchanged.ok());
    exchanged.next(42);
    client = exchanged.in.u64();
    auto made = create_session(client, exchanged.in.u32());
    ASSERT_TRUE(made.ok());
    made.next(43);
    session = copy(made.in.fixed(16));
    sequence = 1;
  }
  if (reclaim_complete) {
    ASSERT_TRUE(call(Ops().op(58).u32(0)).ok());
  }
}

Bytes CompoundCaller::handle_of(std::initializer_list<std::string_view> path) {
  Ops ops;
  ops.putrootfh();
  for (const auto name : path) ops.lookup(name);
  auto result = call(ops.getfh());
  EXPECT_TRUE(result.ok()) << static_cast<std::uint32_t>(result.status);
  if (!result.ok()) return {};
  result.skip_sequence();
  result.next(24);
  for (std::size_t i = 0; i < path.size(); ++i) result.next(15);
  result.next(10);
  return copy(result.in.opaque(128));
}

CompoundCaller::Open CompoundCaller::open(const Bytes& dir, std::string_view name, std::uint32_t access, std::uint32_t deny,
                                          bool create, std::string_view open_owner, std::uint32_t minor) {
  Ops ops;
  ops.putfh(dir).op(18).u32(0).u32(access).u32(deny).u64(client).string(open_owner).u32(create ? 1 : 0);
  if (create) ops.u32(0).u32(0).u32(0);  // UNCHECKED4, no attributes
  ops.u32(0).string(name);
  auto result = call(ops.getfh(), minor);
  Open open{.status = result.status, .stateid = {}, .handle = {}};
  if (!result.ok()) return open;
  result.skip_sequence();
  result.next(22);
  result.next(18);
  open.stateid = read_wire_stateid(result.in);
  result.in.fixed(20);  // change_info4
  result.in.u32();      // rflags
  for (std::uint32_t words = result.in.u32(); words > 0; --words) result.in.u32();
  result.in.u32();  // no delegation
  result.next(10);
  open.handle = copy(result.in.opaque(128));
  return open;
}

Nfs4Status CompoundCaller::close(const Bytes& handle, const WireStateid& stateid) {
  return call(Ops().putfh(handle).op(4).u32(0).stateid(stateid)).status;
}

CompoundCaller::Lock CompoundCaller::lock(const Bytes& handle, const WireStateid& open, std::string_view lock_owner,
                                          std::uint64_t offset, std::uint64_t length, bool exclusive) {
  auto result = call(Ops().putfh(handle).op(12).u32(exclusive ? 2 : 1).u32(0).u64(offset).u64(length).u32(1).u32(0)
                         .stateid(open).u32(0).u64(client).string(lock_owner));
  Lock lock{.status = result.status, .stateid = {}};
  if (!result.ok()) return lock;
  result.skip_sequence();
  result.next(22);
  result.next(12);
  lock.stateid = read_wire_stateid(result.in);
  return lock;
}

CompoundCaller::Lock CompoundCaller::lock_again(const Bytes& handle, const WireStateid& locks, std::uint64_t offset,
                                                std::uint64_t length, bool exclusive) {
  auto result = call(Ops().putfh(handle).op(12).u32(exclusive ? 2 : 1).u32(0).u64(offset).u64(length).u32(0)
                         .stateid(locks).u32(0));
  Lock lock{.status = result.status, .stateid = {}};
  if (!result.ok()) return lock;
  result.skip_sequence();
  result.next(22);
  result.next(12);
  lock.stateid = read_wire_stateid(result.in);
  return lock;
}

Nfs4Status CompoundCaller::unlock(const Bytes& handle, WireStateid& locks, std::uint64_t offset, std::uint64_t length) {
  auto result = call(Ops().putfh(handle).op(14).u32(2).u32(0).stateid(locks).u64(offset).u64(length));
  if (result.ok()) {
    result.skip_sequence();
    result.next(22);
    result.next(14);
    locks = read_wire_stateid(result.in);
  }
  return result.status;
}

Nfs4Status CompoundCaller::write(const Bytes& handle, const WireStateid& stateid, std::string_view text) {
  return call(Ops().putfh(handle).op(38).stateid(stateid).u64(0).u32(2).string(text)).status;
}

std::optional<std::string> CompoundCaller::read(const Bytes& handle, const WireStateid& stateid) {
  auto result = call(Ops().putfh(handle).op(25).stateid(stateid).u64(0).u32(4096));
  if (!result.ok()) return std::nullopt;
  result.skip_sequence();
  result.next(22);
  result.next(25);
  result.in.boolean();
  return std::string(result.in.string(4096));
}

}  // namespace stoa::test
