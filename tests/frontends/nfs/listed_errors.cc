#include "tests/frontends/nfs/listed_errors.h"

#include <algorithm>
#include <map>
#include <vector>

namespace stoa::test {
namespace {

using nfs4::Nfs4Status;
using enum nfs4::Nfs4Status;
using Errors = std::vector<Nfs4Status>;

// Left out of both tables: MOVED, LEASE_MOVED and FHEXPIRED, as nothing moves or expires here; BADHANDLE of 4.0 for
// others than PUTFH.
const std::map<std::uint32_t, Errors>& errors_40() {
  static const Errors any{kBadXdr, kDelay, kResource, kServerFault};
  static const std::map<std::uint32_t, Errors> table = [] {
    std::map<std::uint32_t, Errors> t{
        {3, {kAccess, kInval, kIo, kNoFileHandle, kStale}},  // ACCESS
        {4,
         {kAdminRevoked, kBadSeqId, kBadStateId, kExpired, kInval, kIsDir, kLocksHeld, kNoFileHandle, kOldStateId,
          kStale, kStaleStateId}},
        {5, {kAccess, kInval, kIo, kIsDir, kNoFileHandle, kRoFs, kStale, kSymlink}},  // COMMIT
        {6,
         {kAccess, kAttrNotSupp, kBadChar, kBadName, kBadOwner, kBadType, kDQuot, kExist, kInval, kIo, kNameTooLong,
          kNoFileHandle, kNoSpc, kNotDir, kPerm, kRoFs, kStale}},  // CREATE
        {7, {kNotSupp, kStaleClientId}},                           // DELEGPURGE
        {8,
         {kAdminRevoked, kBadStateId, kExpired, kInval, kNoFileHandle, kNotSupp, kOldStateId, kStale,
          kStaleStateId}},                                           // DELEGRETURN
        {9, {kAccess, kGrace, kInval, kIo, kNoFileHandle, kStale}},  // GETATTR
        {10, {kNoFileHandle, kStale}},                               // GETFH
        {11, {kAccess, kBadChar, kBadName, kDQuot,       kExist,    kFileOpen,     kInval,
              kIo,     kIsDir,   kMLink,   kNameTooLong, kNoEnt,    kNoFileHandle, kNoSpc,
              kNotDir, kNotSupp, kRoFs,    kStale,       kWrongSec, kXDev}},  // LINK
        {12, {kAccess,          kAdminRevoked, kBadRange,      kBadSeqId,    kBadStateId, kDeadlock,
              kDenied,          kExpired,      kGrace,         kInval,       kIsDir,      kLockNotSupp,
              kLockRange,       kNoFileHandle, kNoGrace,       kOldStateId,  kOpenMode,   kReclaimBad,
              kReclaimConflict, kStale,        kStaleClientId, kStaleStateId}},  // LOCK
        {13,
         {kAccess, kBadRange, kDenied, kExpired, kGrace, kInval, kIsDir, kLockRange, kNoFileHandle, kStale,
          kStaleClientId}},  // LOCKT
        {14,
         {kAccess, kAdminRevoked, kBadRange, kBadSeqId, kBadStateId, kExpired, kGrace, kInval, kIsDir, kLockRange,
          kNoFileHandle, kOldStateId, kStale, kStaleStateId}},  // LOCKU
        {15,
         {kAccess, kBadChar, kBadName, kInval, kIo, kNameTooLong, kNoEnt, kNoFileHandle, kNotDir, kStale, kSymlink,
          kWrongSec}},                                                                               // LOOKUP
        {16, {kAccess, kIo, kNoEnt, kNoFileHandle, kNotDir, kStale, kSymlink, kWrongSec}},           // LOOKUPP
        {17, {kAccess, kAttrNotSupp, kBadChar, kGrace, kInval, kIo, kNoFileHandle, kSame, kStale}},  // NVERIFY
        {18, {kAccess,      kAdminRevoked, kAttrNotSupp,   kBadChar, kBadName,      kBadOwner,        kBadSeqId,
              kBadStateId,  kDQuot,        kExist,         kExpired, kFBig,         kGrace,           kInval,
              kIo,          kIsDir,        kNameTooLong,   kNoEnt,   kNoFileHandle, kNoSpc,           kNotDir,
              kNotSupp,     kNoGrace,      kOldStateId,    kPerm,    kReclaimBad,   kReclaimConflict, kRoFs,
              kShareDenied, kStale,        kStaleClientId, kSymlink, kWrongSec}},              // OPEN
        {19, {kAccess, kDQuot, kIo, kNoEnt, kNoFileHandle, kNoSpc, kNotSupp, kRoFs, kStale}},  // OPENATTR
        {20,
         {kAdminRevoked, kBadSeqId, kBadStateId, kExpired, kInval, kIsDir, kNoFileHandle, kOldStateId, kStale,
          kStaleStateId}},
        {21,
         {kAdminRevoked, kBadSeqId, kBadStateId, kExpired, kInval, kLocksHeld, kNoFileHandle, kOldStateId, kRoFs,
          kStale, kStaleStateId}},
        {22, {kBadHandle, kStale, kWrongSec, kAccess}},  // PUTFH; ACCESS: the export does not serve the client
        {23, {kWrongSec}},                               // PUTPUBFH
        {24, {kWrongSec}},                               // PUTROOTFH
        {25,
         {kAccess, kAdminRevoked, kBadStateId, kExpired, kGrace, kInval, kIo, kIsDir, kLocked, kNoFileHandle,
          kOldStateId, kOpenMode, kStale, kStaleStateId, kSymlink}},                                    // READ
        {26, {kAccess, kBadCookie, kInval, kIo, kNoFileHandle, kNotDir, kNotSame, kStale, kTooSmall}},  // READDIR
        {27, {kAccess, kInval, kIo, kIsDir, kNotSupp, kNoFileHandle, kStale}},                          // READLINK
        {28,
         {kAccess, kBadChar, kBadName, kFileOpen, kGrace, kInval, kIo, kNameTooLong, kNoEnt, kNoFileHandle, kNotDir,
          kNotEmpty, kRoFs, kStale}},
        {29,
         {kAccess, kBadChar, kBadName, kDQuot, kExist, kFileOpen, kGrace, kInval, kIo, kNameTooLong, kNoEnt,
          kNoFileHandle, kNoSpc, kNotDir, kNotEmpty, kRoFs, kStale, kWrongSec, kXDev}},                     // RENAME
        {30, {kAccess, kCbPathDown, kExpired, kStaleClientId}},                                             // RENEW
        {31, {kRestoreFh, kStale, kWrongSec}},                                                              // RESTOREFH
        {32, {kNoFileHandle, kStale}},                                                                      // SAVEFH
        {33, {kAccess, kBadChar, kBadName, kInval, kNameTooLong, kNoEnt, kNoFileHandle, kNotDir, kStale}},  // SECINFO
        {34, {kAccess,     kAdminRevoked, kAttrNotSupp, kBadChar, kBadOwner, kBadStateId,  kDQuot,        kExpired,
              kFBig,       kGrace,        kInval,       kIo,      kIsDir,    kLocked,      kNoFileHandle, kNoSpc,
              kOldStateId, kOpenMode,     kPerm,        kRoFs,    kStale,    kStaleStateId}},  // SETATTR
        {35, {kClidInUse, kInval}},                                                            // SETCLIENTID
        {36, {kClidInUse, kStaleClientId}},                                                    // SETCLIENTID_CONFIRM
        {37, {kAccess, kAttrNotSupp, kBadChar, kGrace, kInval, kIo, kNoFileHandle, kNotSame, kStale}},  // VERIFY
        {38, {kAccess,     kAdminRevoked, kBadStateId, kDQuot,  kExpired,      kFBig,   kGrace,
              kInval,      kIo,           kIsDir,      kLocked, kNoFileHandle, kNoSpc,  kNxIo,
              kOldStateId, kOpenMode,     kRoFs,       kStale,  kStaleStateId, kSymlink}},  // WRITE
        {39, {kExpired, kLocksHeld, kStaleClientId}},                                       // RELEASE_LOCKOWNER
    };
    for (auto& [operation, errors] : t) errors.insert(errors.end(), any.begin(), any.end());
    return t;
  }();
  return table;
}

const std::map<std::uint32_t, Errors>& errors_41() {
  // In nearly every list.
  static const Errors any{kBadXdr,    kDeadSession,      kDelay,       kOpNotInSession, kRepTooBig, kRepTooBigToCache,
                          kReqTooBig, kRetryUncachedRep, kServerFault, kTooManyOps};
  // Errors of operations that take the stateid of an open file.
  static const Errors io{kAccess, kAdminRevoked, kBadStateId,   kDelegRevoked, kExpired,  kGrace, kInval,   kIo,
                         kIsDir,  kLocked,       kNoFileHandle, kOldStateId,   kOpenMode, kStale, kSymlink, kWrongType};
  static const std::map<std::uint32_t, Errors> table = [] {
    const auto with_io = [](Errors more) {
      more.insert(more.end(), io.begin(), io.end());
      return more;
    };
    std::map<std::uint32_t, Errors> t{
        {3, {kAccess, kInval, kIo, kNoFileHandle, kStale}},  // ACCESS
        {4,
         {kAdminRevoked, kBadStateId, kExpired, kLocksHeld, kNoFileHandle, kOldStateId, kStale, kWrongCred}},  // CLOSE
        {5,
         {kAccess, kInval, kIo, kIsDir, kNoFileHandle, kStale, kSymlink,
          kWrongType}},  // COMMIT; INVAL: of a range beyond 2^64
        {6,
         {kAccess, kAttrNotSupp, kBadChar, kBadName, kBadOwner, kBadType, kDQuot, kExist, kInval, kIo, kMLink,
          kNameTooLong, kNoFileHandle, kNoSpc, kNotDir, kPerm, kRoFs, kStale, kUnsafeCompound}},  // CREATE
        {7, {kNotSupp, kWrongCred}},                                                              // DELEGPURGE
        {8,
         {kAdminRevoked, kBadStateId, kDelegRevoked, kExpired, kInval, kNoFileHandle, kNotSupp, kOldStateId, kStale,
          kWrongCred}},
        {9, {kAccess, kGrace, kInval, kIo, kNoFileHandle, kStale, kWrongType}},  // GETATTR
        {10, {kNoFileHandle, kStale}},                                           // GETFH
        {11, {kAccess, kBadChar, kBadName, kDQuot,       kExist,        kFileOpen, kGrace,  kInval,
              kIsDir,  kIo,      kMLink,   kNameTooLong, kNoFileHandle, kNoSpc,    kNotDir, kNotSupp,
              kRoFs,   kStale,   kSymlink, kWrongSec,    kWrongType,    kXDev}},  // LINK
        {12,
         {kAccess,     kAdminRevoked,    kBadRange,    kBadStateId, kDeadlock,     kDenied,    kExpired,    kGrace,
          kInval,      kIsDir,           kLockNotSupp, kLockRange,  kNoFileHandle, kNoGrace,   kOldStateId, kOpenMode,
          kReclaimBad, kReclaimConflict, kRoFs,        kStale,      kSymlink,      kWrongCred, kWrongType}},
        {13,
         {kAccess, kBadRange, kDenied, kExpired, kGrace, kInval, kIsDir, kLockRange, kNoFileHandle, kRoFs, kStale,
          kSymlink, kWrongCred, kWrongType}},  // LOCKT
        {14,
         {kAccess, kAdminRevoked, kBadRange, kBadStateId, kExpired, kInval, kLockRange, kNoFileHandle, kOldStateId,
          kStale, kWrongCred}},
        {15,
         {kAccess, kBadChar, kBadName, kInval, kIo, kNameTooLong, kNoEnt, kNoFileHandle, kNotDir, kStale, kSymlink,
          kWrongSec}},                                                                      // LOOKUP
        {16, {kAccess, kIo, kNoEnt, kNoFileHandle, kNotDir, kStale, kSymlink, kWrongSec}},  // LOOKUPP
        {17,
         {kAccess, kAttrNotSupp, kBadChar, kGrace, kInval, kIo, kNoFileHandle, kSame, kStale, kUnknownLayoutType,
          kWrongType}},  // NVERIFY
        {18, {kAccess,       kAdminRevoked, kAttrNotSupp,     kBadChar,
              kBadName,      kBadOwner,     kBadStateId,      kDelegAlreadyWanted,
              kDelegRevoked, kDQuot,        kExist,           kExpired,
              kFBig,         kGrace,        kInval,           kIsDir,
              kIo,           kNameTooLong,  kNoEnt,           kNoFileHandle,
              kNoSpc,        kNotDir,       kNoGrace,         kOldStateId,
              kPerm,         kReclaimBad,   kReclaimConflict, kRoFs,
              kShareDenied,  kStale,        kSymlink,         kUnsafeCompound,
              kWrongSec,     kWrongType}},  // OPEN
        {19,
         {kAccess, kDQuot, kIo, kNoEnt, kNoFileHandle, kNoSpc, kNotSupp, kRoFs, kStale, kUnsafeCompound,
          kWrongType}},    // OPENATTR
        {20, {kNotSupp}},  // OPEN_CONFIRM
        {21,
         {kAdminRevoked, kBadStateId, kExpired, kInval, kNoFileHandle, kOldStateId, kRoFs, kStale,
          kWrongCred}},                                  // OPEN_DOWNGRADE
        {22, {kBadHandle, kStale, kWrongSec, kAccess}},  // PUTFH; ACCESS: the export does not serve the client
        {23, {kWrongSec}},                               // PUTPUBFH
        {24, {kWrongSec}},                               // PUTROOTFH
        {25, with_io({})},                               // READ
        {26, {kAccess, kBadCookie, kInval, kIo, kNoFileHandle, kNotDir, kNotSame, kStale, kTooSmall}},  // READDIR
        {27, {kAccess, kInval, kIo, kNoFileHandle, kStale, kWrongType}},                                // READLINK
        {28,
         {kAccess, kBadChar, kBadName, kFileOpen, kGrace, kInval, kIo, kNameTooLong, kNoEnt, kNoFileHandle, kNotDir,
          kNotEmpty, kRoFs, kStale}},
        {29, {kAccess, kBadChar,  kBadName, kDQuot,       kExist,    kFileOpen,     kGrace,
              kInval,  kIo,       kMLink,   kNameTooLong, kNoEnt,    kNoFileHandle, kNoSpc,
              kNotDir, kNotEmpty, kRoFs,    kStale,       kWrongSec, kXDev}},                               // RENAME
        {30, {kNotSupp}},                                                                                   // RENEW
        {31, {kNoFileHandle, kStale, kWrongSec}},                                                           // RESTOREFH
        {32, {kNoFileHandle, kStale}},                                                                      // SAVEFH
        {33, {kAccess, kBadChar, kBadName, kInval, kNameTooLong, kNoEnt, kNoFileHandle, kNotDir, kStale}},  // SECINFO
        {34, {kAccess,       kAdminRevoked,
              kAttrNotSupp,  kBadChar,
              kBadOwner,     kBadStateId,
              kDelegRevoked, kDQuot,
              kExpired,      kFBig,
              kGrace,        kInval,
              kIo,           kLocked,
              kNoFileHandle, kNoSpc,
              kOldStateId,   kOpenMode,
              kPerm,         kRoFs,
              kStale,        kUnknownLayoutType,
              kWrongType}},  // SETATTR
        {35, {kNotSupp}},    // SETCLIENTID
        {36, {kNotSupp}},    // SETCLIENTID_CONFIRM
        {37,
         {kAccess, kAttrNotSupp, kBadChar, kGrace, kInval, kIo, kNoFileHandle, kNotSame, kStale, kUnknownLayoutType,
          kWrongType}},                                              // VERIFY
        {38, with_io({kDQuot, kFBig, kNoSpc, kRoFs})},               // WRITE
        {39, {kNotSupp}},                                            // RELEASE_LOCKOWNER
        {40, {kInval, kNoEnt}},                                      // BACKCHANNEL_CTL
        {41, {kBadSession, kBadSessionDigest, kInval, kNotOnlyOp}},  // BIND_CONN_TO_SESSION
        {42,
         {kBadChar, kClidInUse, kEncrAlgUnsupp, kHashAlgUnsupp, kInval, kNoEnt, kNotOnlyOp, kNotSame,
          kPerm}},  // EXCHANGE_ID; PERM: 18.35.4
        {43,
         {kClidInUse, kInval, kNoEnt, kNotOnlyOp, kNoSpc, kSeqMisordered, kStaleClientId, kTooSmall,
          kWrongCred}},  // CREATE_SESSION
        {44,
         {kBackChanBusy, kBadSession, kCbPathDown, kConnNotBoundToSession, kNotOnlyOp, kStaleClientId,
          kWrongCred}},                                            // DESTROY_SESSION
        {45, {kBadStateId, kLocksHeld, kOldStateId, kWrongCred}},  // FREE_STATEID
        {46, {kNotSupp}},
        {47, {kNotSupp}},
        {48, {kNotSupp}},
        {49, {kNotSupp}},
        {50, {kNotSupp}},
        {51, {kNotSupp}},                                                           // directories, layouts
        {52, {kAccess, kInval, kNoEnt, kNoFileHandle, kNotDir, kNotSupp, kStale}},  // SECINFO_NO_NAME
        {53,
         {kBadSession, kBadSlot, kBadHighSlot, kConnNotBoundToSession, kSequencePos, kSeqFalseRetry,
          kSeqMisordered}},                           // SEQUENCE
        {54, {kNotSupp, kInval, kBadSessionDigest}},  // SET_SSV; NOTSUPP: optional
        {55, {}},                                     // TEST_STATEID
        {56,
         {kDelegAlreadyWanted, kGrace, kInval, kIo, kNoFileHandle, kNotSupp, kNoGrace, kRecallConflict, kReclaimBad,
          kReclaimConflict, kStale, kWrongType, kAccess}},  // WANT_DELEGATION; ACCESS: there is no other word
        {57, {kClientIdBusy, kNotOnlyOp, kStaleClientId, kWrongCred}},                    // DESTROY_CLIENTID
        {58, {kCompleteAlready, kInval, kNoFileHandle, kStale, kWrongCred, kWrongType}},  // RECLAIM_COMPLETE
        {59, with_io({kDQuot, kFBig, kNoSpc, kNotSupp, kRoFs})},                          // ALLOCATE
        {60, with_io({kDQuot, kFBig, kNoSpc, kRoFs, kOffloadDenied, kPartnerNoAuth, kPartnerNotSupp, kNotSupp,
                      kXDev})},                   // COPY
        {61, {kNotSupp}},                         // COPY_NOTIFY
        {62, with_io({kFBig, kNotSupp, kRoFs})},  // DEALLOCATE
        {63, with_io({kNotSupp})},                // IO_ADVISE
        {64, {kNotSupp}},
        {65, {kNotSupp}},  // LAYOUTERROR, LAYOUTSTATS
        {66,
         {kAdminRevoked, kBadStateId, kCompleteAlready, kExpired, kGrace, kNotSupp, kOldStateId,
          kNoFileHandle}},  // OFFLOAD_CANCEL
        {67,
         {kAdminRevoked, kBadStateId, kCompleteAlready, kExpired, kGrace, kNotSupp, kOldStateId,
          kNoFileHandle}},                                               // OFFLOAD_STATUS; that of no file
        {68, with_io({kNotSupp})},                                       // READ_PLUS
        {69, with_io({kNotSupp, kNxIo, kUnionNotSupp})},                 // SEEK
        {70, {kNotSupp}},                                                // WRITE_SAME
        {71, with_io({kDQuot, kFBig, kNoSpc, kNotSupp, kRoFs, kXDev})},  // CLONE
        {72,
         {kAccess, kInval, kIo, kNoXattr, kNotSupp, kNoFileHandle, kStale, kTooSmall, kWrongType, kBadChar,
          kNameTooLong}},  // GETXATTR
        {73,
         {kAccess, kInval, kIo, kNoXattr, kXattr2Big, kExist, kDQuot, kNoSpc, kRoFs, kPerm, kNotSupp, kNoFileHandle,
          kStale, kWrongType, kBadChar, kNameTooLong}},  // SETXATTR
        {74,
         {kAccess, kInval, kIo, kNotSupp, kNoFileHandle, kStale, kTooSmall, kWrongType, kBadCookie,
          kNotSame}},  // LISTXATTRS
        {75,
         {kAccess, kInval, kIo, kNoXattr, kRoFs, kPerm, kNotSupp, kNoFileHandle, kStale, kWrongType, kBadChar,
          kNameTooLong}},  // REMOVEXATTR
    };
    for (auto& [operation, errors] : t) errors.insert(errors.end(), any.begin(), any.end());
    return t;
  }();
  return table;
}

}  // namespace

bool is_listed(std::uint32_t minor, std::uint32_t operation, Nfs4Status status) {
  if (status == kOk) return true;
  constexpr std::uint32_t kLastOf41 = 58;
  if (minor == 1 && operation > kLastOf41) return status == kOpIllegal || status == kBadXdr;
  const auto& table = minor == 0 ? errors_40() : errors_41();
  const auto errors = table.find(operation);
  if (errors == table.end()) return status == kOpIllegal || status == kBadXdr;
  return std::ranges::find(errors->second, status) != errors->second.end();
}

}  // namespace stoa::test
