#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/frontends/nfs/listed_errors.h"

namespace stoa::test {
namespace {

std::atomic<std::uint32_t> g_xid{0x4000'0000};

Bytes copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

WireStateid read_wire_stateid(rpc::XdrReader& in) {
  WireStateid stateid{.seqid = in.u32()};
  stateid.other = copy(in.fixed(12));
  return stateid;
}

CompoundResult expect_listed(const Ops& ops, std::uint32_t minor, CompoundResult result) {
  if (result.good && result.count > 0 && result.count <= ops.numbers.size()) {
    const std::uint32_t last = ops.numbers[result.count - 1];
    EXPECT_TRUE(is_listed(minor, last, result.status))
        << "operation " << last << " of 4." << minor << " has no error " << static_cast<std::uint32_t>(result.status);
  }
  return result;
}

CompoundCaller::CompoundCaller(std::uint16_t port, std::string owner, std::uint64_t verifier, std::uint32_t uid,
                               std::uint8_t host)
    : wire_(std::make_unique<WireClient>(port, host)),
      owner_(std::move(owner)),
      verifier_(verifier),
      uid_(uid),
      xid_(g_xid.fetch_add(0x10000)) {}

CompoundResult CompoundCaller::send(const Ops& ops, std::uint32_t minor) {
  if (!post(ops, minor)) return {std::nullopt};
  return expect_listed(ops, minor, take());
}

bool CompoundCaller::post(const Ops& ops, std::uint32_t minor) {
  Xdr arguments;
  arguments.string("").u32(minor).u32(ops.count);
  arguments.raw(ops.body.bytes());
  const CallSpec spec{.xid = xid_++,
                      .program = 100003,
                      .version = 4,
                      .procedure = 1,
                      .auth_flavor = 1,
                      .auth_body = auth_sys(uid_, uid_)};
  return wire_->send_record(encode(spec, arguments));
}

CompoundResult CompoundCaller::take() {
  return {receive()};
}

std::optional<WireReply> CompoundCaller::receive() {
  for (;;) {
    const auto record = wire_->receive_record();
    if (!record || record->size() < 8) return std::nullopt;
    if (rpc::load_be32(record->data() + 4) == rpc::kReply) return WireClient::parse(*record);
    answer_callback(*record);
  }
}

CompoundResult CompoundCaller::call(const Ops& ops, std::uint32_t minor) {
  return send(Ops().sequence(session, sequence++).more(ops), minor);
}

CompoundResult CompoundCaller::exchange(std::uint32_t flags) {
  return send(Ops().op(42).u64(verifier_).string(owner_).u32(flags).u32(0).u32(0), minor_version);
}

CompoundResult CompoundCaller::create_session(std::uint64_t id, std::uint32_t number, std::uint32_t request_bytes) {
  Ops ops;
  ops.op(43).u64(id).u32(number).u32(back_channel ? 2 : 0);
  for (int channel = 0; channel < 2; ++channel) {
    ops.u32(0).u32(request_bytes).u32(1 << 20).u32(4096).u32(16).u32(slots).u32(0);
  }
  ops.u32(0x40000000).u32(1).u32(0);
  return send(ops, minor_version);
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

std::uint32_t CompoundCaller::status_flags() {
  auto result = call({});
  EXPECT_TRUE(result.ok());
  result.next(53);
  result.in.fixed(16 + 16);
  return result.in.u32();
}

// --- connections and the back channel

std::unique_ptr<WireClient> CompoundCaller::reconnect(std::uint16_t port) {
  return std::exchange(wire_, std::make_unique<WireClient>(port));
}

Nfs4Status CompoundCaller::bind_connection(std::uint32_t direction) {
  return send(Ops().op(41).fixed(session).u32(direction).u32(0)).status;
}

bool CompoundCaller::wait_for_callback() {
  const auto record = wire_->receive_record();
  if (record) answer_callback(*record);
  if (!record) ADD_FAILURE() << "the connection was closed before a callback came";
  return record.has_value();
}

WireRecall CompoundCaller::take_recall() {
  while (recalls_.empty()) {
    if (!wait_for_callback()) return {};
  }
  WireRecall first = std::move(recalls_.front());
  recalls_.pop_front();
  return first;
}

WireOffload CompoundCaller::take_offload() {
  while (offloads_.empty()) {
    if (!wait_for_callback()) return {};
  }
  WireOffload first = std::move(offloads_.front());
  offloads_.pop_front();
  return first;
}

WireLockNotice CompoundCaller::take_lock_notice() {
  while (lock_notices_.empty()) {
    if (!wait_for_callback()) return {};
  }
  WireLockNotice first = std::move(lock_notices_.front());
  lock_notices_.pop_front();
  return first;
}

// CB_COMPOUND of CB_SEQUENCE and CB_GETATTR, CB_RECALL, CB_NOTIFY_LOCK or CB_OFFLOAD (RFC 8881 20.9, 20.1, 20.2, 20.11,
// RFC 7862 16.1): all that this server sends.
void CompoundCaller::answer_callback(std::span<const std::byte> record) {
  rpc::CallHeader header;
  ASSERT_TRUE(rpc::decode_call(record, header));
  ASSERT_EQ(header.auth, rpc::AuthStatus::kOk);
  ASSERT_EQ(header.version, 1u);
  ASSERT_EQ(header.procedure, 1u);
  rpc::XdrReader in(header.arguments);
  in.opaque(1024);
  ASSERT_EQ(in.u32(), minor_version);
  in.u32();
  ASSERT_EQ(in.u32(), 2u);
  ASSERT_EQ(in.u32(), 11u);
  const Bytes id = copy(in.fixed(16));
  ASSERT_EQ(id, session);
  const std::uint32_t number = in.u32();
  const std::uint32_t slot = in.u32();
  ASSERT_LT(slot, slots);
  callbacks_seen_.resize(slots);
  in.u32();
  in.u32();
  ASSERT_EQ(in.u32(), 0u);  // referring calls
  const std::uint32_t operation = in.u32();
  ASSERT_TRUE(operation == 3 || operation == 4 || operation == 13 || operation == 15);
  WireRecall recall{.program = header.program};
  WireLockNotice lock_notice;
  WireOffload offload;
  if (operation == 3) {
    in.opaque(128);
    ASSERT_EQ(in.u32(), 1u);
    ASSERT_EQ(in.u32(), 1u << 3 | 1u << 4);
  } else if (operation == 4) {
    recall.stateid = read_wire_stateid(in);
    in.u32();
    recall.handle = copy(in.opaque(128));
  } else if (operation == 13) {
    lock_notice.handle = copy(in.opaque(128));
    lock_notice.client = in.u64();
    lock_notice.owner = in.string(1024);
  } else {
    offload.handle = copy(in.opaque(128));
    offload.stateid = read_wire_stateid(in);
    offload.status = static_cast<Nfs4Status>(in.u32());
    if (offload.status == Nfs4Status::kOk) {
      ASSERT_EQ(in.u32(), 0u);  // callback ids
    }
    offload.bytes = in.u64();
    if (offload.status == Nfs4Status::kOk) in.fixed(4 + 8);
  }
  ASSERT_TRUE(in.ok() && in.left() == 0);
  if (number == callbacks_seen_[slot]) {
    const auto uncached = static_cast<std::uint32_t>(Nfs4Status::kRetryUncachedRep);
    Xdr reply;
    reply.u32(header.xid).u32(rpc::kReply).u32(0).u32(0).u32(0).u32(0);
    reply.u32(uncached).string("").u32(1).u32(11).u32(uncached);
    ASSERT_TRUE(wire_->send_record(reply));
    return;
  }
  ASSERT_EQ(number, callbacks_seen_[slot] + 1);
  callbacks_seen_[slot] = number;

  const bool delay = callbacks == Callbacks::kDelayOnce;
  if (!delay && operation == 4) recalls_.push_back(std::move(recall));
  if (!delay && operation == 13) lock_notices_.push_back(std::move(lock_notice));
  if (!delay && operation == 15) offloads_.push_back(std::move(offload));
  if (callbacks == Callbacks::kIgnore) return;
  if (delay) callbacks = Callbacks::kTake;

  if (operation == 3) ++asked;
  const bool refused = operation == 3 && !told;
  const auto status = static_cast<std::uint32_t>(delay     ? Nfs4Status::kDelay
                                                 : refused ? Nfs4Status::kBadHandle
                                                           : Nfs4Status::kOk);
  Xdr reply;
  reply.u32(header.xid).u32(rpc::kReply).u32(0).u32(0).u32(0).u32(0);
  reply.u32(status).string("").u32(2);
  reply.u32(11).u32(0).raw(id).u32(number).u32(slot).u32(slots - 1).u32(slots - 1);
  reply.u32(operation).u32(status);
  if (operation == 3 && !delay && told) reply.u32(1).u32(1u << 3 | 1u << 4).u32(16).u64(told->change).u64(told->size);
  ASSERT_TRUE(wire_->send_record(reply));
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

CompoundCaller::Open CompoundCaller::open(const Bytes& dir, std::string_view name, std::uint32_t access,
                                          std::uint32_t deny, bool create, std::string_view open_owner,
                                          std::uint32_t minor) {
  Ops ops;
  ops.putfh(dir).op(18).u32(0).u32(access).u32(deny).u64(client).string(open_owner).u32(create ? 1 : 0);
  if (create) ops.u32(0).u32(0).u32(0);  // UNCHECKED4, no attributes
  ops.u32(0).string(name);
  auto result = call(ops.getfh(), minor);
  return parse_open(result);
}

CompoundCaller::Open CompoundCaller::open_claim(const Bytes& current, const Ops& claim, std::uint32_t access,
                                                std::string_view open_owner) {
  Ops ops;
  ops.putfh(current).op(18).u32(0).u32(access).u32(0).u64(client).string(open_owner).u32(0).more(claim);
  auto result = call(ops.getfh());
  return parse_open(result);
}

CompoundCaller::Open CompoundCaller::parse_open(CompoundResult& result) {
  Open open{.status = result.status, .stateid = {}, .handle = {}};
  if (!result.ok()) return open;
  result.skip_sequence();
  result.next(22);
  result.next(18);
  open.stateid = read_wire_stateid(result.in);
  result.in.fixed(20);  // change_info4
  const std::uint32_t flags = result.in.u32();
  for (std::uint32_t words = result.in.u32(); words > 0; --words) result.in.u32();
  open.delegation = read_delegation(result.in);
  result.next(10);
  open.handle = copy(result.in.opaque(128));
  open.flags = flags;
  return open;
}

WireDelegation read_delegation(rpc::XdrReader& in) {
  WireDelegation delegation{.type = in.u32()};
  if (delegation.type == 3) {
    delegation.why = in.u32();
    if (delegation.why == 1 || delegation.why == 2) in.boolean();
  } else if (delegation.type != 0) {
    delegation.stateid = read_wire_stateid(in);
    in.boolean();                               // recalled at once
    if (delegation.type == 2) in.fixed(4 + 8);  // nfs_space_limit4
    in.fixed(4 + 4 + 4);                        // nfsace4
    in.opaque(1024);
  }
  return delegation;
}

Nfs4Status CompoundCaller::return_delegation(const Bytes& handle, const WireStateid& stateid) {
  return call(Ops().putfh(handle).op(8).stateid(stateid)).status;
}

Nfs4Status CompoundCaller::close(const Bytes& handle, const WireStateid& stateid) {
  return call(Ops().putfh(handle).op(4).u32(0).stateid(stateid)).status;
}

CompoundCaller::Lock CompoundCaller::lock(const Bytes& handle, const WireStateid& open, std::string_view lock_owner,
                                          std::uint64_t offset, std::uint64_t length, bool exclusive, bool reclaim,
                                          bool waits) {
  auto result = call(Ops()
                         .putfh(handle)
                         .op(12)
                         .u32((exclusive ? 2 : 1) + (waits ? 2 : 0))
                         .u32(reclaim ? 1 : 0)
                         .u64(offset)
                         .u64(length)
                         .u32(1)
                         .u32(0)
                         .stateid(open)
                         .u32(0)
                         .u64(client)
                         .string(lock_owner));
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
  auto result = call(
      Ops().putfh(handle).op(12).u32(exclusive ? 2 : 1).u32(0).u64(offset).u64(length).u32(0).stateid(locks).u32(0));
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
