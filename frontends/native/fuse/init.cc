#include "frontends/native/fuse/init.h"

#include <algorithm>
#include <string>

#include "frontends/native/fuse/ring_abi.h"

namespace stoa::native::fuse {
namespace {

// Left out on purpose:
//  - FUSE_WRITEBACK_CACHE: the kernel would ignore the sizes that the server tells.
//  - FUSE_EXPORT_SUPPORT: the server decides access on its own ACLs.
//  - FUSE_POSIX_ACL: it makes the kernel decide access by mode and POSIX ACL. Without it the kernel passes the two
//    attributes on, checked (since 6.2) or as they came, and keeps none.
constexpr std::uint64_t kWanted = std::uint64_t{FUSE_ASYNC_READ} | FUSE_POSIX_LOCKS | FUSE_ATOMIC_O_TRUNC |
                                  FUSE_BIG_WRITES | FUSE_DONT_MASK | FUSE_FLOCK_LOCKS | FUSE_AUTO_INVAL_DATA |
                                  FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO | FUSE_ASYNC_DIO | FUSE_PARALLEL_DIROPS |
                                  FUSE_HANDLE_KILLPRIV_V2 | FUSE_MAX_PAGES | FUSE_INIT_EXT | kInitDirectIoAllowMmap |
                                  kInitNoExportSupport;
constexpr std::uint16_t kBackgroundMost = 64;
constexpr std::uint16_t kCongested = 48;
constexpr std::uint32_t kPageBytes = 4096;

std::uint64_t offered_by(const fuse_init_in& in) {
  const bool more = (in.flags & FUSE_INIT_EXT) != 0;
  return in.flags | (more ? std::uint64_t{in.flags2} << 32 : 0);
}

}  // namespace

bool offers_io_uring(const fuse_init_in& in) {
  return (offered_by(in) & kInitOverIoUring) != 0;
}

Result<InitReply> negotiate(const fuse_init_in& in, bool with_rings) {
  if (in.major < kProtocolMajor || (in.major == kProtocolMajor && in.minor < kProtocolMinorLeast)) {
    return fail(Errc::kNotSupported, "the kernel speaks version " + std::to_string(in.major) + "." +
                                         std::to_string(in.minor) +
                                         " of the FUSE protocol, and 7.31 is needed; use Linux 5.4 or later");
  }
  InitReply reply{};
  reply.out.major = kProtocolMajor;
  reply.out.minor = kProtocolMinor;
  // A kernel of another major version reads no more than this, and sends INIT again with ours.
  if (in.major > kProtocolMajor) return reply;

  const std::uint64_t agreed = offered_by(in) & (kWanted | (with_rings ? kInitOverIoUring : 0));
  reply.out.flags = static_cast<std::uint32_t>(agreed);
  reply.out.flags2 = static_cast<std::uint32_t>(agreed >> 32);
  reply.out.max_readahead = in.max_readahead;
  reply.out.max_background = kBackgroundMost;
  reply.out.congestion_threshold = kCongested;
  // Without FUSE_MAX_PAGES the kernel sends 32 pages at most.
  reply.out.max_write = (agreed & FUSE_MAX_PAGES) != 0 ? kIoBytes : 32 * kPageBytes;
  reply.out.max_pages = static_cast<std::uint16_t>(reply.out.max_write / kPageBytes);
  reply.out.time_gran = 1;
  reply.negotiated = {.minor = std::min(in.minor, kProtocolMinor),
                      .write_bytes_max = reply.out.max_write,
                      .direct_io = (agreed & kInitDirectIoAllowMmap) != 0};
  return reply;
}

}  // namespace stoa::native::fuse
