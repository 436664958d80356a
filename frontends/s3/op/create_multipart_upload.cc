#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/uploads.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

Outcome<void> read_checksum_choice(const Request& request, UploadRecord& record) {
  const auto name = request.filled("x-amz-checksum-algorithm");
  const auto type = request.filled("x-amz-checksum-type");
  if (!name) {
    if (type)
      return refuse(Code::kInvalidRequest,
                    "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.");
    return {};
  }
  record.algorithm = algorithm_by_name(*name);
  if (!record.algorithm) {
    return refuse(Code::kInvalidRequest,
                  "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, "
                  "CRC32C, CRC64NVME, SHA1, SHA256]");
  }
  record.type = default_type(*record.algorithm);
  if (type) {
    const auto wanted = type_by_name(*type);
    if (!wanted) return refuse(Code::kInvalidRequest, "Value for x-amz-checksum-type header is invalid.");
    if (!allowed(*record.algorithm, *wanted)) {
      return refuse(Code::kInvalidRequest, "The " + std::string(name_of(*wanted)) +
                                               " checksum type cannot be used with the " +
                                               lower_case(name_of(*record.algorithm)) + " checksum algorithm.");
    }
    record.type = *wanted;
  }
  return {};
}

// The user must be able to make an object in the end; better refused now than after a hundred gigabytes.
Outcome<void> require_write(const Call& call) {
  auto access = call.ns().access(call.fresh_ctx(), {.id = call.root(), .wanted = core::kAccessLookup});
  if (!access) return refuse(access.error(), Missing::kBucket);
  if (access->granted != core::kAccessLookup) return refuse(Code::kAccessDenied);
  if (call.route.key.find('/') != std::string::npos) return {};  // made below a directory with rules of its own
  auto modify = call.ns().access(call.fresh_ctx(), {.id = call.root(), .wanted = core::kAccessExtend});
  if (!modify) return refuse(modify.error(), Missing::kBucket);
  if (modify->granted != core::kAccessExtend) return refuse(Code::kAccessDenied);
  return {};
}

}  // namespace

Outcome<Response> create_multipart_upload(Call& call) {
  UploadRecord record{.key = call.route.key, .owner = call.user->name, .owner_uid = call.user->uid};
  STOA_TRY(object, read_object_headers(call));
  record.object = std::move(object);
  STOA_CHECK_OK(read_checksum_choice(call.request, record));
  STOA_CHECK_OK(require_write(call));
  bool truncated = false;
  const std::uint32_t limit = call.services.options.limits.uploads_per_bucket_max;
  // Counted only when there may be many: one page tells.
  STOA_TRY(page, list_upload_ids(call, "", std::min(limit, core::kListKeysMax), &truncated));
  if (page.size() >= limit) return refuse(Code::kSlowDown);
  if (truncated) {
    STOA_TRY(all, list_upload_ids(call, "", limit, &truncated));
    if (all.size() >= limit) return refuse(Code::kSlowDown);
  }

  const std::string id = make_upload_id(call.bucket->id);
  const std::string meta = record.encode();
  const std::string key = id + "/upload";
  // Quotas of the bucket's directory count the parts, for the uploader.
  const core::MultipartOf of{call.root(), call.ctx.cred.uid, call.ctx.cred.gid};
  auto put = call.ns().put_key(call.own_ctx(),
                               {.root = core::kMultipartId, .key = key, .meta = meta, .mode = 0600, .multipart = of});
  if (!put) return refuse(put.error(), Missing::kBucket);

  XmlWriter xml("InitiateMultipartUploadResult");
  xml.element("Bucket", call.bucket->name).element("Key", call.route.key).element("UploadId", id);
  Response response = xml_response(xml.finish());
  if (record.algorithm) {
    response.add("x-amz-checksum-algorithm", std::string(name_of(*record.algorithm)));
    response.add("x-amz-checksum-type", std::string(name_of(record.type)));
  }
  return response;
}

}  // namespace stoa::s3
