// Content in pieces of one message each.
#pragma once

#include <span>

#include "frontends/native/lib/handles.h"

namespace stoa::native::lib {

// As stoa_pread and stoa_pwrite. `offset` of a write is ignored with O_APPEND.
Result<std::size_t> read_at(stoa_file& file, std::uint64_t offset, std::span<std::byte> into);
Result<std::size_t> write_at(stoa_file& file, std::uint64_t offset, std::span<const std::byte> data);
// kInvalid unless the range ends within the offsets of files.
Status check_range(std::uint64_t offset, std::uint64_t bytes);

}  // namespace stoa::native::lib
