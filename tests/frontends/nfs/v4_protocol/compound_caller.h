// COMPOUNDs by hand, over WireClient: a client of NFSv4.1 with one session, and the other end of its back channel.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontends/nfs/v4/status.h"
#include "tests/frontends/nfs/share_access.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::test {

using nfs4::Nfs4Status;

struct WireStateid {
  std::uint32_t seqid = 0;
  Bytes other = Bytes(12);
};

// The operations of a COMPOUND in wire format.
class Ops {
 public:
  Ops& op(std::uint32_t number) {
    ++count;
    numbers.push_back(number);
    body.u32(number);
    return *this;
  }
  Ops& u32(std::uint32_t v) {
    body.u32(v);
    return *this;
  }
  Ops& u64(std::uint64_t v) {
    body.u64(v);
    return *this;
  }
  Ops& opaque(const Bytes& v) {
    body.opaque(v);
    return *this;
  }
  Ops& string(std::string_view v) {
    body.string(v);
    return *this;
  }
  Ops& fixed(const Bytes& v) {
    body.raw(v);
    return *this;
  }
  Ops& stateid(const WireStateid& v) {
    body.u32(v.seqid);
    body.raw(v.other);
    return *this;
  }
  Ops& more(const Ops& v) {
    body.raw(v.body.bytes());
    count += v.count;
    numbers.insert(numbers.end(), v.numbers.begin(), v.numbers.end());
    return *this;
  }

  Ops& putrootfh() { return op(24); }
  Ops& putfh(const Bytes& handle) { return op(22).opaque(handle); }
  Ops& getfh() { return op(10); }
  Ops& lookup(std::string_view name) { return op(15).string(name); }
  Ops& sequence(const Bytes& session, std::uint32_t sequence, std::uint32_t slot = 0, bool cache = true) {
    return op(53).fixed(session).u32(sequence).u32(slot).u32(slot).u32(cache ? 1 : 0);
  }

  Xdr body;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> numbers;
};

// `in` is positioned behind the number of results.
struct CompoundResult {
  CompoundResult(std::optional<WireReply> r)
      : reply(r ? std::move(*r) : WireReply{.reply_status = 99}), in(reply.results) {
    good = reply.reply_status == 0 && reply.accept_status == 0;
    status = good ? static_cast<Nfs4Status>(in.u32()) : static_cast<Nfs4Status>(77'777);
    in.opaque(1024);
    count = in.u32();
  }
  CompoundResult(const CompoundResult&) = delete;
  CompoundResult(CompoundResult&&) = default;  // the bytes that `in` reads stay where they are
  bool ok() const { return good && status == Nfs4Status::kOk; }
  // Steps into the next result; its body follows in `in`.
  Nfs4Status next(std::uint32_t number) {
    const std::uint32_t found = in.u32();
    const auto result = static_cast<Nfs4Status>(in.u32());
    return found == number && in.ok() ? result : static_cast<Nfs4Status>(88'888);
  }
  void skip_sequence() {
    next(53);
    in.fixed(16 + 20);
  }
  WireReply reply;
  rpc::XdrReader in;
  bool good = false;
  Nfs4Status status{};
  std::uint32_t count = 0;
};

// Fails the test when the operation that failed has no such error in its list (listed_errors.h).
CompoundResult expect_listed(const Ops& ops, std::uint32_t minor, CompoundResult result);

// The delegation in OPEN's reply (open_delegation4).
struct WireDelegation {
  std::uint32_t type = 0;  // 0 none, 1 read, 2 write, 3 none, and why
  WireStateid stateid{};
  std::uint32_t why = 0;
};
WireDelegation read_delegation(rpc::XdrReader& in);

// A CB_RECALL as the client got it.
struct WireRecall {
  std::uint32_t program = 0;
  WireStateid stateid{};
  Bytes handle{};
};

// A CB_OFFLOAD as the client got it.
struct WireOffload {
  Bytes handle{};
  WireStateid stateid{};
  Nfs4Status status{};
  std::uint64_t bytes = 0;
};

// A CB_NOTIFY_LOCK as the client got it.
struct WireLockNotice {
  Bytes handle{};
  std::uint64_t client = 0;
  std::string owner{};
};

// `back_channel`: the session gets one over its own connection. Callbacks are answered while a reply is waited for.
class CompoundCaller {
 public:
  CompoundCaller(std::uint16_t port, std::string owner, std::uint64_t verifier = 1, std::uint32_t uid = 0,
                 std::uint8_t host = 1);

  CompoundResult send(const Ops& ops, std::uint32_t minor = 1);
  // The same in two steps. False: the connection was closed.
  bool post(const Ops& ops, std::uint32_t minor = 1);
  CompoundResult take();
  // Behind a SEQUENCE on slot 0, with the next sequence number.
  CompoundResult call(const Ops& ops, std::uint32_t minor = 1);

  CompoundResult exchange(std::uint32_t flags = 0);
  // EXCHANGE_ID, CREATE_SESSION, RECLAIM_COMPLETE.
  void connect(bool reclaim_complete = true);
  CompoundResult create_session(std::uint64_t client, std::uint32_t sequence, std::uint32_t request_bytes = 1 << 20);
  // sr_status_flags of an empty SEQUENCE.
  std::uint32_t status_flags();

  // --- connections and the back channel
  enum class Callbacks { kTake, kDelayOnce, kIgnore };  // NFS4_OK; NFS4ERR_DELAY, then NFS4_OK; no answer
  Callbacks callbacks = Callbacks::kTake;
  // The answer to CB_GETATTR; absent: NFS4ERR_BADHANDLE. And the number that came.
  struct Told {
    std::uint64_t change, size;
  };
  std::optional<Told> told;
  int asked = 0;
  bool back_channel = false;
  std::uint32_t slots = 8;          // the requested ones
  std::uint32_t minor_version = 1;  // of the session
  // Over a new connection from now on; gives the old one, still open.
  std::unique_ptr<WireClient> reconnect(std::uint16_t port);
  Nfs4Status bind_connection(std::uint32_t direction = 3);
  // The oldest recall that was not taken yet; waits for one.
  WireRecall take_recall();
  bool recalled() const { return !recalls_.empty(); }
  WireOffload take_offload();
  WireLockNotice take_lock_notice();
  bool lock_noticed() const { return !lock_notices_.empty(); }

  Bytes handle_of(std::initializer_list<std::string_view> path);  // from the root
  struct Open {
    Nfs4Status status{};
    WireStateid stateid;
    Bytes handle;
    std::uint32_t flags = 0;
    WireDelegation delegation{};
  };
  // UNCHECKED create in `dir`, or of an existing file without `create`.
  Open open(const Bytes& dir, std::string_view name, std::uint32_t access, std::uint32_t deny = 0, bool create = true,
            std::string_view open_owner = "owner", std::uint32_t minor = 1);
  // Without creating: `claim` is an open_claim4.
  Open open_claim(const Bytes& current, const Ops& claim, std::uint32_t access, std::string_view open_owner = "owner");
  Nfs4Status return_delegation(const Bytes& handle, const WireStateid& stateid);
  Nfs4Status close(const Bytes& handle, const WireStateid& stateid);
  struct Lock {
    Nfs4Status status{};
    WireStateid stateid;
  };
  // `waits`: READW_LT, WRITEW_LT.
  Lock lock(const Bytes& handle, const WireStateid& open, std::string_view lock_owner, std::uint64_t offset,
            std::uint64_t length, bool exclusive = true, bool reclaim = false, bool waits = false);
  Lock lock_again(const Bytes& handle, const WireStateid& locks, std::uint64_t offset, std::uint64_t length,
                  bool exclusive = true);
  Nfs4Status unlock(const Bytes& handle, WireStateid& locks, std::uint64_t offset, std::uint64_t length);
  Nfs4Status write(const Bytes& handle, const WireStateid& stateid, std::string_view text);
  std::optional<std::string> read(const Bytes& handle, const WireStateid& stateid);

  std::uint64_t client = 0;
  Bytes session;
  std::uint32_t sequence = 1;

 private:
  Open parse_open(CompoundResult& result);
  std::optional<WireReply> receive();
  void answer_callback(std::span<const std::byte> record);
  bool wait_for_callback();

  std::unique_ptr<WireClient> wire_;
  std::deque<WireRecall> recalls_;
  std::deque<WireOffload> offloads_;
  std::deque<WireLockNotice> lock_notices_;
  std::vector<std::uint32_t> callbacks_seen_;  // by slot: sequence number of the last
  std::string owner_;
  std::uint64_t verifier_;
  std::uint32_t uid_;
  std::uint32_t xid_;
};

WireStateid read_wire_stateid(rpc::XdrReader& in);

}  // namespace stoa::test
