// The client's end of the back channel: CB_NULL and CB_COMPOUND (RFC 8881 20) with CB_SEQUENCE and CB_RECALL.
#include <algorithm>
#include <vector>

#include "bench/load/nfs41_client.h"

namespace stoa::bench {
namespace {

constexpr std::uint32_t kCbRecall = 4;
constexpr std::uint32_t kCbSequence = 11;
constexpr std::uint32_t kCbIllegal = 10044;
constexpr std::uint32_t kOpNotSupported = 10004;

void skip_referring_calls(XdrIn& in) {
  for (std::uint32_t lists = in.u32(); lists > 0 && in.ok(); --lists) {
    in.fixed(16);
    for (std::uint32_t calls = in.u32(); calls > 0 && in.ok(); --calls) in.fixed(4 + 4);
  }
}

}  // namespace

void Client41::answer_callback(RpcConnection& connection, std::string_view record) {
  XdrIn in(record);
  const std::uint32_t xid = in.u32();
  in.fixed(4 * 4);  // message type, RPC version, program, version
  const std::uint32_t procedure = in.u32();
  for (int part = 0; part < 2; ++part) {  // credential and verifier
    in.u32();
    in.opaque();
  }

  XdrOut& out = connection.out;
  const std::size_t record_at = connection.begin_record();
  out.u32(xid);
  for (const std::uint32_t word : {1u, 0u, 0u, 0u, 0u}) out.u32(word);  // REPLY, accepted, AUTH_NONE, success
  if (procedure == 0) return connection.end_record(record_at);

  in.opaque();      // tag
  in.fixed(4 + 4);  // minor version, callback_ident
  const std::uint32_t count = in.u32();
  const std::size_t status_at = out.size();
  out.u32(0);
  out.u32(0);  // no tag
  const std::size_t count_at = out.size();
  out.u32(0);
  struct Recall {
    Stateid41 stateid;
    std::string handle;
  };
  std::vector<Recall> recalls;
  std::uint32_t status = kNfs4Ok;
  std::uint32_t done = 0;
  for (; done < count && status == kNfs4Ok && in.ok(); ++done) {
    const std::uint32_t operation = in.u32();
    if (operation == kCbSequence) {
      const std::string_view session = in.fixed(16);
      const std::uint32_t sequence = in.u32();
      const std::uint32_t slot = in.u32();
      const std::uint32_t highest = in.u32();
      in.u32();
      skip_referring_calls(in);
      for (const std::uint32_t word : {kCbSequence, kNfs4Ok}) out.u32(word);
      out.fixed(session.data(), session.size());
      for (const std::uint32_t word : {sequence, slot, highest, highest}) out.u32(word);
    } else if (operation == kCbRecall) {
      Stateid41 stateid{.seqid = in.u32()};
      const std::string_view other = in.fixed(stateid.other.size());
      std::ranges::copy(other, stateid.other.begin());
      in.u32();  // truncate
      const std::string_view handle = in.opaque();
      for (const std::uint32_t word : {kCbRecall, kNfs4Ok}) out.u32(word);
      ++recalls_;
      if (in.ok()) recalls.push_back({stateid, std::string(handle)});
    } else {
      status = operation < kCbRecall - 1 || operation > 14 ? kCbIllegal : kOpNotSupported;
      out.u32(operation);
      out.u32(status);
    }
  }
  out.patch_u32(status_at, status);
  out.patch_u32(count_at, done);
  connection.end_record(record_at);
  // The phase may send on the same connection: only behind this answer.
  if (phase_ == nullptr) return;
  for (const Recall& recall : recalls) phase_->recalled(*this, recall.stateid, recall.handle);
}

}  // namespace stoa::bench
