// Sweep of blobs that no record names after a start: writes in progress when the server died, and the content of lost
// metadata.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backends/blob/local/data_directory.h"
#include "base/error.h"
#include "core/blob/kept_blobs.h"

namespace stoa::blob_local {

// More than a crash leaves behind. A crash leaves a few blobs for each writing client, which may be large. It also
// leaves blobs written and dropped since the last garbage collection, which are many small ones. 1 GiB in 64 blobs or
// 64 MiB in 1024 are freed in any store, and beyond these a sixteenth of all blobs found. More than that is kept until
// an administrator has looked: keeping it costs space, freeing it may cost the content.
inline constexpr std::uint64_t kSweptBlobs = 64, kSweptSmallBlobs = 1024;
inline constexpr std::uint64_t kSweptBytes = std::uint64_t{1} << 30, kSweptSmallBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kSweptPart = 16;
inline bool is_much(std::uint64_t blobs, std::uint64_t bytes, std::uint64_t of_blobs, std::uint64_t of_bytes) {
  const bool many = blobs > kSweptSmallBlobs || (blobs > kSweptBlobs && bytes > kSweptSmallBytes);
  return (many && blobs > of_blobs / kSweptPart) || (bytes > kSweptBytes && bytes > of_bytes / kSweptPart);
}

struct Kept : core::KeptBlobs {
  std::uint64_t slots = 0;  // of these blobs
};

// Frees unadopted blobs, or keeps all of them (their slots are taken then) when they are many and `all` is not set.
// Returns the amount kept. It looks into containers that would go and into the newest ones. A free slot has no bytes
// where the file system punches holes, and content lost by the metadata lies in these. Blobs made since the
// directories were opened are left alone, so blobs may be created meanwhile; no earlier blob may be released.
Result<Kept> sweep_unnamed(std::span<const std::unique_ptr<DataDirectory>> directories, bool all);

}  // namespace stoa::blob_local
