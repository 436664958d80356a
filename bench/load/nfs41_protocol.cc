#include "bench/load/nfs41_protocol.h"

namespace stoa::bench {

const char* name_of(Op op) {
  switch (op) {
    case Op::kClose:
      return "CLOSE";
    case Op::kCommit:
      return "COMMIT";
    case Op::kCreate:
      return "CREATE";
    case Op::kDelegReturn:
      return "DELEGRETURN";
    case Op::kGetattr:
      return "GETATTR";
    case Op::kGetFh:
      return "GETFH";
    case Op::kLock:
      return "LOCK";
    case Op::kLockU:
      return "LOCKU";
    case Op::kLookup:
      return "LOOKUP";
    case Op::kOpen:
      return "OPEN";
    case Op::kPutFh:
      return "PUTFH";
    case Op::kPutRootFh:
      return "PUTROOTFH";
    case Op::kRead:
      return "READ";
    case Op::kWrite:
      return "WRITE";
    case Op::kExchangeId:
      return "EXCHANGE_ID";
    case Op::kCreateSession:
      return "CREATE_SESSION";
    case Op::kDestroySession:
      return "DESTROY_SESSION";
    case Op::kSequence:
      return "SEQUENCE";
    case Op::kDestroyClientId:
      return "DESTROY_CLIENTID";
    case Op::kReclaimComplete:
      return "RECLAIM_COMPLETE";
  }
  return "?";
}

std::string status_name(std::uint32_t status) {
  switch (status) {
    case 1:
      return "NFS4ERR_PERM";
    case 2:
      return "NFS4ERR_NOENT";
    case 5:
      return "NFS4ERR_IO";
    case 13:
      return "NFS4ERR_ACCESS";
    case 17:
      return "NFS4ERR_EXIST";
    case 20:
      return "NFS4ERR_NOTDIR";
    case 21:
      return "NFS4ERR_ISDIR";
    case 22:
      return "NFS4ERR_INVAL";
    case 28:
      return "NFS4ERR_NOSPC";
    case 30:
      return "NFS4ERR_ROFS";
    case 69:
      return "NFS4ERR_DQUOT";
    case 70:
      return "NFS4ERR_STALE";
    case 10006:
      return "NFS4ERR_SERVERFAULT";
    case 10008:
      return "NFS4ERR_DELAY";
    case 10010:
      return "NFS4ERR_DENIED";
    case 10011:
      return "NFS4ERR_EXPIRED";
    case 10012:
      return "NFS4ERR_LOCKED";
    case 10013:
      return "NFS4ERR_GRACE";
    case 10015:
      return "NFS4ERR_SHARE_DENIED";
    case 10018:
      return "NFS4ERR_RESOURCE";
    case 10022:
      return "NFS4ERR_STALE_CLIENTID";
    case 10024:
      return "NFS4ERR_OLD_STATEID";
    case 10025:
      return "NFS4ERR_BAD_STATEID";
    case 10036:
      return "NFS4ERR_BADXDR";
    case 10052:
      return "NFS4ERR_BADSESSION";
    case 10053:
      return "NFS4ERR_BADSLOT";
    case 10063:
      return "NFS4ERR_SEQ_MISORDERED";
    case 10066:
      return "NFS4ERR_REP_TOO_BIG";
    case 10067:
      return "NFS4ERR_REP_TOO_BIG_TO_CACHE";
    case 10076:
      return "NFS4ERR_SEQ_FALSE_RETRY";
    case 10087:
      return "NFS4ERR_DELEG_REVOKED";
    default:
      return "status " + std::to_string(status);
  }
}

}  // namespace stoa::bench
