// x-amz-copy-source: what CopyObject and UploadPartCopy read.
#pragma once

#include "frontends/s3/http/range.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/staged_content.h"

namespace stoa::s3 {

struct CopySource {
  const core::Export* bucket = nullptr;
  std::string key;
  FoundObject object;
};

// Finds the source and checks the x-amz-copy-source-if-* conditions. kInvalidArgument, kNoSuchBucket, kNoSuchKey, ...
Outcome<CopySource> find_copy_source(const Call& call);

// Copies the bytes into staged content and hashes them on the way. kPreconditionFailed: the source changed meanwhile.
struct CopiedContent {
  std::unique_ptr<StagedContent> content;
  Md5Value md5{};
  std::optional<Checksum> checksum{};
};
Outcome<CopiedContent> copy_content(const Call& call, const FoundObject& source, ByteRange range,
                                    std::optional<Algorithm> algorithm);

}  // namespace stoa::s3
