// Values of core/api in the layouts of the native protocol, and back: the client's side.
#pragma once

#include "base/error.h"
#include "core/api/requests.h"
#include "frontends/native/protocol/layouts.h"

namespace stoa::native {

// kCorrupt: a type or a size that is none.
Result<core::Attributes> from_wire(const native::Attributes& attr);
Result<core::FileType> file_type(U32 type);
U32 wire_type(core::FileType type);
Settings to_settings(const core::SetAttributes& set);
U32 wire_disposition(core::OpenDisposition disposition);
U32 wire_create_mode(core::CreateMode mode);
U32 wire_xattr_mode(core::XattrMode mode);

inline File wire_file(core::FileId id) {
  return File{static_cast<std::uint64_t>(id)};
}

}  // namespace stoa::native
