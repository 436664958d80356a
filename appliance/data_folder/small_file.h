// Whole small files: read at once, replaced atomically.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa::appliance {

inline constexpr std::size_t kSmallFileBytesMax = 1u << 20;

Result<std::string> read_small_file(const std::string& path);
// Readers see the old or the new text, whole; durable on return.
Status write_small_file(const std::string& path, std::string_view text, unsigned mode);
// Makes the name (with a '/') survive a power cut; the caller syncs the content.
Status sync_name(const std::string& path);

}  // namespace stoa::appliance
