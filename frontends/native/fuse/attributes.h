// Attributes in the layouts of the kernel.
#pragma once

#include <sys/stat.h>

#include "core/api/attributes.h"
#include "frontends/native/fuse/kernel_abi.h"

namespace stoa::native::fuse {

// The S_IFMT bits of a type.
std::uint32_t type_bits(core::FileType type);
// The type of a mode; kRegular when the bits name none.
core::FileType type_of(std::uint32_t mode);
core::DeviceNumber device_of(std::uint32_t kernel_number);
std::uint32_t kernel_number_of(core::DeviceNumber device);

fuse_attr to_kernel(const core::Attributes& attr);
StatxAttributes to_statx(const core::Attributes& attr);

// What a setattr changes. Bits that are not known change nothing.
core::SetAttributes from_kernel(const fuse_setattr_in& in);

}  // namespace stoa::native::fuse
