// QoS classes in the JSON of the admin interface.
#pragma once

#include <array>
#include <string_view>

#include "frontends/admin/request.h"
#include "frontends/admin/service.h"
#include "frontends/admin/views.h"
#include "qos/price.h"

namespace stoa::admin {

// By qos::Resource.
inline constexpr std::array<std::string_view, qos::kResources> kResourceNames{"read_bytes", "write_bytes", "read_ops",
                                                                              "write_ops", "metadata_ops"};

// The parameter `target`: "/path", "directory:ID" (of one that is gone), "user:NAME", "group:NAME", "client:NETWORK",
// "protocol:NAME", "export:NAME", "background". kInvalid, kNotFound, kNotDirectory, with a sentence.
Result<core::QosTarget> query_target(Service& service, const Request& request);

// Target, limits, and use. `rule` is one of this snapshot, or the default of background work.
Json qos_view(Service& service, const Request& request, const core::RegistrySnapshot& registry,
              const core::QosRule& rule);

}  // namespace stoa::admin
