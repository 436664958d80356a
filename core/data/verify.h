// Comparison of stored content with its checksums.
#pragma once

#include <functional>
#include <span>

#include "core/inode/layout.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// Compares the blocks under these pieces of file `id` with their checksums, if recorded; blocks verified since the
// start are not read again. kCorrupt: they differ, which is recorded as damage of the file.
Status verify_pieces(const VolumeView& volume, FileId id, std::span<const Piece> pieces);

// Reads and compares the whole file as it is now, including blocks verified before. Works in steps: a huge file needs
// no huge list, and writers get their turn. `go_on` receives the number of bytes read, and ends the scan with false.
// False: some bytes do not match or cannot be read, which is recorded as damage of the file.
bool verify_file(const VolumeView& volume, const NodeRef& node, const std::function<bool(std::uint64_t bytes)>& go_on);

// One damaged block was found; logs it once.
void report_damage(const VolumeView& volume, FileId id, std::uint64_t offset, std::uint64_t length);

}  // namespace stoa::core
