// The bytes of one connection, cut into records by the framer of its protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frontends/tls/stream.h"
#include "frontends/wire/framer.h"
#include "frontends/wire/record_pool.h"

namespace stoa::wire {

// One record as it came, without headers of pieces. The bytes lie in `memory`, in `assembled`, or in the buffer given
// to receive().
struct Record {
  std::span<const std::byte> bytes{};
  RecordMemory memory{};
  std::vector<std::byte> assembled{};
  bool borrowed() const { return !memory && assembled.empty(); }
  // Makes it independent of the receive buffer, so that another thread may have it.
  void own() {
    if (!borrowed()) return;
    assembled.assign(bytes.begin(), bytes.end());
    bytes = assembled;
  }
};

struct ReceiverLimits {
  std::size_t record_bytes_max = RecordPool::kRecordBytesMax;
  std::size_t fragments_max = 1024;  // pieces of one record
};

// One per connection. Not thread-safe: used by the worker that holds the connection's receive side.
class Receiver {
 public:
  enum class Outcome : std::uint8_t {
    kDry,        // nothing more available now; `records` may have some
    kMore,       // there may be more at once; `records` holds some
    kClosed,     // the peer closed, or the socket failed; `records` may hold some
    kOversized,  // a record, the number of its fragments, or that of the records is beyond the limits
    kNoMemory,   // the pool is at its limit: call again later; `records` may hold some
  };
  // Records of this size and more are received straight into memory of their own.
  static constexpr std::size_t kLargeRecord = std::size_t{16} << 10;
  // This much of a large record must be here before its memory is chosen: headers and arguments up to the data.
  static constexpr std::size_t kLargePrefix = 384;
  static constexpr std::size_t kScratchBytes = std::size_t{128} << 10;  // size of `scratch`
  // Average size of a receive: shorter ones are no requests, and each costs the worker more than its bytes.
  static constexpr std::size_t kRecordsMax = kScratchBytes / 32;

  Receiver(RecordPool& pool, std::shared_ptr<AddressBudget> budget, const ReceiverLimits& limits, const Framer& framer)
      : pool_(pool), budget_(std::move(budget)), limits_(limits), framer_(framer) {}

  // Reads `fd` (non-blocking) and appends complete records. They may lie in `scratch`, which must stay untouched while
  // they are used; after the call the receiver itself no longer needs `scratch`.
  Outcome receive(int fd, std::span<std::byte> scratch, std::vector<Record>& records);

  // From now on the bytes of the socket are TLS. `stream` outlives it.
  void use_tls(tls::Stream* stream) { tls_ = stream; }

  // True when part of a record is here and the rest is not.
  bool partial() const { return large_.memory || assembling_ || !pending_.empty(); }
  // And it has memory of the pool.
  bool holds_memory() const { return large_.memory || assembly_large_.memory; }

 private:
  struct Large {  // a record that is received into its own memory
    RecordMemory memory;
    std::size_t offset = 0;  // begin of the record in memory
    std::size_t size = 0;
    std::size_t filled = 0;
  };
  enum class Parsed : std::uint8_t { kAll, kOversized, kNoMemory };

  Parsed parse(std::span<const std::byte> bytes, std::vector<Record>& records);
  bool begin_large(std::span<const std::byte> prefix, std::size_t size);
  bool assemble(std::span<const std::byte> bytes);
  void emit_assembled(std::vector<Record>& records);

  RecordPool& pool_;
  const std::shared_ptr<AddressBudget> budget_;
  const ReceiverLimits limits_;
  const Framer framer_;
  tls::Stream* tls_ = nullptr;

  std::vector<std::byte> pending_;  // received and not yet cut
  bool stalled_ = false;            // pending_ waits for memory, not for bytes
  Large large_;
  bool expect_large_ = false;  // the last record was large: read no more than a header ahead of the next one

  bool assembling_ = false;  // a record of several fragments
  std::vector<std::byte> assembly_;
  Large assembly_large_;  // takes over from assembly_ when that has grown to kLargeRecord
  std::size_t fragment_left_ = 0;
  bool fragment_last_ = false;
  std::size_t fragments_ = 0;
};

}  // namespace stoa::wire
