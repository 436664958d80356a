// NFSv4.0, 4.1 and 4.2: as compounds by hand, of a client that opens, works and closes.
#include <chrono>

#include "tests/frontends/nfs/v40_protocol/caller_40.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"
#include "tests/torture/protocol.h"

namespace stoa::torture {
namespace {

using nfs4::Nfs4Status;
using test::Bytes;
using test::CompoundResult;
using test::Ops;
using test::WireStateid;

constexpr std::uint32_t kCloseOp = 4, kCommitOp = 5, kCreateOp = 6, kOpenOp = 18, kPutfhOp = 22, kReadOp = 25,
                        kRemoveOp = 28, kSetattrOp = 34, kWriteOp = 38, kDeallocateOp = 62, kReadPlusOp = 68,
                        kSetxattrOp = 73;
constexpr std::uint32_t kReadWay = 1, kWriteWay = 2, kNoDelegation = 0x400;
constexpr std::uint32_t kUnstable = 0, kFileSync = 2;
constexpr std::uint32_t kDirectoryType = 2, kSymlinkType = 5;
constexpr std::uint32_t kSizeBit = 1u << 4;
constexpr std::size_t kOpaqueMax = 4u << 20;

Answer answer_of(const CompoundResult& result) {
  if (!result.good) return {Said::kLost, "connection lost"};
  const std::string text = "NFS4 status " + std::to_string(static_cast<std::uint32_t>(result.status));
  switch (result.status) {
    case Nfs4Status::kOk:
      return {Said::kOk, "ok"};
    case Nfs4Status::kNoEnt:
      return {Said::kMissing, text};
    case Nfs4Status::kStale:
      return {Said::kStale, text};
    case Nfs4Status::kNoSpc:
    case Nfs4Status::kDQuot:
      return {Said::kNoRoom, text};
    case Nfs4Status::kIo:
    case Nfs4Status::kServerFault:
      return {Said::kFailed, text};
    case Nfs4Status::kDelay:
    case Nfs4Status::kGrace:
      return {Said::kBusy, text};
    default:
      return {Said::kOther, text};
  }
}

// The differences of the two kinds of NFSv4 in sending a compound and holding an open.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual CompoundResult call(const Ops& ops) = 0;
  // Operations that may run twice, with answers larger than a session's reply cache.
  virtual CompoundResult look(const Ops& ops) { return call(ops); }
  virtual void skip_sequence(CompoundResult& result) = 0;
  struct Open {
    Answer answer;
    WireStateid stateid{};
    Bytes handle{};
  };
  virtual Open open(const Bytes& dir, const std::string& name, std::uint32_t access, bool create) = 0;
  virtual Answer close(const Open& open) = 0;
};

// Version 4.0: each open has an owner of its own, so that its sequence begins with 1.
class Caller0 final : public Caller {
 public:
  Caller0(std::uint16_t port, const std::string& client, std::uint64_t verifier) : caller_(port, client, verifier) {
    caller_.connect();
  }
  bool connected() const { return caller_.client != 0; }
  CompoundResult call(const Ops& ops) override { return caller_.send(ops); }
  void skip_sequence(CompoundResult&) override {}
  Open open(const Bytes& dir, const std::string& name, std::uint32_t access, bool create) override {
    const std::string owner = "o" + std::to_string(++opens_);
    CompoundResult result = call(caller_.open_ops(dir, name, 1, {.access = access, .create = create, .owner = owner}));
    Open open{answer_of(result)};
    if (!open.answer.ok()) return open;
    const test::Caller40::Open made = test::Caller40::read_open(result);
    open.handle = made.handle;
    open.stateid = made.stateid;
    sequence_ = 2;
    if (!made.must_confirm()) return open;
    CompoundResult confirmed = call(Ops().putfh(open.handle).op(20).stateid(open.stateid).u32(sequence_++));
    open.answer = answer_of(confirmed);
    if (!open.answer.ok()) return open;
    confirmed.next(kPutfhOp);
    confirmed.next(20);
    open.stateid = test::read_wire_stateid(confirmed.in);
    return open;
  }
  Answer close(const Open& open) override {
    return answer_of(call(Ops().putfh(open.handle).op(kCloseOp).u32(sequence_).stateid(open.stateid)));
  }

 private:
  test::Caller40 caller_;
  std::uint64_t opens_ = 0;
  std::uint32_t sequence_ = 0;
};

class Caller1 final : public Caller {
 public:
  Caller1(std::uint16_t port, const std::string& client, std::uint64_t verifier, unsigned minor)
      : caller_(port, client, verifier), minor_(minor) {
    caller_.connect();
  }
  bool connected() const { return !caller_.session.empty(); }
  CompoundResult call(const Ops& ops) override { return caller_.call(ops, minor_); }
  CompoundResult look(const Ops& ops) override {
    return caller_.send(Ops().sequence(caller_.session, caller_.sequence++, 0, false).more(ops), minor_);
  }
  void skip_sequence(CompoundResult& result) override { result.skip_sequence(); }
  Open open(const Bytes& dir, const std::string& name, std::uint32_t access, bool create) override {
    Ops ops;
    ops.putfh(dir)
        .op(kOpenOp)
        .u32(0)
        .u32(access | kNoDelegation)
        .u32(0)
        .u64(caller_.client)
        .string("owner")
        .u32(create ? 1 : 0);
    if (create) ops.u32(0).u32(0).u32(0);  // UNCHECKED4, no attributes
    ops.u32(0).string(name);
    CompoundResult result = call(ops.getfh());
    Open open{answer_of(result)};
    if (!open.answer.ok()) return open;
    result.skip_sequence();
    const test::Caller40::Open made = test::Caller40::read_open(result);
    open.handle = made.handle;
    open.stateid = made.stateid;
    return open;
  }
  Answer close(const Open& open) override {
    return answer_of(call(Ops().putfh(open.handle).op(kCloseOp).u32(0).stateid(open.stateid)));
  }

 private:
  test::CompoundCaller caller_;
  const unsigned minor_;
};

class Nfs4 final : public Protocol {
 public:
  Nfs4(std::unique_ptr<Caller> caller, unsigned minor, Bytes root)
      : caller_(std::move(caller)), minor_(minor), root_(std::move(root)) {}

  Answer read(const std::string& name, std::uint64_t offset, std::uint32_t count) override {
    return read_by(kReadOp, name, offset, count);
  }
  Answer read_plus(const std::string& name, std::uint64_t offset, std::uint32_t count) override {
    return minor_ < 2 ? Answer{Said::kNoSuchThing} : read_by(kReadPlusOp, name, offset, count);
  }
  Answer remove(const std::string& name) override {
    return answer_of(caller_->call(Ops().putfh(root_).op(kRemoveOp).string(name)));
  }
  Answer make(const std::string& name) override {
    return opened(name, kWriteWay, true, [](const Caller::Open& open) { return open.answer; });
  }
  Answer write(const std::string& name, std::uint64_t offset, std::string_view bytes, bool stable) override {
    return opened(name, kWriteWay, false, [&](const Caller::Open& open) {
      CompoundResult result = caller_->call(Ops()
                                                .putfh(open.handle)
                                                .op(kWriteOp)
                                                .stateid(open.stateid)
                                                .u64(offset)
                                                .u32(stable ? kFileSync : kUnstable)
                                                .string(bytes));
      Answer answer = answer_of(result);
      if (!answer.ok()) return answer;
      caller_->skip_sequence(result);
      result.next(kPutfhOp);
      result.next(kWriteOp);
      if (const std::uint32_t count = result.in.u32(); count != bytes.size())
        return Answer{Said::kOther, "wrote " + std::to_string(count) + " bytes only"};
      return answer;
    });
  }
  Answer commit(const std::string& name) override {
    return opened(name, kReadWay, false, [&](const Caller::Open& open) {
      return answer_of(caller_->call(Ops().putfh(open.handle).op(kCommitOp).u64(0).u32(0)));
    });
  }
  Answer truncate(const std::string& name, std::uint64_t size) override {
    return opened(name, kWriteWay, false, [&](const Caller::Open& open) {
      return answer_of(caller_->call(
          Ops().putfh(open.handle).op(kSetattrOp).stateid(open.stateid).u32(1).u32(kSizeBit).u32(8).u64(size)));
    });
  }
  Answer punch(const std::string& name, std::uint64_t offset, std::uint64_t length) override {
    if (minor_ < 2) return {Said::kNoSuchThing};
    return opened(name, kWriteWay, false, [&](const Caller::Open& open) {
      return answer_of(
          caller_->call(Ops().putfh(open.handle).op(kDeallocateOp).stateid(open.stateid).u64(offset).u64(length)));
    });
  }
  Answer make_directory(const std::string& name) override {
    return answer_of(caller_->call(Ops().putfh(root_).op(kCreateOp).u32(kDirectoryType).string(name).u32(0).u32(0)));
  }
  Answer remove_directory(const std::string& name) override { return remove(name); }
  Answer make_symlink(const std::string& name, const std::string& target) override {
    return answer_of(
        caller_->call(Ops().putfh(root_).op(kCreateOp).u32(kSymlinkType).string(target).string(name).u32(0).u32(0)));
  }
  Answer set_attribute(const std::string& name, const std::string& attribute, std::string_view value) override {
    if (minor_ < 2) return {Said::kNoSuchThing};
    return answer_of(
        caller_->call(Ops().putfh(root_).lookup(name).op(kSetxattrOp).u32(0).string(attribute).string(value)));
  }

 private:
  template <class Do>
  Answer opened(const std::string& name, std::uint32_t access, bool create, Do act) {
    const Caller::Open open = caller_->open(root_, name, access, create);
    if (!open.answer.ok()) return open.answer;
    Answer answer = act(open);
    if (answer.said == Said::kLost) return answer;
    const Answer closed = caller_->close(open);
    return closed.ok() || !answer.ok() ? answer
                                       : Answer{closed.said == Said::kLost ? Said::kOk : closed.said,
                                                "CLOSE: " + closed.text, answer.bytes, answer.end};
  }
  Answer read_by(std::uint32_t op, const std::string& name, std::uint64_t offset, std::uint32_t count) {
    return opened(name, kReadWay, false, [&](const Caller::Open& open) {
      CompoundResult result =
          caller_->look(Ops().putfh(open.handle).op(op).stateid(open.stateid).u64(offset).u32(count));
      Answer answer = answer_of(result);
      if (!answer.ok()) return answer;
      caller_->skip_sequence(result);
      result.next(kPutfhOp);
      result.next(op);
      answer.end = result.in.boolean();
      if (op == kReadPlusOp) {
        read_pieces(result, offset, answer.bytes);
      } else {
        answer.bytes = result.in.string(kOpaqueMax);
      }
      if (!result.in.ok()) return Answer{Said::kOther, "the reply cannot be read"};
      return answer;
    });
  }
  // read_plus_content<> (RFC 7862 15.10): data, and holes as zeros.
  static void read_pieces(CompoundResult& result, std::uint64_t offset, std::string& bytes) {
    for (std::uint32_t pieces = result.in.u32(); pieces > 0 && result.in.ok(); --pieces) {
      const bool hole = result.in.u32() == 1;
      const std::uint64_t at = result.in.u64();
      if (at != offset + bytes.size()) {
        result.in.reject();
      } else if (hole) {
        const std::uint64_t length = result.in.u64();
        if (length > kOpaqueMax)
          result.in.reject();
        else
          bytes.append(length, '\0');
      } else {
        bytes += result.in.string(kOpaqueMax);
      }
    }
  }

  std::unique_ptr<Caller> caller_;
  const unsigned minor_;
  const Bytes root_;
};

}  // namespace

std::unique_ptr<Protocol> connect_nfs4(const clients::ServerProcess& server, const std::string& client,
                                       const std::string& name, unsigned minor) {
  // Each connection is of a machine that has restarted.
  const auto verifier = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  const auto port = static_cast<std::uint16_t>(server.nfs().nfs_port);
  const std::string machine = client + " 4." + std::to_string(minor);
  std::unique_ptr<Caller> caller;
  bool connected = false;
  if (minor == 0) {
    auto made = std::make_unique<Caller0>(port, machine, verifier);
    connected = made->connected();
    caller = std::move(made);
  } else {
    auto made = std::make_unique<Caller1>(port, machine, verifier, minor);
    connected = made->connected();
    caller = std::move(made);
  }
  if (!connected) return nullptr;
  CompoundResult result = caller->call(Ops().putrootfh().lookup(name).getfh());
  if (!result.ok()) return nullptr;
  caller->skip_sequence(result);
  result.next(24);
  result.next(15);
  result.next(10);
  const auto handle = result.in.opaque(128);
  return std::make_unique<Nfs4>(std::move(caller), minor, Bytes(handle.begin(), handle.end()));
}

}  // namespace stoa::torture
