// What three bits "rwx" stand for in the rights of an ACL: of a mode (RFC 8881 6.3), or of an entry of a POSIX ACL.
#pragma once

#include <cstdint>

#include "core/api/acl.h"

namespace stoa::core {

inline constexpr std::uint32_t kReadBit = 4, kWriteBit = 2, kExecuteBit = 1;
inline constexpr std::uint32_t kAllBits = 7;

// Rights that POSIX grants to everyone, and to the owner, whatever the bits are.
inline constexpr std::uint32_t kRightsOfEverybody = kRightReadAttributes | kRightReadAcl | kRightSynchronize;
inline constexpr std::uint32_t kRightsOfOwner = kRightsOfEverybody | kRightWriteAttributes | kRightWriteAcl;

constexpr std::uint32_t rights_of_bits(std::uint32_t bits, bool directory) {
  std::uint32_t rights = 0;
  if ((bits & kReadBit) != 0) rights |= kRightReadData | kRightReadXattrs;
  if ((bits & kWriteBit) != 0) rights |= kRightWriteData | kRightAppendData | kRightWriteXattrs;
  if ((bits & kWriteBit) != 0 && directory) rights |= kRightDeleteChild;
  if ((bits & kExecuteBit) != 0) rights |= kRightExecute;
  return rights;
}

// The bits that a class with these rights shows. Both rights to write make "w".
constexpr std::uint32_t bits_of_rights(std::uint32_t rights) {
  constexpr std::uint32_t kWriting = kRightWriteData | kRightAppendData;
  return ((rights & kRightReadData) != 0 ? kReadBit : 0) | ((rights & kWriting) == kWriting ? kWriteBit : 0) |
         ((rights & kRightExecute) != 0 ? kExecuteBit : 0);
}

}  // namespace stoa::core
