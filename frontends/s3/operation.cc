#include "frontends/s3/operation.h"

#include <algorithm>
#include <array>

namespace stoa::s3 {
namespace {

constexpr std::array<std::string_view, kOperations> kNames{"ListBuckets",
                                                           "CreateBucket",
                                                           "DeleteBucket",
                                                           "HeadBucket",
                                                           "GetBucketLocation",
                                                           "GetBucketAcl",
                                                           "PutBucketAcl",
                                                           "GetBucketConfiguration",
                                                           "ListObjects",
                                                           "ListObjectsV2",
                                                           "ListObjectVersions",
                                                           "ListMultipartUploads",
                                                           "DeleteObjects",
                                                           "GetObject",
                                                           "HeadObject",
                                                           "PutObject",
                                                           "CopyObject",
                                                           "DeleteObject",
                                                           "GetObjectAcl",
                                                           "PutObjectAcl",
                                                           "GetObjectAttributes",
                                                           "GetObjectTagging",
                                                           "CreateMultipartUpload",
                                                           "UploadPart",
                                                           "UploadPartCopy",
                                                           "ListParts",
                                                           "CompleteMultipartUpload",
                                                           "AbortMultipartUpload",
                                                           "Unknown"};

// Query names that choose another operation than the plain one, and that this server does not support with the
// present method. Anything else in a query ("x-id", "prefix", ...) is a parameter.
constexpr std::array<std::string_view, 36> kSubresources{"accelerate",
                                                         "acl",
                                                         "analytics",
                                                         "attributes",
                                                         "cors",
                                                         "encryption",
                                                         "intelligent-tiering",
                                                         "inventory",
                                                         "legal-hold",
                                                         "lifecycle",
                                                         "location",
                                                         "logging",
                                                         "metadataTable",
                                                         "metrics",
                                                         "notification",
                                                         "object-lock",
                                                         "ownershipControls",
                                                         "policy",
                                                         "policyStatus",
                                                         "publicAccessBlock",
                                                         "renameObject",
                                                         "replication",
                                                         "requestPayment",
                                                         "restore",
                                                         "retention",
                                                         "select",
                                                         "session",
                                                         "tagging",
                                                         "torrent",
                                                         "uploads",
                                                         "versioning",
                                                         "versions",
                                                         "website",
                                                         "delete",
                                                         "uploadId",
                                                         "append"};

constexpr std::array<std::string_view, 19> kBucketConfigurations{
    "accelerate",  "analytics",         "cors",    "encryption",   "intelligent-tiering",
    "inventory",   "lifecycle",         "logging", "metrics",      "notification",
    "object-lock", "ownershipControls", "policy",  "policyStatus", "publicAccessBlock",
    "replication", "requestPayment",    "tagging", "website"};

const std::string_view* subresource_of(const Request& request) {
  for (const std::string_view& name : kSubresources) {
    if (request.target.has(name)) return &name;
  }
  return nullptr;
}

std::unexpected<Failure> not_implemented(std::string_view what) {
  return std::unexpected<Failure>(Failure{.code = Code::kNotImplemented, .details = {{"Query", std::string(what)}}});
}

// No bucket of this server has object lock, and this is the answer of S3 for such a bucket.
std::unexpected<Failure> no_object_lock() {
  return refuse(Code::kInvalidRequest, "Bucket is missing Object Lock Configuration");
}

std::unexpected<Failure> method_not_allowed(const Request& request) {
  return std::unexpected<Failure>(Failure{.code = Code::kMethodNotAllowed, .details = {{"Method", request.method}}});
}

// CORS: no bucket of this server has it.
std::unexpected<Failure> preflight(const Request& request) {
  if (!request.filled("origin"))
    return refuse(Code::kBadRequest, "Insufficient information. Origin request header needed.");
  const auto method = request.filled("access-control-request-method");
  constexpr std::array<std::string_view, 5> kMethods{"GET", "PUT", "HEAD", "POST", "DELETE"};
  if (!method || std::find(kMethods.begin(), kMethods.end(), *method) == kMethods.end())
    return refuse(Code::kBadRequest, "Invalid Access-Control-Request-Method: " + std::string(method.value_or("null")));
  return refuse(Code::kAccessForbidden);
}

Outcome<Operation> bucket_operation(const Request& request) {
  const std::string& method = request.method;
  const Target& target = request.target;
  const std::string_view* sub = subresource_of(request);
  if (method == "GET") {
    if (sub == nullptr) return target.value("list-type") == "2" ? Operation::kListObjectsV2 : Operation::kListObjects;
    if (*sub == "location") return Operation::kGetBucketLocation;
    if (*sub == "acl") return Operation::kGetBucketAcl;
    if (*sub == "uploads") return Operation::kListMultipartUploads;
    if (*sub == "versions") return Operation::kListObjectVersions;
    if (*sub == "versioning") return Operation::kGetBucketConfiguration;
    if (std::find(kBucketConfigurations.begin(), kBucketConfigurations.end(), *sub) != kBucketConfigurations.end())
      return Operation::kGetBucketConfiguration;
    return not_implemented(*sub);
  }
  if (method == "HEAD") return Operation::kHeadBucket;
  if (method == "PUT") {
    if (sub != nullptr && *sub == "acl") return Operation::kPutBucketAcl;
    if (sub != nullptr) return not_implemented(*sub);
    return Operation::kCreateBucket;
  }
  if (method == "DELETE") {
    if (sub != nullptr) return not_implemented(*sub);
    return Operation::kDeleteBucket;
  }
  if (method == "POST") {
    if (sub != nullptr && *sub == "delete") return Operation::kDeleteObjects;
    if (sub != nullptr) return not_implemented(*sub);
    return not_implemented("POST policy upload");
  }
  return method_not_allowed(request);
}

Outcome<Operation> object_operation(const Request& request) {
  const std::string& method = request.method;
  const Target& target = request.target;
  const std::string_view* sub = subresource_of(request);
  const bool upload = target.has("uploadId");
  if (method == "GET") {
    if (sub == nullptr) return Operation::kGetObject;
    if (upload) return Operation::kListParts;
    if (*sub == "acl") return Operation::kGetObjectAcl;
    if (*sub == "tagging") return Operation::kGetObjectTagging;
    if (*sub == "attributes") return Operation::kGetObjectAttributes;
    if (*sub == "retention" || *sub == "legal-hold") return no_object_lock();
    return not_implemented(*sub);
  }
  if (method == "HEAD") return Operation::kHeadObject;
  if (method == "PUT") {
    const bool copy = request.header("x-amz-copy-source").has_value();
    if (upload) return copy ? Operation::kUploadPartCopy : Operation::kUploadPart;
    if (sub != nullptr && *sub == "acl") return Operation::kPutObjectAcl;
    if (sub != nullptr && (*sub == "retention" || *sub == "legal-hold")) return no_object_lock();
    if (sub != nullptr) return not_implemented(*sub);
    // A part that lost its upload must not replace the object.
    if (const auto number = target.value("partNumber"))
      return invalid_argument("partNumber", *number, "This operation does not accept partNumber without uploadId");
    return copy ? Operation::kCopyObject : Operation::kPutObject;
  }
  if (method == "DELETE") {
    if (upload) return Operation::kAbortMultipartUpload;
    if (sub != nullptr) return not_implemented(*sub);
    return Operation::kDeleteObject;
  }
  if (method == "POST") {
    if (target.has("uploads")) return Operation::kCreateMultipartUpload;
    if (upload) return Operation::kCompleteMultipartUpload;
    if (sub != nullptr) return not_implemented(*sub);
  }
  return method_not_allowed(request);
}

// The bucket named by the host, when it lies below the domain.
std::string_view virtual_bucket(const Request& request, std::string_view domain) {
  if (domain.empty()) return {};
  std::string_view host = request.header("host").value_or("");
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) host = host.substr(0, colon);
  if (host.size() <= domain.size() + 1) return {};
  const std::size_t dot = host.size() - domain.size() - 1;
  if (host[dot] != '.' || !equal_names(host.substr(dot + 1), domain)) return {};
  return host.substr(0, dot);
}

bool is_ipv4(std::string_view name) {
  int groups = 1;
  for (const char c : name) {
    if (c == '.') {
      ++groups;
    } else if (c < '0' || c > '9') {
      return false;
    }
  }
  return groups == 4;
}

}  // namespace

std::string_view to_string(Operation operation) {
  return kNames[static_cast<std::size_t>(operation)];
}

bool changes_bucket(Operation operation) {
  switch (operation) {
    case Operation::kDeleteBucket:
    case Operation::kPutBucketAcl:
    case Operation::kPutObjectAcl:
    case Operation::kDeleteObjects:
    case Operation::kPutObject:
    case Operation::kCopyObject:
    case Operation::kDeleteObject:
    case Operation::kCreateMultipartUpload:
    case Operation::kUploadPart:
    case Operation::kUploadPartCopy:
    case Operation::kCompleteMultipartUpload:
    case Operation::kAbortMultipartUpload:
      return true;
    case Operation::kListBuckets:
    case Operation::kCreateBucket:  // it has none yet
    case Operation::kHeadBucket:
    case Operation::kGetBucketLocation:
    case Operation::kGetBucketAcl:
    case Operation::kGetBucketConfiguration:
    case Operation::kListObjects:
    case Operation::kListObjectsV2:
    case Operation::kListObjectVersions:
    case Operation::kListMultipartUploads:
    case Operation::kGetObject:
    case Operation::kHeadObject:
    case Operation::kGetObjectAcl:
    case Operation::kGetObjectAttributes:
    case Operation::kGetObjectTagging:
    case Operation::kListParts:
    case Operation::kUnknown:
      return false;
  }
  return true;
}

bool valid_bucket_name(std::string_view name) {
  if (name.size() < 3 || name.size() > 63) return false;
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (!alphanumeric(name.front()) || !alphanumeric(name.back())) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!alphanumeric(c) && c != '-' && c != '.') return false;
    if (c == '.' && (!alphanumeric(name[i - 1]) || !alphanumeric(name[i + 1]))) return false;  // each label is a name
  }
  if (name.starts_with("xn--") || name.starts_with("sthree-") || name.starts_with("amzn-s3-demo-")) return false;
  if (name.ends_with("-s3alias") || name.ends_with("--ol-s3") || name.ends_with("--x-s3") || name.ends_with(".mrap"))
    return false;
  return !is_ipv4(name);
}

Outcome<Route> route_request(const Request& request, std::string_view domain) {
  Route route;
  const std::string_view path = request.target.path;
  if (const std::string_view bucket = virtual_bucket(request, domain); !bucket.empty()) {
    route.bucket = lower_case(bucket);
    route.key = path.substr(1);
    route.virtual_host = true;
  } else {
    const std::size_t slash = path.find('/', 1);
    route.bucket = path.substr(1, slash == std::string_view::npos ? slash : slash - 1);
    if (slash != std::string_view::npos) route.key = path.substr(slash + 1);
  }
  if (request.method == "OPTIONS") return preflight(request);
  if (route.bucket.empty()) {
    if (!route.key.empty()) return refuse(Code::kInvalidBucketName);
    if (request.method != "GET") return method_not_allowed(request);
    route.operation = Operation::kListBuckets;
    return route;
  }
  if (route.key.size() > kKeyBytesMaxS3) {
    return std::unexpected<Failure>(Failure{
        .code = Code::kKeyTooLong,
        .details = {{"Size", std::to_string(route.key.size())}, {"MaxSizeAllowed", std::to_string(kKeyBytesMaxS3)}}});
  }
  STOA_TRY(operation, route.key.empty() ? bucket_operation(request) : object_operation(request));
  route.operation = operation;
  return route;
}

}  // namespace stoa::s3
