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

// Hashes, and the form of the ETag, are of the bytes: they are copied. Bytes without the requested hash
// (written over another protocol, or with another checksum) are read for it.
Outcome<void> take_hashes(const Call& call, const FoundObject& source, const CopyPlan& plan, ObjectRecord& record) {
  const ObjectRecord* known = source.record ? &*source.record : nullptr;
  const bool same_checksum =
      !plan.algorithm || (known != nullptr && known->checksum && known->checksum->algorithm == *plan.algorithm);
  if (known != nullptr && same_checksum) {
    record.md5 = known->md5;
    record.etag_parts = known->etag_parts;
    record.parts = known->parts;
    record.part_checksums = known->part_checksums;
    record.checksum = known->checksum;
    return {};
  }
  STOA_TRY(hashes, hash_content(call, source, {0, source.attr.size}, plan.algorithm));
  record.md5 = hashes.md5;
  record.etag_parts = 0;
  record.parts.clear();
  record.part_checksums.clear();
  record.checksum = hashes.checksum;
  return {};
}

// The object stays, its headers change.
Outcome<Response> replace_in_place(const Call& call, const FoundObject& source, const ObjectRecord& record) {
  STOA_TRY(expect, expect_for_write(call, call.route.key));
  if (expect && (expect->must_not_exist || *expect->version != source.attr.version()))
    return refuse(Code::kPreconditionFailed);
  const std::string meta = record.encode();
  const Status set =
      call.ns().set_meta(call.fresh_ctx(), {.id = source.attr.id, .meta = meta, .described = source.attr.version()});
  // Replaced or removed meanwhile: the object to describe is gone.
  if (!set && (set.error().code == Errc::kStale || set.error().code == Errc::kNotFound))
    return refuse(Code::kOperationAborted);
  if (!set) return refuse(set.error());
  // The core makes an object that was copied onto itself as new as the copy.
  auto touched = call.ns().getattr(call.fresh_ctx(), {.id = source.attr.id});
  return copy_result(record, touched ? touched->attr.mtime : wall_now());
}

// kOperationAborted: the source has changed since it was looked at.
Outcome<Response> copy_once(const Call& call) {
  STOA_TRY(source, find_copy_source(call));
  STOA_TRY(plan, read_plan(call.request, source.object));
  STOA_TRY(given, read_object_headers(call));
  const bool onto_itself = source.bucket->root == call.root() && source.key == call.route.key;
  // Naming a storage class, even the present one, is a request for a change.
  if (onto_itself && !plan.replace_metadata && !call.request.filled("x-amz-storage-class")) {
    return refuse(Code::kInvalidRequest,
                  "This copy request is illegal because it is trying to copy an object to itself without changing the "
                  "object's metadata, storage class, website redirect location or encryption attributes.");
  }
  ObjectRecord record = std::move(given);
  if (!plan.replace_metadata) record = source.object.record.value_or(ObjectRecord{});
  record.upload.clear();
  STOA_CHECK_OK(take_hashes(call, source.object, plan, record));
  if (onto_itself) return replace_in_place(call, source.object, record);

  const std::string meta = record.encode();
  core::ConcatenateRequest request{
      .root = call.root(), .key = call.route.key, .parts = {source.part({0, source.object.attr.size})}, .meta = meta};
  bool changed = false;
  auto copied = write_conditionally(call, call.route.key, [&](std::optional<core::ObjectExpectation> expect) {
    request.expect = expect;
    auto reply = call.ns().concatenate(call.fresh_ctx(), request);
    changed = !reply && reply.error().code == Errc::kStale;
    return reply;
  });
  if (changed) return refuse(Code::kOperationAborted);
  if (!copied) return std::unexpected<Failure>(std::move(copied.error()));
  return copy_result(record, copied->attr.mtime);
}

}  // namespace

Outcome<Response> copy_object(Call& call) {
  return with_unchanged_source([&] { return copy_once(call); });
}

}  // namespace stoa::s3
