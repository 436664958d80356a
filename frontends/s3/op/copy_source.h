// x-amz-copy-source: the source of CopyObject and UploadPartCopy. The bytes are not copied: the new object shares the
// source's extents (core::ConcatenateRequest). They are read only when a hash of them is unknown.
#pragma once

#include "frontends/s3/http/range.h"
#include "frontends/s3/op/objects.h"

namespace stoa::s3 {

struct CopySource {
  const core::Export* bucket = nullptr;
  std::string key;
  FoundObject object;

  core::ConcatenatePart part(ByteRange range) const {
    return {object.attr.id, object.attr.data_version, range.offset, range.length};
  }
};

// Finds the source and checks the x-amz-copy-source-if-* conditions. kInvalidArgument, kNoSuchBucket, kNoSuchKey, ...
Outcome<CopySource> find_copy_source(const Call& call);

struct ContentHashes {
  Md5Value md5{};
  std::optional<Checksum> checksum{};
};
// Reads the range. kOperationAborted: the source changed meanwhile; kInvalidRequest: over the limit of bytes read for a
// copy.
Outcome<ContentHashes> hash_content(const Call& call, const FoundObject& source, ByteRange range,
                                    std::optional<Algorithm> algorithm);

// Runs `copy()` again while the source changes between the look at it and the copy (kOperationAborted).
inline constexpr int kCopyAttemptsMax = 8;
template <class Copy>
auto with_unchanged_source(Copy copy) {
  auto done = copy();
  for (int attempt = 1; attempt < kCopyAttemptsMax; ++attempt) {
    if (done || done.error().code != Code::kOperationAborted) break;
    done = copy();
  }
  return done;
}

}  // namespace stoa::s3
