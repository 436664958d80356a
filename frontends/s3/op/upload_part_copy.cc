#include "frontends/s3/http/date.h"
#include "frontends/s3/op/copy_source.h"
#include "frontends/s3/op/uploads.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

// The MD5 of a part is its ETag, and goes into that of the whole: it must be that of the bytes. It is known for the
// whole content of one PUT, and otherwise the bytes are read.
Outcome<ContentHashes> part_hashes(const Call& call, const FoundObject& source, ByteRange range,
                                   std::optional<Algorithm> algorithm) {
  if (source.record && source.record->etag_parts == 0 && range.length == source.attr.size) {
    const std::optional<Checksum>& checksum = source.record->checksum;
    const bool same =
        algorithm && checksum && checksum->algorithm == *algorithm && checksum->type == ChecksumType::kFullObject;
    // Reads one byte, to ask whether the user may read at all: the part is stored by the server, not by the user.
    std::byte first;
    auto read = call.ns().read(call.fresh_ctx(), {.id = source.attr.id, .offset = 0, .into = std::span(&first, 1)});
    if (!read) return refuse(read.error());
    if (!algorithm) return ContentHashes{.md5 = source.record->md5};
    if (same) return ContentHashes{.md5 = source.record->md5, .checksum = checksum};
  }
  return hash_content(call, source, range, algorithm);
}

Outcome<Response> copy_once(const Call& call, const Upload& upload, std::uint32_t number) {
  STOA_TRY(source, find_copy_source(call));
  ByteRange range{0, source.object.attr.size};
  if (const auto header = call.request.filled("x-amz-copy-source-range")) {
    STOA_TRY(asked, parse_copy_range(*header, source.object.attr.size));
    range = asked;
  }
  if (range.length > call.services.options.limits.object_bytes_max) return refuse(Code::kEntityTooLarge);
  STOA_TRY(hashes, part_hashes(call, source.object, range, upload.record.algorithm));
  const ObjectRecord record{.md5 = hashes.md5, .checksum = hashes.checksum};
  const std::string key = part_key(number);
  const std::string meta = record.encode();
  auto put = call.ns().concatenate(
      call.own_ctx(),
      {.root = upload.directory, .key = key, .parts = {source.part(range)}, .meta = meta, .mode = 0644});
  if (!put && put.error().code == Errc::kStale) {
    // Either the source is another by now, or the upload has ended.
    STOA_CHECK_OK(find_upload(call));
    return refuse(Code::kOperationAborted);
  }
  if (!put) return refuse(put.error(), Missing::kUpload);

  XmlWriter xml("CopyPartResult");
  xml.element("LastModified", iso_date(put->attr.mtime)).element("ETag", quoted(record.etag()));
  if (record.checksum) xml.element(element_of(record.checksum->algorithm), record.checksum->text());
  return xml_response(xml.finish());
}

}  // namespace

Outcome<Response> upload_part_copy(Call& call) {
  STOA_TRY(number, read_part_number(call.request));
  STOA_CHECK_OK(refuse_unsupported_headers(call.request));
  STOA_TRY(upload, find_upload(call));
  return with_unchanged_source([&] { return copy_once(call, upload, number); });
}

}  // namespace stoa::s3
