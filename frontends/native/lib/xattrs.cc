// Extended attributes.
#include <cerrno>

#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/flags.h"
#include "frontends/native/lib/paths.h"
#include "frontends/native/protocol/posix_acl_name.h"

namespace stoa::native::lib {
namespace {

bool is_seen(const Asker& asker, std::string_view name) {
  return !name.starts_with("trusted.") || asker.cred.uid == 0;
}

// `hidden`: what is said of names that the caller does not see.
Status check_name(const Asker& asker, const char* name, Errc hidden) {
  if (name == nullptr) return fail_errno(EFAULT, "no name");
  const std::string_view text = name;
  const bool kept = text.starts_with("user.") || text.starts_with("trusted.") || text.starts_with("security.");
  if (!kept && !is_posix_acl(text)) return fail(Errc::kNotSupported);
  if (!is_seen(asker, text)) return fail(hidden);
  return {};
}

Result<std::size_t> copy_out(std::string_view value, void* into, std::size_t bytes) {
  if (bytes == 0) return value.size();
  if (value.size() > bytes) return fail_errno(ERANGE, "the buffer is too small");
  return value.copy(static_cast<char*>(into), bytes);
}

}  // namespace
}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int64_t stoa_getxattr(stoa_fs* fs, stoa_dir* at, const char* path, const char* name, void* value, size_t bytes,
                      uint32_t flags) {
  return c_number([&]() -> Result<std::size_t> {
    STOA_CHECK_OK(only(flags, STOA_NOFOLLOW));
    STOA_TRY(session, fs->session());
    STOA_CHECK_OK(check_name(session->asker(), name, Errc::kNoAttribute));
    STOA_TRY(file, find_file(*session, at, path, follows(flags)));
    STOA_TRY(found, session->storage().get_xattr(session->asker(), {.id = file.id, .name = name}));
    return copy_out(found, value, bytes);
  });
}

int stoa_setxattr(stoa_fs* fs, stoa_dir* at, const char* path, const char* name, const void* value, size_t bytes,
                  uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_NOFOLLOW | STOA_XATTR_CREATE | STOA_XATTR_REPLACE));
    const bool creates = (flags & STOA_XATTR_CREATE) != 0, replaces = (flags & STOA_XATTR_REPLACE) != 0;
    if (creates && replaces) return fail(Errc::kInvalid);
    STOA_TRY(session, fs->session());
    STOA_CHECK_OK(check_name(session->asker(), name, Errc::kNotOwner));
    STOA_TRY(file, find_file(*session, at, path, follows(flags)));
    const auto mode = creates ? core::XattrMode::kCreate : replaces ? core::XattrMode::kReplace : core::XattrMode::kSet;
    return session->storage().set_xattr(
        session->asker(),
        {.id = file.id, .name = name, .value = {static_cast<const char*>(value), bytes}, .mode = mode});
  });
}

int stoa_removexattr(stoa_fs* fs, stoa_dir* at, const char* path, const char* name, uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_NOFOLLOW));
    STOA_TRY(session, fs->session());
    STOA_CHECK_OK(check_name(session->asker(), name, Errc::kNotOwner));
    STOA_TRY(file, find_file(*session, at, path, follows(flags)));
    return session->storage().remove_xattr(session->asker(), {.id = file.id, .name = name});
  });
}

int64_t stoa_listxattr(stoa_fs* fs, stoa_dir* at, const char* path, char* names, size_t bytes, uint32_t flags) {
  return c_number([&]() -> Result<std::size_t> {
    STOA_CHECK_OK(only(flags, STOA_NOFOLLOW));
    STOA_TRY(session, fs->session());
    STOA_TRY(file, find_file(*session, at, path, follows(flags)));
    STOA_TRY(found, session->storage().list_xattrs(session->asker(), file.id));
    std::string all;
    for (const std::string& name : found) {
      if (is_seen(session->asker(), name)) all.append(name).push_back('\0');
    }
    return copy_out(all, names, bytes);
  });
}
