#include "frontends/s3/http/date.h"
#include "frontends/s3/op/copy_source.h"
#include "frontends/s3/op/parts.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {

Outcome<Response> upload_part_copy(Call& call) {
  STOA_TRY(number, read_part_number(call.request));
  STOA_CHECK_OK(refuse_unsupported_headers(call.request));
  STOA_TRY(upload, find_upload(call));
  STOA_TRY(source, find_copy_source(call));
  ByteRange range{0, source.object.attr.size};
  if (const auto header = call.request.filled("x-amz-copy-source-range")) {
    STOA_TRY(asked, parse_copy_range(*header, source.object.attr.size));
    range = asked;
  }
  STOA_TRY(copied, copy_content(call, source.object, range, upload.record.algorithm));
  const ObjectRecord record{.md5 = copied.md5, .checksum = copied.checksum};
  STOA_CHECK_OK(store_part(call, upload, number, record, *copied.content));

  XmlWriter xml("CopyPartResult");
  xml.element("LastModified", iso_date(wall_now())).element("ETag", quoted(record.etag()));
  if (record.checksum) xml.element(element_of(record.checksum->algorithm), record.checksum->text());
  return xml_response(xml.finish());
}

}  // namespace stoa::s3
