#include "core/data/upload.h"
#include "core/namespace/put_object.h"
#include "core/txn/operations.h"

namespace stoa::core {

Result<PutKeyReply> put_key(VolumeContext& volume, const OpContext& ctx, const PutKeyRequest& req) {
  StagedContent content;
  if (req.upload) {
    STOA_TRY(sealed, upload_finish(volume, *req.upload));
    content = std::move(sealed);
  } else {
    STOA_TRY(staged, content_of_bytes(volume, req.bytes));
    content = std::move(staged);
  }
  auto reply = put_object(volume, ctx,
                          {.root = req.root,
                           .key = req.key,
                           .meta = req.meta,
                           .mode = req.mode,
                           .expect = req.expect,
                           .mtime = req.mtime,
                           .multipart = req.multipart},
                          content);
  if (req.upload && reply) upload_consumed(volume, *req.upload);
  if (!req.upload && !reply) discard_content(volume, content);
  return reply;
}

}  // namespace stoa::core
