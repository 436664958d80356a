// Messages of the native protocol: one frame each on a connection.
//
// A frame is its magic number (U32), the length of what follows (U32), and the body: Header, a record of CallBlock (or
// none), the records of the operations, zeros, and the payload, to which operations refer by offset and length.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "frontends/native/protocol/record.h"
#include "frontends/native/protocol/status.h"

namespace stoa::native {

inline constexpr U32 kMagic = 0x414f5453;  // "STOA"
inline constexpr U16 kVersion = 1;
inline constexpr std::size_t kFrameHeadBytes = 8;
inline constexpr std::size_t kHeaderBytes = fixed_bytes<Header>();
inline constexpr std::size_t kPayloadAlignment = 64;                       // of its place in the body
inline constexpr std::size_t kPayloadBytesMax = 1u << 20;                  // of one message
inline constexpr std::size_t kMessageBytesMax = kPayloadBytesMax + 16384;  // of one body
inline constexpr U32 kOperationsMax = 256;
inline constexpr std::size_t kGroupsMax = 1024;
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kClientIdBytes = 16;
inline constexpr std::size_t kTokenBytesMax = 65536;  // of TicketProof: a ticket may carry a list of groups

enum class MessageKind : U16 {
  kHello = 1,      // client: who it is, and which versions it speaks
  kChallenge = 2,  // server
  kProof = 3,      // client
  kWelcome = 4,    // server: records of Welcome and Proof
  kRefused = 5,    // server: the status says why; it closes the connection
  kCall = 6,       // client
  kReply = 7,      // server
  kPing = 8,       // client: the session lives; no slot
  kPong = 9,       // server
  kGoodbye = 10,   // client: the session ends with all it holds; answered by kPong
  kRecall = 11,    // server: records of RecallNotice; no slot
};

// Of Header::flags in what a server sends: leases of the session were taken away, and lost_leases lists them.
inline constexpr U32 kLeasesWereLost = 0x1;
// A recall waits for its answer for some time: this reply is no reason to believe leases for longer.
inline constexpr U32 kRecallsUnanswered = 0x2;

enum class KeyKind : U32 {
  kUser = 1,      // acts as the user whose key it is
  kHost = 2,      // says for whom it asks, in the CallBlock of each call
  kKerberos = 3,  // no key, but a ticket; acts as the user of its principal
};

// A body, cut and checked: lengths, alignment and checksums hold.
struct MessageView {
  Header header{};
  std::span<const std::byte> call{};        // the record of CallBlock; empty: none
  std::span<const std::byte> operations{};  // records
  std::span<const std::byte> payload{};
};
enum class Cut : U16 { kWhole, kMalformed, kBadChecksum };
// What is behind the frame's head. kBadChecksum with `message.header` set: of the payload only, so it can be answered.
Cut cut_message(std::span<const std::byte> body, MessageView& message);

// What the frame's head says: the length of the body. Nothing: it is none, or too long.
std::optional<std::size_t> body_bytes(const std::byte* head);

// Where in the body the payload begins, from its first bytes; 0: not known.
std::size_t payload_offset(std::span<const std::byte> prefix);

// What stands before the payload of a frame, padding included. Lengths, places and checksums of `header` are filled in.
Bytes encode_head(Header header, std::span<const std::byte> call, std::span<const std::byte> operations,
                  std::span<const std::byte> payload);
// A whole frame. Lengths, places and checksums of `header` are filled in.
Bytes encode_message(Header header, std::span<const std::byte> call, std::span<const std::byte> operations,
                     std::span<const std::byte> payload);

// The same frame, or its head, for another session: the header's session and checksum change.
void readdress(Bytes& frame, U64 session);

// One record as the only one of a message (the kinds of log-in).
template <class Layout>
Bytes encode_single(MessageKind kind, const Layout& layout, WireStatus status = WireStatus::ok) {
  Bytes record;
  append_record(record, 0, layout);
  return encode_message(
      {.version = kVersion, .kind = static_cast<U16>(kind), .status = static_cast<U16>(status), .operation_count = 1},
      {}, record, {});
}

}  // namespace stoa::native
