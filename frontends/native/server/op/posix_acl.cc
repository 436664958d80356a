#include "frontends/native/server/op/posix_acl.h"

namespace stoa::native {
namespace {

constexpr std::uint32_t kSetGroupId = 02000;
constexpr int kTriesMost = 64;

bool is_directory(const core::Attributes& attr) {
  return attr.type == core::FileType::kDirectory;
}

// What of the ACL is no mode. Nothing: there is none of this kind.
std::optional<core::PosixAcl> view_of(const core::GetAclReply& found, PosixAclKind kind) {
  if (!found.stored) return std::nullopt;
  if (kind == PosixAclKind::kDefault) {
    return is_directory(found.attr) ? core::default_view(*found.acl) : std::nullopt;
  }
  core::PosixAcl view = core::access_view(*found.acl, is_directory(found.attr));
  return view.is_minimal() ? std::nullopt : std::optional(std::move(view));
}

core::PosixAcl of_mode(std::uint32_t mode) {
  return core::with_mode({}, mode);
}

Result<core::GetAclReply> current_acl(OperationRun& run, core::FileId file) {
  STOA_TRY(found, run.ns.get_acl(run.ctx, {.id = file}));
  if (found.attr.type == core::FileType::kSymlink) return fail(Errc::kNotSupported);
  return found;
}

// The ACL as it is to be changed: who may write it need not be able to read it.
Result<core::GetAclReply> acl_to_change(OperationRun& run, core::FileId file) {
  auto found = current_acl(run, file);
  if (found || found.error().code != Errc::kAccess) return found;
  return fail(Errc::kNotOwner);
}

}  // namespace

Result<std::string> get_posix_acl(OperationRun& run, core::FileId file, PosixAclKind kind) {
  STOA_TRY(found, current_acl(run, file));
  const auto view = view_of(found, kind);
  if (!view) return fail(Errc::kNoAttribute);
  return print_posix_acl(*view);
}

Result<std::vector<std::string_view>> posix_acl_names(OperationRun& run, core::FileId file) {
  std::vector<std::string_view> names;
  const auto found = run.ns.get_acl(run.ctx, {.id = file});
  if (!found) {
    if (found.error().code == Errc::kAccess) return names;
    return fail(found.error());
  }
  if (view_of(*found, PosixAclKind::kAccess)) names.push_back(kPosixAclAccess);
  if (view_of(*found, PosixAclKind::kDefault)) names.push_back(kPosixAclDefault);
  return names;
}

Result<core::Attributes> set_posix_acl(OperationRun& run, core::FileId file, PosixAclKind kind,
                                       std::string_view value) {
  STOA_TRY(wanted, parse_posix_acl(value));
  const core::Credentials& cred = run.ctx.cred;
  for (int tries = 0; tries < kTriesMost; ++tries) {
    STOA_TRY(found, acl_to_change(run, file));
    const bool directory = is_directory(found.attr);
    if (kind == PosixAclKind::kDefault && !directory) {
      if (wanted) return fail(Errc::kAccess);
      return found.attr;
    }
    core::Acl next = kind == PosixAclKind::kDefault
                         ? core::with_default(*found.acl, wanted)
                         : core::with_access(*found.acl, wanted.value_or(of_mode(found.attr.mode)), directory);
    core::SetattrRequest request{.id = file,
                                 .set = {.acl = std::make_shared<const core::Acl>(std::move(next))},
                                 .guard_ctime = found.attr.ctime};
    // As chmod does it.
    const bool keeps_group = cred.is_superuser() || cred.in_group(found.attr.gid);
    if (kind == PosixAclKind::kAccess && (found.attr.mode & kSetGroupId) != 0 && !keeps_group) {
      request.set.mode = 0;
      request.set.mode_mask = kSetGroupId;
    }
    auto done = run.ns.setattr(run.ctx, request);
    if (done) return done->attr;
    if (done.error().code != Errc::kGuardMismatch) return fail(done.error());
  }
  return fail(Errc::kBusy, "the file changes all the time");
}

}  // namespace stoa::native
