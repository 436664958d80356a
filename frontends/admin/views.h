// Core values as JSON.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "core/api/registry.h"
#include "core/api/requests.h"
#include "core/volume/volume.h"
#include "frontends/admin/time_text.h"

namespace stoa::admin {

using Json = nlohmann::json;

std::string_view to_string(core::FileType type);
std::string_view to_string(core::Squash squash);
std::string_view to_string(core::SecurityFlavor flavor);

// Names are bytes, JSON is Unicode: invalid UTF-8 appears with replacement characters, and whole as `NAME_base64`.
void put_bytes(Json& object, std::string_view member, std::string_view bytes);

Json view(const core::Attributes& attr);
Json view(const core::Export& record);
Json view(const core::ClientRule& rule);
Json view(const core::User& user, const core::RegistrySnapshot& registry);  // without secrets
Json view(const core::Group& group, const core::RegistrySnapshot& registry);
Json view(const core::S3Key& key);  // with the secret
Json view(const core::Usage& usage);
// The space for new content: the free space of the disks, or less where the quota in `room` leaves less. Both of one
// look at the disks: free space changes from one look to the next.
std::uint64_t available(const core::BlobStore::Space& disks, const core::StatfsReply& room);
// The classes that a quota may count or not, as requests and replies name them.
inline constexpr std::array<std::pair<std::string_view, core::UsageClass>, core::kClassesButLive.size()>
    kUsageClassNames{{{"recycled", core::UsageClass::kRecycled},
                      {"open_but_deleted", core::UsageClass::kOrphans},
                      {"multipart", core::UsageClass::kMultipart}}};
Json view(const core::UsageByClass& by_class);
Json view(const core::QuotaLimits& limits);  // without classes
Json view(const core::SoftExcess& since);
Json view(const core::Finding& finding);  // {"kind": …, "facts": {…}, "text": …}
Json view(const core::CheckReport& report);

}  // namespace stoa::admin
