// The records of a name: families entry and cookie.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/attributes.h"

namespace stoa::core {

enum EntryFlags : std::uint8_t {
  // A file whose name a directory also has (keys `a` and `a/b`): POSIX protocols see it under an alias
  // (core/inode/posix_name.h). Kept up to date when either name comes or goes.
  kHiddenByDirectory = 1,
};

struct EntryRecord {
  FileId id = kNoFile;  // kNoFile: no such name (only in caches)
  FileType type = FileType::kRegular;
  std::uint8_t flags = 0;
  std::uint64_t cookie = 0;
  bool operator==(const EntryRecord&) const = default;

  bool exists() const { return id != kNoFile; }
  bool hidden_by_directory() const { return (flags & kHiddenByDirectory) != 0; }

  std::string encode() const;
  static Result<EntryRecord> decode(std::string_view value);
};

struct CookieRecord {
  FileId id = kNoFile;
  FileType type = FileType::kRegular;
  std::uint8_t flags = 0;
  std::string name;  // as keys know it, without the '/' of a directory

  std::string encode() const;
  static Result<CookieRecord> decode(std::string_view value);
};

}  // namespace stoa::core
