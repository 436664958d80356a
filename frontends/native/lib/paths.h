// Paths of a program, name by name.
#pragma once

#include <string>

#include "frontends/native/lib/handles.h"

namespace stoa::native::lib {

inline constexpr std::size_t kPathBytesMax = 4095;
inline constexpr int kLinksFollowedMax = 40;

// A name in a directory; empty: the directory itself.
struct Place {
  core::FileId parent = core::kNoFile;
  std::string name{};
  bool must_be_directory = false;  // the path ends with a slash
};

// Resolves all but the last name. The name is never "." or "..": those are resolved, and the name is empty then.
// Errors: see stoa.h.
Result<Place> find_place(LibraryFileSystem& fs, const stoa_dir* at, const char* path);
// The file of a path.
Result<core::Attributes> find_file(LibraryFileSystem& fs, const stoa_dir* at, const char* path, bool follow);
// The file of a name, after following `links` links already.
Result<core::Attributes> find_in(LibraryFileSystem& fs, const Place& place, bool follow);
// Where a symbolic link leads that stands at `place`.
Result<Place> behind_link(LibraryFileSystem& fs, const Place& place, core::FileId link);
// For what makes, removes or moves a name. `taken`: when the path ends with "." or ".." or is "/".
Result<Place> find_name(LibraryFileSystem& fs, const stoa_dir* at, const char* path, Error taken);

}  // namespace stoa::native::lib
