// Zeroing stored bytes in place, with their checksums.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// Punches the range, durably. Sums of whole rows leave the store, those of blocks at its edges are made anew; all
// before the bytes go, so that a crash leaves none that is wrong. No other thread is in file `id`, which is the only
// one with these bytes. kCorrupt: a block that would keep some bytes is damaged already, which is recorded; nothing
// was changed. `file_offset`: the position of the range in the file; `content_end`: the file's end in the blob.
Status punch_blob(VolumeContext& volume, FileId id, std::uint64_t file_offset, BlobId blob, std::uint64_t offset,
                  std::uint64_t length, std::uint64_t content_end);

}  // namespace stoa::core
