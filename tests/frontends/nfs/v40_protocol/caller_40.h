// A client of NFSv4.0, by hand: no session, seqids given by the test.
#pragma once

#include "tests/frontends/nfs/share_access.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {

class Caller40 {
 public:
  Caller40(std::uint16_t port, std::string id, std::uint64_t verifier = 1, std::uint32_t uid = 0);

  // With a new transaction number, or with the last one again.
  CompoundResult send(const Ops& ops);
  CompoundResult send_again(const Ops& ops);

  CompoundResult set_client(std::string_view address);
  CompoundResult set_client() { return set_client(callback_address); }
  struct Set {
    Nfs4Status status{};
    std::uint64_t client = 0;
    std::uint64_t confirm = 0;
  };
  Set set();
  Nfs4Status confirm(const Set& set) { return confirm(set.client, set.confirm); }
  Nfs4Status confirm(std::uint64_t id, std::uint64_t verifier) {
    return send(Ops().op(36).u64(id).u64(verifier)).status;
  }
  Nfs4Status renew(std::uint64_t id) { return send(Ops().op(30).u64(id)).status; }
  void connect();  // both, into `client`

  Bytes handle_of(std::initializer_list<std::string_view> path);

  struct How {
    std::uint32_t access = 3;
    std::uint32_t deny = 0;
    bool create = true;
    bool guarded = false;
    std::string_view owner = "owner";
    bool reclaim = false;    // CLAIM_PREVIOUS of the file itself
    std::uint32_t held = 0;  // by it: the delegation that was held
  };
  Ops open_ops(const Bytes& dir, std::string_view name, std::uint32_t seqid, const How& how) const;
  struct Open {
    Nfs4Status status{};
    WireStateid stateid;
    std::uint32_t flags = 0;
    Bytes handle;
    WireDelegation delegation{};
    bool must_confirm() const { return (flags & 2) != 0; }
  };
  static Open read_open(CompoundResult& result);
  Open open(const Bytes& dir, std::string_view name, std::uint32_t seqid, const How& how);
  Open open(const Bytes& dir, std::string_view name, std::uint32_t seqid) { return open(dir, name, seqid, How{}); }
  // OPEN with `seqid` and, where it must be, OPEN_CONFIRM with the next.
  Open open_confirmed(const Bytes& dir, std::string_view name, std::uint32_t seqid, const How& how);
  Open open_confirmed(const Bytes& dir, std::string_view name, std::uint32_t seqid) {
    return open_confirmed(dir, name, seqid, How{});
  }

  // Operations that answer with a stateid.
  struct Changed {
    Nfs4Status status{};
    WireStateid stateid;
  };
  Changed open_confirm(const Bytes& handle, const WireStateid& stateid, std::uint32_t seqid);
  Changed downgrade(const Bytes& handle, const WireStateid& stateid, std::uint32_t seqid, std::uint32_t access);
  Changed close(const Bytes& handle, const WireStateid& stateid, std::uint32_t seqid);
  Changed lock_new(const Bytes& handle, const WireStateid& open, std::uint32_t open_seqid, std::string_view owner,
                   std::uint32_t lock_seqid, std::uint64_t offset, std::uint64_t length, bool reclaim = false);
  Changed lock(const Bytes& handle, const WireStateid& locks, std::uint32_t seqid, std::uint64_t offset,
               std::uint64_t length);
  Changed unlock(const Bytes& handle, const WireStateid& locks, std::uint32_t seqid, std::uint64_t offset,
                 std::uint64_t length);
  Nfs4Status release(std::string_view lock_owner) { return send(Ops().op(39).u64(client).string(lock_owner)).status; }
  Nfs4Status write(const Bytes& handle, const WireStateid& stateid, std::string_view text);

  std::string callback_address = "127.0.0.1.4.1";
  WireClient wire;
  std::uint64_t client = 0;

 private:
  Changed change(const Bytes& handle, const Ops& operation, std::uint32_t number);

  const std::string id_;
  const std::uint64_t verifier_;
  const std::uint32_t uid_;
  std::uint32_t xid_;
};

}  // namespace stoa::test
