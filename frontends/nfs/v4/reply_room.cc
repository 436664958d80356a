#include "frontends/nfs/v4/reply_room.h"

namespace stoa::nfs4 {
namespace {

constexpr std::size_t kStateid = 4 + 12;
constexpr std::size_t kChangeInfo = 4 + 8 + 8;
constexpr std::size_t kBitmap = 4 + 3 * 4;
// For writing: its type, stateid, whether it is recalled, the limit, and an ACE for nobody.
constexpr std::size_t kDelegation = 4 + kStateid + 4 + (4 + 8) + (4 + 4 + 4 + 4);
constexpr std::size_t kWriteResponse = (4 + kStateid) + 8 + 4 + 8;  // write_response4 with a stateid

}  // namespace

std::size_t change_result_bytes(std::uint32_t operation) {
  switch (operation) {
    case 4:   // CLOSE
    case 12:  // LOCK
    case 14:  // LOCKU
    case 20:  // OPEN_CONFIRM
    case 21:  // OPEN_DOWNGRADE
      return kStateid;
    case 5:  // COMMIT: the verifier
      return 8;
    case 6:  // CREATE
      return kChangeInfo + kBitmap;
    case 11:  // LINK
    case 28:  // REMOVE
    case 73:  // SETXATTR
    case 75:  // REMOVEXATTR
      return kChangeInfo;
    case 18:  // OPEN
      return kStateid + kChangeInfo + 4 + kBitmap + kDelegation;
    case 29:  // RENAME
      return 2 * kChangeInfo;
    case 34:  // SETATTR
      return kBitmap;
    case 38:  // WRITE: how much, how stable, the verifier
      return 4 + 4 + 8;
    case 56:  // WANT_DELEGATION
      return kDelegation;
    case 60:  // COPY: consecutive and synchronous
      return kWriteResponse + 4 + 4;
    default:
      return 0;  // also where a change has no result but its status, which is there already
  }
}

}  // namespace stoa::nfs4
