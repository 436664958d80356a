// Attributes between the core and the wire.
#pragma once

#include "base/error.h"
#include "core/api/attributes.h"
#include "frontends/native/protocol/layouts.h"

namespace stoa::native {

Attributes to_wire(const core::Attributes& attr);
// kInvalid: bits that mean nothing.
Result<core::SetAttributes> to_core(const Settings& set);
std::uint32_t to_wire(core::FileType type);

}  // namespace stoa::native
