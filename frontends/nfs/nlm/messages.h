// Arguments and results of NLM version 4 (Protocols for Interworking: XNFS, Version 3W, chapter 14). Decoded
// values borrow the call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "frontends/nfs/rpc/xdr.h"

namespace stoa::nlm {

inline constexpr std::size_t kNameBytesMax = 1024;  // LM_MAXSTRLEN
inline constexpr std::size_t kNetobjBytesMax = 1024;

enum class NlmStatus : std::uint32_t {
  kGranted = 0,
  kDenied = 1,
  kDeniedNoLocks = 2,
  kBlocked = 3,
  kDeniedGracePeriod = 4,
  kDeadlock = 5,
  kReadOnly = 6,
  kStaleHandle = 7,
  kTooBig = 8,
  kFailed = 9,
};

using Netobj = std::span<const std::byte>;

// nlm4_lock. Length 0: to the end of the file.
struct LockArguments {
  std::string_view caller_name{};
  Netobj handle{};
  Netobj owner{};
  std::uint32_t svid = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// The arguments of all procedures; each reads its own fields.
struct Request {
  Netobj cookie{};
  bool block = false;
  bool exclusive = false;
  LockArguments lock{};
  bool reclaim = false;
  std::uint32_t state = 0;  // of the client's status monitor
};
Request read_test(rpc::XdrReader& in);    // nlm4_testargs, of TEST and GRANTED
Request read_lock(rpc::XdrReader& in);    // nlm4_lockargs
Request read_cancel(rpc::XdrReader& in);  // nlm4_cancargs
Request read_unlock(rpc::XdrReader& in);  // nlm4_unlockargs

struct ShareRequest {
  Netobj cookie{};
  std::string_view caller_name{};
  Netobj handle{};
  Netobj owner{};
  std::uint32_t deny = 0;    // fsh4_mode: bit 0 readers, bit 1 writers
  std::uint32_t access = 0;  // fsh4_access: bit 0 reading, bit 1 writing
  bool reclaim = false;
};
ShareRequest read_share(rpc::XdrReader& in);  // nlm4_shareargs

struct Answer {  // nlm4_res
  Netobj cookie{};
  NlmStatus status{};
};
Answer read_answer(rpc::XdrReader& in);

struct Notification {  // nlm4_notify
  std::string_view name{};
  std::uint32_t state = 0;
};
Notification read_notification(rpc::XdrReader& in);

void write_answer(rpc::XdrWriter& out, Netobj cookie, NlmStatus status);
// nlm4_testargs of a GRANTED call.
std::vector<std::byte> granted_arguments(std::uint64_t cookie, bool exclusive, const LockArguments& lock);

}  // namespace stoa::nlm
