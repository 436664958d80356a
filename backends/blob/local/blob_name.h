// The encoding of a BlobId of the local store: the place of the bytes, without any look-up.
//
//   bits 63..62  kind: 1 slot, 2 own host file
//   bits 61..54  data directory
//   slot:     bits 53..50 size class, 49..16 container, 15..0 slot in it
//   own file: bits 53..0 number, never used twice
#pragma once

#include <cstdint>

#include "core/blob/blob_store.h"

namespace stoa::blob_local {

inline constexpr std::uint64_t kSlotBytesMin = 32u << 10;
inline constexpr unsigned kSizeClasses = 8;  // 32 KiB, 64 KiB, ... 4 MiB
inline constexpr std::uint64_t kSlotBytesMax = kSlotBytesMin << (kSizeClasses - 1);
inline constexpr std::uint64_t kContainerBytesMax = 256u << 20;
inline constexpr unsigned kDirectoriesMax = 256;
inline constexpr std::uint64_t kOwnNumberMax = (std::uint64_t{1} << 54) - 1;
inline constexpr std::uint64_t kContainerNumberMax = (std::uint64_t{1} << 34) - 1;

inline constexpr std::uint64_t slot_bytes(unsigned size_class) {
  return kSlotBytesMin << size_class;
}
inline constexpr std::uint32_t slots_per_container(unsigned size_class) {
  return static_cast<std::uint32_t>(kContainerBytesMax / slot_bytes(size_class));
}
// The smallest class that holds `bytes`, or kSizeClasses when none does.
inline constexpr unsigned size_class_for(std::uint64_t bytes) {
  unsigned size_class = 0;
  while (size_class < kSizeClasses && slot_bytes(size_class) < bytes) ++size_class;
  return size_class;
}

enum class BlobKind : std::uint8_t { kNone = 0, kSlot = 1, kOwn = 2 };

struct BlobName {
  BlobKind kind = BlobKind::kNone;
  std::uint32_t directory = 0;
  unsigned size_class = 0;   // of a slot
  std::uint64_t number = 0;  // of the container, or of the own file
  std::uint32_t slot = 0;

  core::BlobId id() const {
    std::uint64_t bits = static_cast<std::uint64_t>(kind) << 62 | static_cast<std::uint64_t>(directory) << 54;
    bits |= kind == BlobKind::kSlot ? static_cast<std::uint64_t>(size_class) << 50 | number << 16 | slot : number;
    return core::BlobId{bits};
  }
  // Kind kNone: an id that this store never issued.
  static BlobName of(core::BlobId id) {
    const auto bits = static_cast<std::uint64_t>(id);
    BlobName name;
    name.directory = static_cast<std::uint32_t>(bits >> 54 & 0xff);
    switch (bits >> 62) {
      case 1:
        name.size_class = static_cast<unsigned>(bits >> 50 & 0xf);
        name.number = bits >> 16 & kContainerNumberMax;
        name.slot = static_cast<std::uint32_t>(bits & 0xffff);
        if (name.size_class < kSizeClasses && name.slot < slots_per_container(name.size_class)) {
          name.kind = BlobKind::kSlot;
        }
        break;
      case 2:
        name.number = bits & kOwnNumberMax;
        name.kind = BlobKind::kOwn;
        break;
      default:
        break;
    }
    return name;
  }
  // The begin of the blob in its host file.
  std::uint64_t base() const { return kind == BlobKind::kSlot ? slot * slot_bytes(size_class) : 0; }
  std::uint64_t capacity() const {
    return kind == BlobKind::kSlot ? slot_bytes(size_class) : (std::uint64_t{1} << 63) - 1;
  }
};

// The host file of a blob, as a key of the cache of open files.
struct HostFileKey {
  std::uint64_t bits;
  static HostFileKey of(const BlobName& name) {
    BlobName file = name;
    file.slot = 0;
    return {static_cast<std::uint64_t>(file.id())};
  }
  bool operator==(const HostFileKey&) const = default;
};

}  // namespace stoa::blob_local
