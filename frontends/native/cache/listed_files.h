// Files of a directory in the order of its listing, as a client knows them under the directory's files lease.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/api/ids.h"

namespace stoa::native {

struct ListedFile {
  core::FileId id = core::kNoFile;
  std::uint64_t size = 0;
};

// Which of them are wanted. A file is told only if the user is known to be allowed to read it: everybody may, or the
// server said so, or its owner, group and mode are those of `like`.
struct ListedWish {
  std::uint64_t after = 0;            // the cookie of an entry; 0: from the first one on
  std::size_t entries_most = 0;       // to look at
  std::size_t files_most = 0;         // to tell
  std::uint64_t size_most = 0;        // of a file; empty ones are never told
  std::uint64_t bytes_most = 0;       // of all that are told
  bool opened = false;                // also those that were opened under the lease
  core::FileId like = core::kNoFile;  // a file of the directory that the user reads
};

struct Listed {
  std::vector<ListedFile> files{};
  std::uint64_t next = 0;   // ListedWish::after to go on with
  std::size_t entries = 0;  // that are known in all
  bool end = false;         // the directory has none behind these
};

}  // namespace stoa::native
