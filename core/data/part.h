// Source ranges for sharing: a file whose bytes are about to become part of another's, without a copy.
#pragma once

#include "core/data/blob_pins.h"
#include "core/data/content.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// One moment of the file: everything that was written to it before.
struct Part {
  std::uint64_t data_version = 0;
  std::uint64_t length = 0;
  bool is_inline = false;
  std::string inline_bytes;  // the rest of `length` is zeros: a file that was grown has fewer than its size
  bool checksummed = false;
  std::vector<Piece> pieces;  // by offset within the part
  BlobPins::Hold hold;        // keeps the blobs, should the file go meanwhile
};

// kStale, kWrongType, kInvalid (the range). `stays`: the file goes on living with its content, which is shared from now
// on, and the caller must be allowed to read it (kAccess).
Result<Part> take_part(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const ConcatenatePart& wanted,
                       bool stays);

// The parts in a row, sharing their extents; few bytes become inline content. Inline parts of a large content are
// written to blobs. kNoSpace, kTooLarge: too many extents, kFileTooBig.
Result<StagedContent> content_of_parts(VolumeContext& volume, std::span<const Part> parts);

// Another file is about to share this range, so its blobs are not written in place from now on, even where they appear
// elsewhere in this file. Otherwise a writer that lengthens the last extent would take the blob's bytes behind it for
// its own.
void share_range(Layout& layout, std::uint64_t offset, std::uint64_t length);

}  // namespace stoa::core
