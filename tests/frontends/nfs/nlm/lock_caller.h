// NLM and NSM calls by hand, over WireClient.
#pragma once

#include <optional>
#include <string>

#include "frontends/nfs/nlm/messages.h"
#include "tests/frontends/nfs/nfs_caller.h"

namespace stoa::test {

using nlm::NlmStatus;

struct WireLock {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool exclusive = true;
  std::uint32_t svid = 1;
  bool operator==(const WireLock&) const = default;
};
struct WireHolder {
  bool exclusive = false;
  std::uint32_t svid = 0;
  Bytes owner;
  std::uint64_t offset = 0, length = 0;
};

enum NlmProcedure : std::uint32_t {
  kNlmTest = 1,
  kNlmLock,
  kNlmCancel,
  kNlmUnlock,
  kNlmGranted,
  kNlmTestMsg,
  kNlmLockMsg,
  kNlmCancelMsg,
  kNlmUnlockMsg,
  kNlmGrantedMsg,
  kNlmTestRes,
  kNlmLockRes,
  kNlmCancelRes,
  kNlmUnlockRes,
  kNlmGrantedRes,
  kNlmShare = 20,
  kNlmUnshare,
  kNmLock,
  kNlmFreeAll,
};

class LockCaller {
 public:
  LockCaller(std::uint16_t port, std::string name, std::uint32_t uid = 0, std::uint8_t host = 1);  // as WireClient

  CallSpec spec(std::uint32_t procedure, std::uint32_t program = 100'021, std::uint32_t version = 4);
  Xdr arguments(std::uint32_t procedure, const Bytes& handle, const WireLock& lock, bool block = false,
                bool reclaim = false);
  // The status of any procedure that answers with nlm4_res.
  NlmStatus call(std::uint32_t procedure, const Xdr& arguments);
  NlmStatus lock(const Bytes& handle, const WireLock& lock, bool block = false, bool reclaim = false) {
    return call(kNlmLock, arguments(kNlmLock, handle, lock, block, reclaim));
  }
  NlmStatus unlock(const Bytes& handle, const WireLock& lock) {
    return call(kNlmUnlock, arguments(kNlmUnlock, handle, lock));
  }
  NlmStatus cancel(const Bytes& handle, const WireLock& lock) {
    return call(kNlmCancel, arguments(kNlmCancel, handle, lock, true));
  }
  NlmStatus test(const Bytes& handle, const WireLock& lock, WireHolder* holder = nullptr);
  NlmStatus share(const Bytes& handle, std::uint32_t access, std::uint32_t deny, std::string_view owner = "s",
                  bool reclaim = false);
  NlmStatus unshare(const Bytes& handle, std::string_view owner = "s");
  // With an empty reply: whether it was accepted.
  bool tell(std::uint32_t procedure, const Xdr& arguments, std::uint32_t program = 100'021, std::uint32_t version = 4);
  bool free_all() { return tell(kNlmFreeAll, Xdr().string(name).u32(0)); }
  bool notify(std::string_view machine, std::uint32_t state) {
    return tell(6, Xdr().string(machine).u32(state), 100'024, 1);
  }

  WireClient wire;
  const std::string name;
  std::uint32_t uid;
  std::uint32_t state = 0;  // of its status monitor
  std::uint32_t xid;
};

}  // namespace stoa::test
