#include "core/kv/kv_store.h"

namespace stoa::core {

std::string_view to_string(Family family) {
  constexpr std::string_view kNames[kFamilies] = {"inode", "inline",  "entry", "cookie", "fold",
                                                  "xattr", "link",    "usage", "blob",   "checksum",
                                                  "state", "journal", "gc",    "config", "trash"};
  return kNames[static_cast<std::size_t>(family)];
}

}  // namespace stoa::core
