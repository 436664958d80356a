#include "frontends/s3/http/conditions.h"
#include "frontends/s3/http/date.h"
#include "frontends/s3/op/copy_source.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

struct CopyPlan {
  bool replace_metadata = false;
  std::optional<Algorithm> algorithm{};
};

Outcome<CopyPlan> read_plan(const Request& request, const FoundObject& source) {
  CopyPlan plan;
  if (const auto directive = request.filled("x-amz-metadata-directive")) {
    if (*directive != "COPY" && *directive != "REPLACE")
      return invalid_argument("x-amz-metadata-directive", *directive, "Unknown metadata directive.");
    plan.replace_metadata = *directive == "REPLACE";
  }
  if (const auto directive = request.filled("x-amz-tagging-directive")) {
    if (*directive != "COPY" && *directive != "REPLACE")
      return invalid_argument("x-amz-tagging-directive", *directive, "Unknown tagging directive.");
  }
  if (const auto name = request.filled("x-amz-checksum-algorithm")) {
    plan.algorithm = algorithm_by_name(*name);
    if (!plan.algorithm) {
      return refuse(Code::kInvalidRequest,
                    "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, "
                    "CRC32C, CRC64NVME, SHA1, SHA256]");
    }
  } else if (source.record && source.record->checksum) {
    plan.algorithm = source.record->checksum->algorithm;
  }
  return plan;
}

Outcome<Response> copy_result(const ObjectRecord& record, Timestamp modified) {
  XmlWriter xml("CopyObjectResult");
  xml.element("LastModified", iso_date(modified)).element("ETag", quoted(record.etag()));
  if (record.checksum) {
    xml.element(element_of(record.checksum->algorithm), record.checksum->text());
    xml.element("ChecksumType", name_of(record.checksum->type));
  }
  return xml_response(xml.finish());
}

// The object stays, its headers change. Only an object that the S3 door wrote has a true MD5 to keep.
Outcome<std::optional<Response>> replace_in_place(const Call& call, const FoundObject& source, const CopyPlan& plan,
                                                  ObjectRecord record) {
  const bool same_checksum =
      !plan.algorithm || (source.record && source.record->checksum && source.record->checksum->algorithm == *plan.algorithm);
  if (!source.record || !same_checksum) return std::nullopt;
  STOA_TRY(expect, expect_for_write(call, call.route.key));
  if (expect && (expect->must_not_exist || *expect->version != source.attr.version()))
    return refuse(Code::kPreconditionFailed);
  record.md5 = source.record->md5;
  record.etag_parts = source.record->etag_parts;
  record.parts = source.record->parts;
  record.checksum = source.record->checksum;
  const std::string meta = record.encode();
  const Status set = call.ns().set_meta(call.ctx, {.id = source.attr.id, .meta = meta, .described = source.attr.version()});
  // Replaced or removed meanwhile: what was to be described is gone.
  if (!set && (set.error().code == Errc::kStale || set.error().code == Errc::kNotFound)) return refuse(Code::kOperationAborted);
  if (!set) return refuse(set.error());
  // The core makes an object that was copied onto itself as new as the copy.
  auto touched = call.ns().getattr(call.ctx, {.id = source.attr.id});
  const Timestamp modified = touched ? touched->attr.mtime : wall_now();
  STOA_TRY(response, copy_result(record, modified));
  return response;
}

}  // namespace

Outcome<Response> copy_object(Call& call) {
  STOA_TRY(source, find_copy_source(call));
  STOA_TRY(plan, read_plan(call.request, source.object));
  STOA_TRY(given, read_object_headers(call));
  const bool onto_itself = source.bucket->root == call.root() && source.key == call.route.key;
  if (onto_itself && !plan.replace_metadata) {
    return refuse(Code::kInvalidRequest,
                  "This copy request is illegal because it is trying to copy an object to itself without changing the "
                  "object's metadata, storage class, website redirect location or encryption attributes.");
  }
  ObjectRecord record = std::move(given);
  if (!plan.replace_metadata) record = source.object.record.value_or(ObjectRecord{});
  if (onto_itself) {
    STOA_TRY(done, replace_in_place(call, source.object, plan, record));
    if (done) return std::move(*done);
  }

  STOA_TRY(copied, copy_content(call, source.object, {0, source.object.attr.size}, plan.algorithm));
  record.md5 = copied.md5;
  record.etag_parts = 0;
  record.parts.clear();
  record.checksum = copied.checksum;
  const std::string meta = record.encode();
  core::PutKeyRequest request{.root = call.root(), .key = call.route.key, .meta = meta};
  STOA_CHECK_OK(copied.content->fill(request));
  STOA_TRY(reply, write_conditionally(call, call.route.key, [&](std::optional<core::ObjectExpectation> expect) {
             request.expect = expect;
             return call.ns().put_key(call.ctx, request);
           }));
  copied.content->consumed();
  return copy_result(record, reply.attr.mtime);
}

}  // namespace stoa::s3
