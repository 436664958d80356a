// File handles, used by every protocol that has handles. It is the same on every head, before and after a restart. A
// keyed checksum covers it, so that no client can guess or alter one.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/error.h"
#include "base/siphash.h"
#include "core/api/ids.h"

namespace stoa::core {

struct FileRef {
  FileId id = kNoFile;
  std::uint32_t generation = 0;
  ExportId scope{};  // the export through which the handle was given out: its rules hold for every use
  bool operator==(const FileRef&) const = default;
};

inline constexpr std::size_t kHandleBytes = 36;
using HandleBytes = std::array<std::byte, kHandleBytes>;

// Layout, little-endian: version u8 (1), zero u8[3], scope u32, volume u64, id u64, generation u32, siphash u64.
class HandleCodec {
 public:
  HandleCodec(std::uint64_t volume_id, const SipKey& key) : volume_id_(volume_id), key_(key) {}

  HandleBytes encode(const FileRef& ref) const;
  // Errors: kBadHandle, when wrong in size, version, volume or checksum.
  Result<FileRef> decode(std::span<const std::byte> bytes) const;

 private:
  std::uint64_t volume_id_;
  SipKey key_;
};

}  // namespace stoa::core
