#include "tests/frontends/nfs/nlm/lock_caller.h"

namespace stoa::test {
namespace {

std::atomic<std::uint32_t> g_xid{0x5000'0000};
constexpr auto kNoAnswer = static_cast<NlmStatus>(77'777);

Bytes owner_of(const LockCaller& caller, std::uint32_t svid) {
  const std::string text = std::to_string(svid) + "@" + caller.name;
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

LockCaller::LockCaller(std::uint16_t port, std::string caller_name, std::uint32_t u, std::uint8_t host)
    : wire(port, host), name(std::move(caller_name)), uid(u), xid(g_xid.fetch_add(0x10000)) {}

CallSpec LockCaller::spec(std::uint32_t procedure, std::uint32_t program, std::uint32_t version) {
  return {.xid = ++xid,
          .program = program,
          .version = version,
          .procedure = procedure,
          .auth_flavor = 1,
          .auth_body = auth_sys(uid, uid, {})};
}

Xdr LockCaller::arguments(std::uint32_t procedure, const Bytes& handle, const WireLock& lock, bool block,
                          bool reclaim) {
  Xdr x;
  x.string("cookie");
  if (procedure == kNlmLock || procedure == kNlmCancel) x.u32(block ? 1 : 0);
  if (procedure != kNlmUnlock) x.u32(lock.exclusive ? 1 : 0);
  x.string(name).opaque(handle).opaque(owner_of(*this, lock.svid)).u32(lock.svid).u64(lock.offset).u64(lock.length);
  if (procedure == kNlmLock) x.u32(reclaim ? 1 : 0).u32(state);
  return x;
}

NlmStatus LockCaller::call(std::uint32_t procedure, const Xdr& arguments) {
  const auto reply = wire.call(spec(procedure), arguments);
  if (!reply || reply->reply_status != 0 || reply->accept_status != 0) return kNoAnswer;
  rpc::XdrReader in(reply->results);
  const nlm::Answer answer = nlm::read_answer(in);
  const std::string_view cookie(reinterpret_cast<const char*>(answer.cookie.data()), answer.cookie.size());
  return in.ok() && cookie == "cookie" ? answer.status : kNoAnswer;
}

NlmStatus LockCaller::test(const Bytes& handle, const WireLock& lock, WireHolder* holder) {
  const auto reply = wire.call(spec(kNlmTest), arguments(kNlmTest, handle, lock));
  if (!reply || reply->reply_status != 0 || reply->accept_status != 0) return kNoAnswer;
  rpc::XdrReader in(reply->results);
  const NlmStatus status = nlm::read_answer(in).status;
  if (status == NlmStatus::kDenied) {
    WireHolder found;
    found.exclusive = in.boolean();
    found.svid = in.u32();
    const auto owner = in.opaque(1024);
    found.owner.assign(owner.begin(), owner.end());
    found.offset = in.u64();
    found.length = in.u64();
    if (holder != nullptr) *holder = found;
  }
  return in.ok() && in.left() == 0 ? status : kNoAnswer;
}

NlmStatus LockCaller::share(const Bytes& handle, std::uint32_t access, std::uint32_t deny, std::string_view owner,
                            bool reclaim) {
  return call(kNlmShare, Xdr().string("cookie").string(name).opaque(handle).string(owner).u32(deny).u32(access).u32(
                             reclaim ? 1 : 0));
}

NlmStatus LockCaller::unshare(const Bytes& handle, std::string_view owner) {
  return call(kNlmUnshare, Xdr().string("cookie").string(name).opaque(handle).string(owner).u32(0).u32(0).u32(0));
}

bool LockCaller::tell(std::uint32_t procedure, const Xdr& arguments, std::uint32_t program, std::uint32_t version) {
  const auto reply = wire.call(spec(procedure, program, version), arguments);
  return reply && reply->reply_status == 0 && reply->accept_status == 0 && reply->results.empty();
}

}  // namespace stoa::test
