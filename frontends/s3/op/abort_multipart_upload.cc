#include "frontends/s3/op/uploads.h"

namespace stoa::s3 {

Outcome<Response> abort_multipart_upload(Call& call) {
  STOA_TRY(upload, find_upload(call));
  const Status removed = call.ns().remove_tree(call.own_ctx(), {.parent = core::kMultipartId, .name = upload.id});
  if (!removed) return refuse(removed.error(), Missing::kUpload);
  return Response{.status = 204};
}

}  // namespace stoa::s3
