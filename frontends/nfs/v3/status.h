// nfsstat3 (RFC 1813 2.6) and the one table that turns the core's errors into it.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace stoa::nfs3 {

enum class NfsStatus : std::uint32_t {
  kOk = 0,
  kPerm = 1,
  kNoEnt = 2,
  kIo = 5,
  kNxIo = 6,
  kAccess = 13,
  kExist = 17,
  kXDev = 18,
  kNoDev = 19,
  kNotDir = 20,
  kIsDir = 21,
  kInval = 22,
  kFBig = 27,
  kNoSpc = 28,
  kRoFs = 30,
  kMLink = 31,
  kNameTooLong = 63,
  kNotEmpty = 66,
  kDQuot = 69,
  kStale = 70,
  kRemote = 71,
  kBadHandle = 10001,
  kNotSync = 10002,
  kBadCookie = 10003,
  kNotSupp = 10004,
  kTooSmall = 10005,
  kServerFault = 10006,
  kBadType = 10007,
  kJukebox = 10008,
};

NfsStatus to_nfs_status(Errc code);

}  // namespace stoa::nfs3
