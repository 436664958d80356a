// Callers of the admin interface, and the access that the route table may demand of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/attributes.h"
#include "core/api/ids.h"
#include "core/api/token.h"

namespace stoa::admin {

struct Request;
struct Service;

// The token of a request's caller.
struct Caller {
  std::string name;  // of the token
  core::Role role = core::Role::kOwner;
  core::FileId directory = core::kNoFile;  // of an owner
};

// The access that a route requires.
enum class Access : std::uint8_t {
  kOpen,          // nothing
  kLocalOrToken,  // nothing from this machine, an auditor's token from elsewhere
  kAnyRole,       // any token
  kRead,          // an auditor's token, or more
  kOperate,       // an operator's, or more
  kAdmin,         // an admin's
  // As kRead (GET) or kOperate (else); also for owners within their directory, checked by …
  kOwnerPath,     // the parameter `path`
  kOwnerBody,     // the member `path` of the body
  kOwnerHandler,  // the handler, which asks require_within() about each place before it tells or changes anything
};

std::string_view to_string(core::Role role);

// Whether the caller may use a route with such an access. Fills request.place for kOwnerPath and kOwnerBody, so that
// the handler works on the checked object, even if it is renamed meanwhile. kAccess, with a sentence that names role
// and need.
Status permit(Service& service, Access access, Request& request);

// Namespace::resolve_path for the caller. kAccess: the caller is an owner, and the path does not end in the owner's
// directory; where nothing is, the nearest directory on the way that is there decides.
Result<core::Attributes> find_for(Service& service, const Request& request, std::string_view path);
// kAccess: the caller is an owner, and the object lies outside the owner's directory. For a file with several links,
// the directory that it counts in decides.
Status require_within(Service& service, const Request& request, core::FileId id);
// The directory itself is not enough: its settings bind its owner.
Status require_below(Service& service, const Request& request, core::FileId dir);

}  // namespace stoa::admin
