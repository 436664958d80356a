// What keeps somebody from something, or makes him wait: a sentence for each cause, and what an administrator does about it.
#pragma once

#include <string>

#include "core/api/acl.h"
#include "core/api/registry.h"
#include "core/api/requests.h"
#include "frontends/admin/views.h"

namespace stoa::admin {

// Each adds to a list of {"what": …, "cure": …} if it is a cause; commands in a cure can be typed as they are, but for what is in capitals.

// The user may not search this directory, which is on the way.
void add_no_way(Json& causes, const core::User& user, const std::string& path, const core::GetAclReply& acl);
// `denied`: what the user may not do here, in words.
void add_denied(Json& causes, const core::User& user, const std::string& denied, const std::string& path, const core::GetAclReply& acl);
void add_recycled(Json& causes);
void add_no_export(Json& causes, const std::string& path);
void add_read_only(Json& causes, const core::Export& record);

// Whether nothing more is let in: at a hard limit, or too long above a soft one.
bool is_full(const core::UsageReply& reply);
// `owner`: "", or " --user NAME", " --group NAME" as of stoa quota. `bin`: what the directory's recycle bin holds of what is counted.
void add_quota(Json& causes, const std::string& path, const std::string& owner, const core::UsageReply& reply, const core::Usage& bin);

// `flow`: flow_view().
void add_flow(Json& causes, const Json& flow);
void add_space(Json& causes, const core::StatfsReply& space);

}  // namespace stoa::admin
