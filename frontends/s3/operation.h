// The operations of the S3 API that this server knows, and how a request names one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frontends/s3/error.h"
#include "frontends/s3/http/request.h"

namespace stoa::s3 {

enum class Operation : std::uint8_t {
  kListBuckets,
  kCreateBucket,
  kDeleteBucket,
  kHeadBucket,
  kGetBucketLocation,
  kGetBucketAcl,
  kPutBucketAcl,
  kGetBucketConfiguration,  // sub-resources always answered with "none is set"
  kListObjects,
  kListObjectsV2,
  kListObjectVersions,
  kListMultipartUploads,
  kDeleteObjects,
  kGetObject,
  kHeadObject,
  kPutObject,
  kCopyObject,
  kDeleteObject,
  kGetObjectAcl,
  kPutObjectAcl,
  kGetObjectAttributes,
  kGetObjectTagging,
  kCreateMultipartUpload,
  kUploadPart,
  kUploadPartCopy,
  kListParts,
  kCompleteMultipartUpload,
  kAbortMultipartUpload,
  kUnknown,  // refused before the operation was known
};
inline constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::kUnknown) + 1;
std::string_view to_string(Operation operation);  // "PutObject"

// Whether it changes something in its bucket, uploads included: refused where only reading is allowed.
bool changes_bucket(Operation operation);

inline constexpr std::size_t kKeyBytesMaxS3 = 1024;

struct Route {
  Operation operation = Operation::kUnknown;
  std::string bucket{};
  std::string key{};
  bool virtual_host = false;  // the bucket was in the host, not in the path
};

// `domain`: requests to BUCKET.domain are virtual-host style; empty: path style only.
// Refusals: kMethodNotAllowed, kNotImplemented, kInvalidBucketName, kInvalidArgument, kInvalidRequest, kKeyTooLong,
// kAccessForbidden (CORS).
Outcome<Route> route_request(const Request& request, std::string_view domain);

// The rules for bucket names ("General purpose bucket naming rules").
bool valid_bucket_name(std::string_view name);

}  // namespace stoa::s3
