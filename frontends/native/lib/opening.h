// Opening a file by name or by id.
#pragma once

#include <memory>

#include "frontends/native/lib/paths.h"

namespace stoa::native::lib {

// The request for a name. Views of `place`.
core::OpenRequest open_request(const Place& place, int flags, std::uint32_t mode);
// The server lets a file that may be executed be read, for those who run it: a program that reads it has to be allowed
// to. kAccess.
Status may_read(LibraryFileSystem& session, const core::Attributes& attr, int flags);
Result<std::unique_ptr<stoa_file>> open_path(stoa_fs& fs, const stoa_dir* at, const char* path, int flags,
                                             std::uint32_t mode);
// An existing file.
Result<std::unique_ptr<stoa_file>> open_id(stoa_fs& fs, core::FileId id, int flags);

}  // namespace stoa::native::lib
