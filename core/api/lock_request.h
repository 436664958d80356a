// Byte-range locks as values: owner, range and kind, held or requested.
#pragma once

#include <cstdint>
#include <string>

#include "core/api/ids.h"

namespace stoa::core {

// A byte range: length kToEnd reaches to 2^64-1, regardless of the size of the file.
struct LockRange {
  static constexpr std::uint64_t kToEnd = ~std::uint64_t{0};
  std::uint64_t offset = 0;
  std::uint64_t length = kToEnd;
  bool operator==(const LockRange&) const = default;
};
// POSIX owners: an owner's own locks never conflict with each other, they replace each other.
struct LockOwner {
  HolderId holder;
  std::string name;  // bytes that the front end makes
  bool operator==(const LockOwner&) const = default;
};
struct HeldLock {
  LockOwner owner;
  LockRange range;
  bool exclusive = false;
  bool operator==(const HeldLock&) const = default;
};
struct LockRequest {
  FileId file = kNoFile;
  LockOwner owner;
  LockRange range;
  bool exclusive = false;
  bool operator==(const LockRequest&) const = default;
};

}  // namespace stoa::core
