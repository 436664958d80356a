#include "frontends/s3/http/date.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/owner.h"
#include "frontends/s3/op/paging.h"
#include "frontends/s3/op/uploads.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
Outcome<Response> list_parts(Call& call) {
  STOA_TRY(limit, read_count("max-parts", call.request.query("max-parts")));
  STOA_TRY(marker, read_number("part-number-marker", call.request.query("part-number-marker"), 0));
  STOA_TRY(url, read_url_encoding(call.request));
  STOA_TRY(upload, find_upload(call));
  STOA_TRY(stored, list_stored_parts(call, upload, marker, limit));

  XmlWriter xml("ListPartsResult");
  xml.element("Bucket", call.bucket->name);
  xml.element("Key", url ? list_encode(call.route.key) : call.route.key).element("UploadId", upload.id);
  write_owner(xml, "Initiator", upload.record.owner);
  write_owner(xml, "Owner", upload.record.owner);
  xml.element("StorageClass", "STANDARD").element("PartNumberMarker", marker);
  xml.element("NextPartNumberMarker", stored.parts.empty() ? marker : stored.parts.back().number);
  xml.element("MaxParts", limit);
  if (url) xml.element("EncodingType", "url");
  xml.flag("IsTruncated", stored.truncated);
  if (upload.record.algorithm) {
    xml.element("ChecksumAlgorithm", name_of(*upload.record.algorithm));
    xml.element("ChecksumType", name_of(upload.record.type));
  }
  for (const StoredPart& part : stored.parts) {
    xml.open("Part").element("PartNumber", part.number).element("LastModified", iso_date(part.attr.mtime));
    xml.element("ETag", quoted(part.record.etag())).element("Size", part.attr.size);
    if (part.record.checksum) xml.element(element_of(part.record.checksum->algorithm), part.record.checksum->text());
    xml.close("Part");
  }
  return xml_response(xml.finish());
}

}  // namespace stoa::s3
