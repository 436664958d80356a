// Bytes of one file that were written and are not yet at the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "frontends/native/client/large_memory.h"
#include "frontends/native/data/open_file.h"

namespace stoa::native::data {

// A run of bytes, sent as one write. It ends at a multiple of kPieceBytes at the latest.
struct Piece {
  std::uint64_t offset = 0;
  Content bytes{};
  std::uint64_t lease = 0;
  std::shared_ptr<OpenFile> open{};
  std::uint64_t number = 0;  // in the order in which pieces began

  std::uint64_t end() const { return offset + bytes.size(); }
};

// Not thread-safe: the file's mutex guards it.
class WriteBuffer {
 public:
  static constexpr std::uint64_t kPieceBytes = 1024 * 1024;
  using Pieces = std::vector<std::shared_ptr<Piece>>;

  struct Added {
    std::size_t bytes = 0;   // that the buffer has grown by
    std::size_t pieces = 0;  // that were begun
    bool full = false;       // a piece has got all its bytes
  };
  // Takes a copy of the bytes. All pieces that wait must be of the same lease.
  Added add(std::uint64_t offset, std::span<const std::byte> data, std::uint64_t lease,
            const std::shared_ptr<OpenFile>& open);

  bool empty() const { return waiting_.empty() && sending_.empty(); }
  bool sends() const { return !sending_.empty(); }
  bool has_waiting() const { return !waiting_.empty(); }
  bool overlaps(std::uint64_t offset, std::uint64_t length) const;
  std::uint64_t end() const;  // of the last byte; 0: there is none
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t lease() const;  // of what waits, or is being sent; 0: nothing
  std::uint64_t newest() const { return last_; }
  bool has_until(std::uint64_t number) const;  // a piece of at most this number

  // The next piece to send, which is then being sent: one that overlaps none that already is, so that writes of a range
  // arrive in their order, and that `fits`. Null: there is none now.
  std::shared_ptr<Piece> take(bool only_full, const std::function<bool(const Piece&)>& fits);
  void sent(const Piece& piece);  // it is at the server, or lost
  Pieces drop_waiting(std::uint64_t lease);

  // The pieces that overlap a range, those that others lie over first. Their bytes may change while the mutex is free.
  Pieces overlapping(std::uint64_t offset, std::uint64_t length) const;

 private:
  using Map = std::map<std::uint64_t, std::shared_ptr<Piece>>;  // by offset; pieces of one map do not overlap
  static Map::const_iterator first_past(const Map& map, std::uint64_t offset);

  Map waiting_;
  Map sending_;
  std::uint64_t bytes_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace stoa::native::data
