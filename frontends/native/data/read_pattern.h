// How an open file is read: what to read ahead.
#pragma once

#include <cstdint>
#include <vector>

namespace stoa::native::data {

struct Range {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const Range&) const = default;
};

// Recognizes sequential reads (also overlapping ones, and such as come a little out of order) and reads at equal
// distances, forwards or backwards. Not thread-safe.
class ReadPattern {
 public:
  static constexpr std::uint64_t kWindowMost = 8 * 1024 * 1024;
  static constexpr std::uint64_t kWindowFirst = 512 * 1024;
  static constexpr std::uint64_t kPieceBytes = 1024 * 1024;  // of one range

  // After a read: what will be read next and was not named before. Nothing when no pattern is seen.
  std::vector<Range> seen(std::uint64_t offset, std::uint64_t length);

 private:
  static constexpr std::uint64_t kDisorder = 256 * 1024;  // how far reads of several threads are apart
  static constexpr int kStridesSeen = 2;                  // equal distances that make a pattern
  static constexpr std::uint64_t kStridesAhead = 8;

  std::vector<Range> sequential(std::uint64_t end);
  std::vector<Range> strided(std::uint64_t offset, std::uint64_t length);

  std::uint64_t last_ = 0, end_ = 0;  // of the read before; end_: the farthest of a sequence
  std::uint64_t window_ = 0;
  std::uint64_t ahead_ = 0;  // read ahead up to here
  std::int64_t stride_ = 0, named_ = 0;
  int strides_ = 0, reads_ = 0;
};

}  // namespace stoa::native::data
