#include "frontends/native/protocol/message.h"

#include <algorithm>

#include "base/assert.h"
#include "base/crc32c.h"

namespace stoa::native {
namespace {

constexpr std::size_t kCrcAt = 8;  // Header::head_crc
constexpr std::size_t kSessionAt = 16;
constexpr std::size_t kPayloadAtAt = 56;

// Of header, call block and operations, the checksum itself as zeros.
U32 head_checksum(std::span<const std::byte> head) {
  const U32 before = crc32c(head.first(kCrcAt));
  return crc32c(head.subspan(kCrcAt + sizeof(U32)), crc32c_zeros(before, sizeof(U32)));
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + kPayloadAlignment - 1) & ~(kPayloadAlignment - 1);
}

void put_header(std::byte* at, const Header& header) {
  store_fixed(header, at, nullptr);
}

}  // namespace

std::optional<std::size_t> body_bytes(const std::byte* head) {
  if (load<U32>(head) != kMagic) return std::nullopt;
  const std::size_t bytes = load<U32>(head + 4);
  if (bytes < kHeaderBytes || bytes > kMessageBytesMax) return std::nullopt;
  return bytes;
}

std::size_t payload_offset(std::span<const std::byte> prefix) {
  return prefix.size() < kHeaderBytes ? 0 : load<U32>(prefix.data() + kPayloadAtAt);
}

Cut cut_message(std::span<const std::byte> body, MessageView& message) {
  Header& header = message.header;
  if (body.size() < kHeaderBytes || body.size() > kMessageBytesMax) return Cut::kMalformed;
  const std::byte* at = body.data();
  std::span<const std::byte> no_texts;
  load_fixed(at, no_texts, header);
  const std::size_t header_bytes = header.header_bytes;
  if (header_bytes < kHeaderBytes || header_bytes % 8 != 0) return Cut::kMalformed;
  const std::uint64_t head = std::uint64_t{header.header_bytes} + header.call_bytes + header.operation_bytes;
  if (head > body.size() || header.operation_count > kOperationsMax) return Cut::kMalformed;
  if (head_checksum(body.first(head)) != header.head_crc) return Cut::kMalformed;
  message.call = body.subspan(header_bytes, header.call_bytes);
  message.operations = body.subspan(header_bytes + header.call_bytes, header.operation_bytes);
  if (header.payload_bytes == 0) {
    message.payload = {};
    return head == body.size() && header.payload_at == 0 && header.payload_crc == 0 ? Cut::kWhole : Cut::kMalformed;
  }
  if (header.payload_at != aligned(head) || header.payload_bytes > kPayloadBytesMax ||
      std::uint64_t{header.payload_at} + header.payload_bytes != body.size())
    return Cut::kMalformed;
  message.payload = body.subspan(header.payload_at);
  return crc32c(message.payload) == header.payload_crc ? Cut::kWhole : Cut::kBadChecksum;
}

Bytes encode_head(Header header, std::span<const std::byte> call, std::span<const std::byte> operations,
                  std::span<const std::byte> payload) {
  const std::size_t head = kHeaderBytes + call.size() + operations.size();
  const std::size_t payload_at = payload.empty() ? 0 : aligned(head);
  const std::size_t body = payload.empty() ? head : payload_at + payload.size();
  header.header_bytes = static_cast<U16>(kHeaderBytes);
  header.head_crc = 0;
  header.payload_crc = payload.empty() ? 0 : crc32c(payload);
  header.call_bytes = static_cast<U32>(call.size());
  header.operation_bytes = static_cast<U32>(operations.size());
  header.payload_at = static_cast<U32>(payload_at);
  header.payload_bytes = static_cast<U32>(payload.size());

  Bytes frame;
  frame.resize(kFrameHeadBytes + (payload.empty() ? head : payload_at));
  store(frame.data(), kMagic);
  store(frame.data() + 4, static_cast<U32>(body));
  std::byte* const begin = frame.data() + kFrameHeadBytes;
  put_header(begin, header);
  std::ranges::copy(call, begin + kHeaderBytes);
  std::ranges::copy(operations, begin + kHeaderBytes + call.size());
  store(begin + kCrcAt, head_checksum({begin, head}));
  return frame;
}

Bytes encode_message(Header header, std::span<const std::byte> call, std::span<const std::byte> operations,
                     std::span<const std::byte> payload) {
  Bytes frame = encode_head(header, call, operations, payload);
  frame.reserve(frame.size() + payload.size());
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

void readdress(Bytes& frame, U64 session) {
  STOA_ASSERT(frame.size() >= kFrameHeadBytes + kHeaderBytes);
  std::byte* const begin = frame.data() + kFrameHeadBytes;
  store(begin + kSessionAt, session);
  Header header;
  const std::byte* at = begin;
  std::span<const std::byte> no_texts;
  load_fixed(at, no_texts, header);
  const std::size_t head = std::size_t{header.header_bytes} + header.call_bytes + header.operation_bytes;
  STOA_ASSERT(kFrameHeadBytes + head <= frame.size());
  store(begin + kCrcAt, U32{0});
  store(begin + kCrcAt, head_checksum({begin, head}));
}

}  // namespace stoa::native
