// RFC 8881 18.36
#include <algorithm>

#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t { kPersist = 1, kConnBackChan = 2, kConnRdma = 4 };
constexpr std::uint32_t kMessageBytesMin = 128;                 // less has no room for SEQUENCE and anything behind it
constexpr std::uint32_t kCallbackOperationsMin = 2;             // CB_SEQUENCE, and the callback itself
constexpr std::uint32_t kMessageBytesMax = kIoBytesMax + 4096;  // the longest READ or WRITE, and its envelope
constexpr std::uint32_t kCachedBytesMax = 4096;
constexpr std::uint32_t kOperationsMax = 64;

ChannelAttributes read_channel(rpc::XdrReader& in) {
  ChannelAttributes channel{.header_pad = in.u32()};
  channel.request_bytes = in.u32();
  channel.response_bytes = in.u32();
  channel.cached_response_bytes = in.u32();
  channel.operations = in.u32();
  channel.requests = in.u32();
  const std::uint32_t rdma = in.u32();
  if (rdma > 1) in.reject();
  if (rdma == 1) in.u32();
  return channel;
}

void write_channel(rpc::XdrWriter& out, const ChannelAttributes& channel) {
  out.u32(0);  // no padding of headers
  out.u32(channel.request_bytes);
  out.u32(channel.response_bytes);
  out.u32(channel.cached_response_bytes);
  out.u32(channel.operations);
  out.u32(channel.requests);
  out.u32(0);
}

}  // namespace

Nfs4Status op_create_session(Compound& c) {
  rpc::XdrReader& in = c.in;
  const std::uint64_t client = in.u64();
  const std::uint32_t sequence = in.u32();
  const std::uint32_t flags = in.u32();
  ChannelAttributes fore = read_channel(in);
  const ChannelAttributes back = read_channel(in);
  const CallbackSecurity security = read_callback_security(in);
  if (!in.ok()) return Nfs4Status::kBadXdr;
  if ((flags & ~(kPersist | kConnBackChan | kConnRdma)) != 0) return Nfs4Status::kInval;
  if (fore.request_bytes < kMessageBytesMin || fore.response_bytes < kMessageBytesMin || fore.operations == 0 ||
      fore.requests == 0) {
    return Nfs4Status::kTooSmall;
  }
  // This back channel is too small for any call, or answer (18.36.3).
  if (back.request_bytes < kMessageBytesMin || back.response_bytes < kMessageBytesMin ||
      back.operations < kCallbackOperationsMin || back.requests == 0) {
    return Nfs4Status::kTooSmall;
  }
  fore.request_bytes = std::min(fore.request_bytes, kMessageBytesMax);
  fore.response_bytes = std::min(fore.response_bytes, kMessageBytesMax);
  fore.cached_response_bytes = std::min({fore.cached_response_bytes, fore.response_bytes, kCachedBytesMax});
  fore.operations = std::min(fore.operations, kOperationsMax);
  fore.requests = std::min(fore.requests, kSlotsMax);

  const bool back_channel = (flags & kConnBackChan) != 0 && c.call.back != nullptr;
  const auto encode = [&](const Session& session) {
    session.back->set_form(c.minor, back.requests);
    session.back->set_security(security);
    if (back_channel) session.back->bind(c.call.back->keep());
    rpc::ReplyBuffer buffer;
    rpc::XdrWriter out(buffer);
    out.fixed(session.id);
    out.u32(sequence);
    out.u32(back_channel ? std::uint32_t{kConnBackChan} : 0u);
    write_channel(out, session.fore);
    write_channel(out, back);
    const auto bytes = buffer.bytes();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const auto made =
      c.env.clients.create_session(client, sequence, Principal::of(c.call.header.credential), fore, encode);
  if (made.status != Nfs4Status::kOk) return made.status;
  c.out.fixed(made.reply);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4
