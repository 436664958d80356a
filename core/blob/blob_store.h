// The store of file content beyond inline bytes. Implemented by backends/blob/local (host files) and, later, RADOS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/api/io.h"
#include "core/kv/blob_id.h"

namespace stoa::core {

// All positions are within capacity(). Ranges never written read as zeros. Thread-safe; calls block for the disk.
class BlobReader {
 public:
  virtual ~BlobReader() = default;

  // The number of bytes that the blob may hold: a slot's size, or 2^63-1 for a blob with a host file of its own.
  virtual std::uint64_t capacity(BlobId blob) const = 0;

  // Up to into.size() bytes; never short.
  virtual Status read(BlobId blob, std::uint64_t offset, std::span<std::byte> into) = 0;
  // The whole range from memory, if the store has kept all bytes written there; else nothing. Never bytes read from
  // the disk.
  virtual std::vector<DataSlice> lately_written(BlobId, std::uint64_t /*offset*/, std::uint64_t /*length*/) {
    return {};
  }
  // A range as descriptor and position for sendfile(2). Bytes past the end of the host file are the caller's to avoid:
  // only ranges that were written or truncated over are given.
  virtual Result<DataSlice> slice(BlobId blob, std::uint64_t offset, std::uint64_t length) = 0;
  // Next data (or hole) at or behind offset, before `end`; `end` when there is none. Never calls written data a hole.
  virtual Result<std::uint64_t> seek(BlobId blob, std::uint64_t offset, std::uint64_t end, bool data) = 0;
  // Bytes of real space that the blob takes in [0, length).
  virtual Result<std::uint64_t> allocated(BlobId blob, std::uint64_t length) = 0;

  struct Space {
    std::uint64_t total = 0, free = 0;
  };
  virtual Space space() const = 0;
};

// The life of a blob. The core keeps the list of blobs that are in use (family blob) in the same transactions as the
// layouts that name them; the store keeps nothing durable but bytes:
//   reserve -> write, sync -> (core commits the layout and the blob record) -> ... -> (core commits the removal and a
//   gc record, durably) -> (core drops the gc record) -> release.
// In this order: once released, the place may serve another blob, which an old gc record must not free. On start the
// core calls begin_adoption(), adopt() for each blob that its list and its gc queue had at that moment (twice for one
// in both), then finish_adoption(). That frees blobs reserved before a crash and never committed, and removes
// unadopted host files. Requests are served meanwhile: new blobs lie apart from all earlier ones, and no earlier blob
// is released.
class BlobStore : public BlobReader {
 public:
  // False: the store itself knows the blobs in use, and needs no adoption.
  virtual bool begin_adoption() = 0;
  virtual Status adopt(BlobId blob) = 0;  // kCorrupt: names a place that cannot be (foreign data folder)
  virtual Status finish_adoption() = 0;

  // Room for a blob of up to `bytes` (capacity() tells how much more fits). Nothing durable happens. kNoSpace.
  // The new blob reads as zeros.
  virtual Result<BlobId> reserve(std::uint64_t bytes) = 0;
  virtual Status write(BlobId blob, std::uint64_t offset, ConstBuffers data) = 0;  // kNoSpace, kIo
  // The same of bytes that the store may keep in memory, to give them to lately_written().
  virtual Status write_lent(BlobId blob, std::uint64_t offset, std::span<const std::byte> bytes, const LentMemory&) {
    return write(blob, offset, std::span(&bytes, 1));
  }
  // Durable: everything written to these blobs before the call; in parallel where that helps.
  virtual Status sync(std::span<const BlobId> blobs) = 0;
  // Zeros the range and gives its space back where the host file system can.
  virtual Status punch(BlobId blob, std::uint64_t offset, std::uint64_t length) = 0;
  // Takes real space for the range now, so that writing it cannot fail for want of space. kNoSpace.
  virtual Status allocate(BlobId blob, std::uint64_t offset, std::uint64_t length) = 0;
  // Frees the blob's space for use by others and gives it back to the file system. Idempotent.
  virtual Status release(BlobId blob) = 0;

  struct DirectoryHealth {
    std::string path;
    bool ok = true;
    std::string problem;
    Space space;
  };
  virtual std::vector<DirectoryHealth> health() const = 0;

  // Every blob that takes space now, in any order, for the verifier.
  virtual void for_each(const std::function<void(BlobId)>& visit) const = 0;
  // Whether for_each would visit it now.
  virtual bool holds(BlobId blob) const = 0;
};

}  // namespace stoa::core
