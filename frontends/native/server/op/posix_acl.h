// The attributes system.posix_acl_access and system.posix_acl_default: views of the ACL (core/api/posix_acl.h).
#pragma once

#include <string>
#include <vector>

#include "frontends/native/server/op/posix_acl_value.h"
#include "frontends/native/server/operation_run.h"

namespace stoa::native {

// As xattrs of ext4. kNoAttribute: none beside what the mode says. kNotSupported: a symbolic link. kAccess: no right to
// read the ACL.
Result<std::string> get_posix_acl(OperationRun& run, core::FileId file, PosixAclKind kind);
// Those of the two that the file has; none when the caller may not read the ACL.
Result<std::vector<std::string_view>> posix_acl_names(OperationRun& run, core::FileId file);
// An empty value takes the ACL away, which is done as well where there is none. What xattrs say of existing ones
// (XattrMode) means nothing. Errors, beside those of the value: kAccess, a default ACL of what is no directory;
// kNotSupported, a symbolic link; kNotOwner; kTooLarge.
Result<core::Attributes> set_posix_acl(OperationRun& run, core::FileId file, PosixAclKind kind, std::string_view value);

}  // namespace stoa::native
