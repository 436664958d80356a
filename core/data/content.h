// The content of a file as part of metadata transactions: the blobs that it uses, and its removal. Attaches content
// gathered without a name (an upload) to a file.
#pragma once

#include <span>
#include <string>

#include "core/data/block_sums.h"
#include "core/data/content_cache.h"
#include "core/txn/meta_txn.h"

namespace stoa::core {

// Inline bytes: content of small files and targets of symlinks, with a checksum. kCorrupt when it does not match.
void stage_inline(MetaTxn& txn, FileId id, std::string_view bytes);
void stage_no_inline(MetaTxn& txn, FileId id);
Result<std::string> load_inline(const VolumeView& volume,
                                FileId id);  // damage is recorded and reported to the administrator
Result<ContentCache::Bytes> recent_inline(const VolumeView& volume,
                                          const Inode& inode);  // the same, from memory where it is; the node is locked
Result<std::string> read_inline(KvReader& kv, FileId id);       // from a snapshot; for the verifier

// The bytes of the file change now. Versions follow the clock, so that one that was given out and lost in a crash does
// not come back with other bytes.
void advance_version(Inode& inode, Timestamp now);

// Real space that the extents take of a file of this size, without asking the store: slots by their bytes.
std::uint64_t estimate_allocated(const Layout& layout, std::uint64_t size);

// Reserves a blob that no record names; tracked as uncommitted.
Result<BlobId> reserve_blob(VolumeContext& volume, std::uint64_t bytes);

// Stages the freeing of all content of the locked file: inline bytes, blob references (to the gc queue when they were
// the last), uncommitted extents. The record itself is the caller's.
Status drop_content(VolumeContext& volume, MetaTxn& txn, const NodeRef& node);

// Content without a name: inline bytes, or extents of blobs that are written and synced.
struct StagedContent {
  std::uint64_t size = 0;
  bool is_inline = true;
  std::string inline_bytes;
  Layout layout;
  std::uint64_t allocated = 0;
  std::vector<BlobSums> sums;     // of blobs that are new
  bool checksummed = false;       // blobs of the layout have sums, here or recorded
  std::vector<BlobId> own_blobs;  // those without a file yet: to release when the content is not used
};

// Makes it the content of `id`: stages inline bytes or blob references and fills in `next` (size, layout, flags,
// data_version). The old content was dropped by the caller in the same transaction.
Status take_content(VolumeContext& volume, MetaTxn& txn, FileId id, Inode& next, const StagedContent& content);

// Content from bytes in memory: inline when small, else written to a blob and synced. kNoSpace.
Result<StagedContent> content_of_bytes(VolumeContext& volume, std::span<const std::byte> bytes);
// Writes bytes to a blob of their own at the end of `content`, which is synced later.
Status append_blob(VolumeContext& volume, StagedContent& content, std::span<const std::byte> bytes);
// Gives back blobs of a content that was not taken after all.
void discard_content(VolumeContext& volume, const StagedContent& content);

}  // namespace stoa::core
