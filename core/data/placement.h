// Placement of blobs as a file grows: slots that double ([0, 32K) [32K, 64K) [64K, 128K) ... [4M, 8M)), then own host
// files of up to 4 TiB, each only where something is written.
#pragma once

#include <cstdint>
#include <vector>

#include "core/inode/layout.h"

namespace stoa::core {

inline constexpr std::uint64_t kFirstSegmentBytes = 32u << 10;
inline constexpr std::uint64_t kSlotRegionBytes = 8u << 20;                // behind it, own files
inline constexpr std::uint64_t kSlotSegmentMax = 4u << 20;                 // the largest slot
inline constexpr std::uint64_t kOwnSegmentBytes = std::uint64_t{4} << 40;  // no host file system's limit is lower

struct Room {
  std::uint64_t file_offset;
  std::uint64_t length;
  bool operator==(const Room&) const = default;
};

// The blobs to reserve so that the hole [offset, offset + length) can be written. Each covers the part of its segments
// between `floor` and `ceiling`, the ends of the neighbouring extents.
std::vector<Room> rooms_for(std::uint64_t offset, std::uint64_t length, std::uint64_t floor, std::uint64_t ceiling);

}  // namespace stoa::core
