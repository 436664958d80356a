// Record marking: any stream, cut into pieces at any place, gives the same records as the stream in one piece.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "frontends/nfs/rpc/receiver.h"
#include "frontends/nfs/rpc/xdr.h"

namespace {

using stoa::rpc::Receiver;
using stoa::rpc::Record;

struct Cut {
  std::vector<std::vector<std::byte>> records;
  bool refused = false;
};

Cut receive(std::span<const std::byte> stream, std::size_t piece) {
  stoa::rpc::RecordPool pool({16 << 20, 16 << 20}, {16 << 20, 16 << 20}, 1 << 20);
  Receiver receiver(pool, std::make_shared<stoa::rpc::AddressBudget>(),
                    {.record_bytes_max = 40'000, .fragments_max = 20},
                    [](std::span<const std::byte> prefix) { return prefix.size() / 2; });
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
  const Cut whole = receive(bytes.subspan(1), bytes.size());
  const Cut pieces = receive(bytes.subspan(1), 1 + static_cast<std::size_t>(bytes[0]) * 8);
  STOA_ASSERT(whole.refused == pieces.refused);
  // What came before the refusal may be cut off earlier in one of them, but never differs.
  const std::size_t common = std::min(whole.records.size(), pieces.records.size());
  STOA_ASSERT(whole.refused || whole.records.size() == pieces.records.size());
  for (std::size_t i = 0; i < common; ++i) STOA_ASSERT(whole.records[i] == pieces.records[i]);
  return 0;
}
