#include "core/data/placement.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "core/api/ids.h"

namespace stoa::core {
namespace {

std::uint64_t segment_begin(std::uint64_t offset) {
  if (offset < kFirstSegmentBytes) return 0;
  if (offset < kSlotRegionBytes) return std::bit_floor(offset);
  return std::max(kSlotRegionBytes, offset / kOwnSegmentBytes * kOwnSegmentBytes);
}
std::uint64_t segment_end(std::uint64_t offset) {
  if (offset < kFirstSegmentBytes) return kFirstSegmentBytes;
  if (offset < kSlotRegionBytes) return std::bit_floor(offset) * 2;
  return std::min((offset / kOwnSegmentBytes + 1) * kOwnSegmentBytes, kFileBytesMax);
}

}  // namespace

std::vector<Room> rooms_for(std::uint64_t offset, std::uint64_t length, std::uint64_t floor, std::uint64_t ceiling) {
  STOA_ASSERT(length > 0, "a hole has bytes");
  STOA_ASSERT(floor <= offset && offset < ceiling, "a hole lies between its neighbours");
  std::vector<Room> rooms;
  const std::uint64_t last = offset + length - 1;
  std::uint64_t begin = std::max(segment_begin(offset), floor);
  const std::uint64_t end = std::min(segment_end(last), ceiling);
  while (begin < end) {
    // In the slot region neighbouring segments join into one slot, as long as there are slots so large.
    const std::uint64_t limit =
        begin < kSlotRegionBytes
            ? std::min(begin / kSlotSegmentMax * kSlotSegmentMax + kSlotSegmentMax, kSlotRegionBytes)
            : segment_end(begin);
    const std::uint64_t stop = std::min(end, limit);
    STOA_ASSERT(stop > begin, "each room has bytes");
    rooms.push_back({begin, stop - begin});
    begin = stop;
  }
  return rooms;
}

}  // namespace stoa::core
