// Framers: any stream, cut at any place, gives the same records as the stream in one piece. The first byte chooses how
// it is cut, and whether a record may have several pieces.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "frontends/wire/receiver.h"

namespace {

using stoa::wire::AddressBudget;
using stoa::wire::Framer;
using stoa::wire::Receiver;
using stoa::wire::Record;
using stoa::wire::RecordPool;

std::size_t length_of(const std::byte* header) {
  std::size_t length = 0;
  for (int i = 0; i < 4; ++i) length = length << 8 | static_cast<std::size_t>(header[i]);
  return length;
}
std::size_t payload_offset(std::span<const std::byte> prefix) {
  return prefix.size() / 2;
}
// The first bit of a length marks the last piece.
constexpr Framer kPieces{.header_bytes = 4,
                         .read = [](const std::byte* header) -> Framer::Piece {
                           return {.bytes = length_of(header) & 0x7fff'ffff, .last = (header[0] >> 7) != std::byte{0}};
                         },
                         .payload_offset = payload_offset};
// A record is one piece, behind eight bytes of which the last four are its length.
constexpr Framer kWhole{
    .header_bytes = 8,
    .read = [](const std::byte* header) -> Framer::Piece { return {.bytes = length_of(header + 4), .last = true}; },
    .payload_offset = payload_offset};

struct Cut {
  std::vector<std::vector<std::byte>> records;
  bool refused = false;
};

Cut receive(const Framer& framer, std::span<const std::byte> stream, std::size_t piece) {
  RecordPool pool({16 << 20, 16 << 20}, {16 << 20, 16 << 20}, 1 << 20);
  Receiver receiver(pool, std::make_shared<AddressBudget>(), {.record_bytes_max = 40'000, .fragments_max = 20}, framer);
  std::vector<std::byte> scratch(Receiver::kScratchBytes);
  int fds[2];
  STOA_ASSERT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
  fcntl(fds[1], F_SETFL, O_NONBLOCK);
  Cut cut;
  while (!stream.empty() && !cut.refused) {
    const std::size_t n = std::min(piece, stream.size());
    STOA_ASSERT(write(fds[0], stream.data(), n) == static_cast<ssize_t>(n));
    stream = stream.subspan(n);
    Receiver::Outcome outcome = Receiver::Outcome::kMore;
    while (outcome == Receiver::Outcome::kMore) {
      std::vector<Record> records;
      outcome = receiver.receive(fds[1], scratch, records);
      for (const Record& record : records) cut.records.emplace_back(record.bytes.begin(), record.bytes.end());
    }
    cut.refused = outcome == Receiver::Outcome::kOversized;
  }
  close(fds[0]);
  close(fds[1]);
  return cut;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 2 || size > 60'000) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto choice = static_cast<std::size_t>(bytes[0]);
  const Framer& framer = choice % 4 == 3 ? kWhole : kPieces;
  const Cut whole = receive(framer, bytes.subspan(1), bytes.size());
  const Cut pieces = receive(framer, bytes.subspan(1), 1 + choice * 8);
  STOA_ASSERT(whole.refused == pieces.refused);
  // The records before the refusal may be fewer in one of them, but never differ.
  const std::size_t common = std::min(whole.records.size(), pieces.records.size());
  STOA_ASSERT(whole.refused || whole.records.size() == pieces.records.size());
  for (std::size_t i = 0; i < common; ++i) STOA_ASSERT(whole.records[i] == pieces.records[i]);
  return 0;
}
