#include "frontends/s3/op/call.h"
#include "frontends/s3/op/uploads.h"

namespace stoa::s3 {
namespace {

std::unexpected<Failure> denied(std::string message) {
  return refuse(Code::kAccessDenied, std::move(message));
}

Outcome<void> remove_directory(const Call& call) {
  const core::OpContext own = call.own_ctx();
  auto path = call.ns().path_of(own, {.id = call.root()});
  // A directory that is gone already was removed by an attempt that did not live to remove the export.
  if (!path)
    return path.error().code == Errc::kStale || path.error().code == Errc::kNotFound
               ? Outcome<void>{}
               : Outcome<void>(refuse(path.error(), Missing::kBucket));
  const std::string& whole = path->path;
  const std::size_t slash = whole.rfind('/');
  if (slash == std::string::npos || slash + 1 == whole.size())
    return denied("The root of the volume cannot be removed.");
  auto parent = call.ns().resolve_path(own, {.path = std::string_view(whole).substr(0, slash)});
  if (!parent) return refuse(parent.error(), Missing::kBucket);
  auto removed = call.ns().rmdir(own, {.parent = parent->attr.id, .name = std::string_view(whole).substr(slash + 1)});
  if (!removed && removed.error().code != Errc::kNotFound) return refuse(removed.error(), Missing::kBucket);
  return {};
}

}  // namespace

Outcome<Response> delete_bucket(Call& call) {
  if (!call.owns_bucket()) return refuse(Code::kAccessDenied);
  if (call.bucket->nfs) return denied("This bucket is an NFS export, too; only an administrator can remove it.");
  auto listed = call.ns().list_keys(call.own_ctx(), {.root = call.root(), .limit = 1});
  if (listed && !listed->keys.empty()) return refuse(Code::kBucketNotEmpty);
  if (!listed && listed.error().code != Errc::kStale && listed.error().code != Errc::kNotFound)
    return refuse(listed.error(), Missing::kBucket);
  STOA_CHECK_OK(remove_directory(call));
  STOA_CHECK_OK(abort_all_uploads(call));
  const Status removed = call.services.registry.remove_export(call.bucket->name, call.fresh_ctx().deadline);
  if (!removed && removed.error().code != Errc::kNotFound) return refuse(removed.error(), Missing::kBucket);
  return Response{.status = 204};
}

}  // namespace stoa::s3
