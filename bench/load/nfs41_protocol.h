// Numbers and small types of NFSv4.1 (RFC 8881) that the generator speaks of.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace stoa::bench {

enum class Op : std::uint32_t {
  kClose = 4,
  kCommit = 5,
  kCreate = 6,
  kDelegReturn = 8,
  kGetattr = 9,
  kGetFh = 10,
  kLock = 12,
  kLockU = 14,
  kLookup = 15,
  kOpen = 18,
  kPutFh = 22,
  kPutRootFh = 24,
  kRead = 25,
  kWrite = 38,
  kExchangeId = 42,
  kCreateSession = 43,
  kDestroySession = 44,
  kSequence = 53,
  kDestroyClientId = 57,
  kReclaimComplete = 58,
};
const char* name_of(Op op);

inline constexpr std::uint32_t kNfs4Ok = 0;
inline constexpr std::uint32_t kNfs4NoEnt = 2;
inline constexpr std::uint32_t kNfs4Exist = 17;
inline constexpr std::uint32_t kNfs4Delay = 10008;
std::string status_name(std::uint32_t status);  // "NFS4ERR_DELAY"

enum : std::uint32_t {
  kShareRead = 1,
  kShareWrite = 2,
  kShareBoth = 3,
  kWantReadDelegation = 0x100,
  kWantNoDelegation = 0x400
};
enum : std::uint32_t { kUnstable = 0, kDataSync = 1, kFileSync = 2 };
enum : std::uint32_t { kTypeRegular = 1, kTypeDirectory = 2 };

// The attributes that the Linux client asks for with GETATTR and OPEN: type, change, size, fsid, fileid | mode,
// numlinks, owner, owner_group, rawdev, space_used, time_access, time_metadata, time_modify, mounted_on_fileid.
inline constexpr std::array<std::uint32_t, 2> kLinuxAttributes{0x0010011a, 0x00b0a23a};

struct Handle41 {
  std::uint32_t size = 0;
  char bytes[128];
  std::string_view view() const { return {bytes, size}; }
};

struct Stateid41 {
  std::uint32_t seqid = 0;
  std::array<char, 12> other{};
};

using SessionId41 = std::array<char, 16>;

}  // namespace stoa::bench
