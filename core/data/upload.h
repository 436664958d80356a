// Uploads: bytes that arrive without a name, in order, and become an object at once. Bounded in number.
#pragma once

#include "core/data/content.h"

namespace stoa::core {

// Writes out and syncs the buffer; the upload takes no more bytes. Calling again gives the same content.
Result<StagedContent> upload_finish(VolumeContext& volume, UploadId upload);
// The content has become an object's: forgets the upload without freeing its blobs.
void upload_consumed(VolumeContext& volume, UploadId upload);

}  // namespace stoa::core
