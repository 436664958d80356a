#include "frontends/nfs/v4/status.h"

namespace stoa::nfs4 {

Nfs4Status to_nfs4_status(Errc code) {
  switch (code) {
    case Errc::kNotFound:
      return Nfs4Status::kNoEnt;
    case Errc::kExists:
      return Nfs4Status::kExist;
    case Errc::kNotDirectory:
      return Nfs4Status::kNotDir;
    case Errc::kIsDirectory:
      return Nfs4Status::kIsDir;
    case Errc::kNotEmpty:
      return Nfs4Status::kNotEmpty;
    case Errc::kAccess:
      return Nfs4Status::kAccess;
    case Errc::kNotOwner:
      return Nfs4Status::kPerm;
    case Errc::kReadOnly:
      return Nfs4Status::kRoFs;
    case Errc::kInvalid:
      return Nfs4Status::kInval;
    case Errc::kNameTooLong:
      return Nfs4Status::kNameTooLong;
    case Errc::kWrongType:
      return Nfs4Status::kWrongType;
    case Errc::kQuota:
      return Nfs4Status::kDQuot;
    case Errc::kNoSpace:
      return Nfs4Status::kNoSpc;
    case Errc::kFileTooBig:
      return Nfs4Status::kFBig;
    case Errc::kTooManyLinks:
      return Nfs4Status::kMLink;
    case Errc::kCrossDevice:
      return Nfs4Status::kXDev;
    case Errc::kBadHandle:
      return Nfs4Status::kBadHandle;
    case Errc::kStale:
      return Nfs4Status::kStale;
    case Errc::kBadCookie:
      return Nfs4Status::kBadCookie;
    case Errc::kNotSupported:
      return Nfs4Status::kNotSupp;
    case Errc::kNoAttribute:
      return Nfs4Status::kNoXattr;
    case Errc::kTooLarge:
      return Nfs4Status::kXattr2Big;
    case Errc::kNoMoreData:
      return Nfs4Status::kNxIo;
    case Errc::kShareConflict:
      return Nfs4Status::kShareDenied;
    case Errc::kLocked:
      return Nfs4Status::kLocked;
    case Errc::kDeadlock:
      return Nfs4Status::kDeadlock;
    // No call of this protocol uses conditions that fail with these; they would be a mistake of
    // ours.
    case Errc::kGuardMismatch:
    case Errc::kPreconditionFailed:
    case Errc::kLeaseLost:
      return Nfs4Status::kServerFault;
    // The client waits and asks again.
    case Errc::kRecallPending:
    case Errc::kBusy:
    case Errc::kTimeout:
    case Errc::kShutdown:
      return Nfs4Status::kDelay;
    case Errc::kIo:
    case Errc::kCorrupt:
      return Nfs4Status::kIo;
  }
  return Nfs4Status::kServerFault;
}

Nfs4Status in_minor_version_0(Nfs4Status status) {
  if (status <= Nfs4Status::kCbPathDown) return status;
  switch (status) {
    case Nfs4Status::kWrongType:
      return Nfs4Status::kInval;
    case Nfs4Status::kBadSession:
      return Nfs4Status::kExpired;  // the client was ended during the request
    case Nfs4Status::kDelegRevoked:
      return Nfs4Status::kBadStateId;
    default:
      return Nfs4Status::kServerFault;
  }
}

}  // namespace stoa::nfs4
