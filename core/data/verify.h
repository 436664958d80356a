// Comparing what is stored with its checksums.
#pragma once

#include <span>

#include "core/data/layout.h"
#include "core/namespace/tree.h"

namespace stoa::core {

// The blocks under these pieces of file `id` match their checksums, where they are recorded; those that were verified since
// the start are not read again. kCorrupt: they do not, which is remembered as damage of the file.
Status verify_pieces(Tree& tree, FileId id, std::span<const Piece> pieces);

// Like verify_pieces, but reads every block, whatever is known of it.
Status verify_again(Tree& tree, FileId id, std::span<const Piece> pieces);

// One block was found not to match; says so once in the log.
void report_damage(Tree& tree, FileId id, std::uint64_t offset, std::uint64_t length);

}  // namespace stoa::core
