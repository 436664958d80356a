// Owners in XML: an identifier that is the user's name.
#pragma once

#include <string>
#include <string_view>

#include "core/api/registry.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {

std::string owner_name(const core::RegistrySnapshot& registry, std::uint32_t uid);
// The user that owns the bucket: by the export, else the owner of its directory.
void write_owner(XmlWriter& xml, std::string_view element, std::string_view name);

}  // namespace stoa::s3
