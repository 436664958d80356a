// The uncommitted state of a file that is written in place, kept by its node.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/api/context.h"
#include "core/inode/layout.h"

namespace stoa::core {

struct LiveRow;

// Guarded by the node's lock.
struct Writing {
  // Extents that are written to but not part of the committed record. They never overlap the record's layout.
  Layout fresh;
  // The fresh extents also hold the inline content of the committed record, which goes with their commit.
  bool replaces_inline = false;

  // Blobs written since their last sync on behalf of this file, and the number of the last such write (Node::writes).
  struct Unsynced {
    BlobId blob;
    std::uint64_t write;
  };
  std::vector<Unsynced> unsynced;

  // With sums of blocks that are written and not synced (core/data/live_sums.h).
  std::vector<std::shared_ptr<LiveRow>> rows;

  // Writes in progress beyond the end: bytes up to `promised_end` are reserved for the file.
  std::uint32_t growing = 0;
  // All writes to blobs in progress, these among them: each relies on finding this object again when it is done.
  std::uint32_t under_way = 0;
  std::uint64_t promised_end = 0;

  // The user of the last write, for the journal: another user may flush.
  std::uint32_t writer_uid = 0;
  Protocol writer_protocol = Protocol::kInternal;
  std::string writer_client{};

  bool idle() const { return fresh.empty() && !replaces_inline && unsynced.empty() && rows.empty() && under_way == 0; }
};

}  // namespace stoa::core
