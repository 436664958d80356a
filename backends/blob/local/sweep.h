// What a start finds in the data directories that no record names: what was being written when the server died, and
// what is lost when the metadata are not what they were.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backends/blob/local/data_directory.h"
#include "base/error.h"
#include "core/blob/kept_blobs.h"

namespace stoa::blob_local {

// More than a crash leaves behind. What is under way when a server dies is a few blobs for each client that writes,
// which may be large, and what was written and dropped again since garbage was collected last, which is many small
// ones. 1 GiB in 64 blobs or 64 MiB in 1024 are let go in any store, and beyond these a sixteenth of what is found.
// Whatever is more is kept until an administrator has looked: to keep it costs space, to free it may cost the content.
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

// Frees what nobody adopted, or keeps all of it (its slots are taken then) when it is much and not `all` may go.
// Returns what it kept. Of containers it looks into those that would go and into the newest ones: a free slot holds no
// bytes where the file system punches holes, and content that the metadata lost lies in these. What was made since the
// directories were opened is left alone, so blobs may come into being meanwhile; none of before may be released.
Result<Kept> sweep_unnamed(std::span<const std::unique_ptr<DataDirectory>> directories, bool all);

}  // namespace stoa::blob_local
