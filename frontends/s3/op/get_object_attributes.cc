#include <algorithm>
#include <array>

#include "frontends/s3/http/date.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/paging.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

struct Wanted {
  bool etag = false, checksum = false, parts = false, storage_class = false, size = false;
};

Outcome<Wanted> read_wanted(const Request& request) {
  constexpr std::string_view kHeader = "x-amz-object-attributes";
  Wanted wanted;
  const std::array<std::pair<std::string_view, bool*>, 5> names{{{"ETag", &wanted.etag},
                                                                 {"Checksum", &wanted.checksum},
                                                                 {"ObjectParts", &wanted.parts},
                                                                 {"StorageClass", &wanted.storage_class},
                                                                 {"ObjectSize", &wanted.size}}};
  bool any = false;
  for (const Header& header : request.headers) {  // the list may be given in several
    if (!equal_names(header.name, kHeader)) continue;
    for (std::string_view rest = header.value; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      std::string_view name = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
      while (name.starts_with(' ')) name.remove_prefix(1);
      while (name.ends_with(' ')) name.remove_suffix(1);
      const auto known =
          std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == name; });
      if (known == names.end()) return invalid_argument(kHeader, name, "Invalid attribute name specified.");
      *known->second = true;
      any = true;
    }
  }
  if (!any)
    return invalid_argument(
        kHeader, "",
        "The x-amz-object-attributes header specifying the attributes to be retrieved is either missing or empty");
  return wanted;
}

void write_checksum(XmlWriter& xml, const Checksum& checksum) {
  xml.element(element_of(checksum.algorithm), checksum.text());
}

Outcome<void> write_parts(XmlWriter& xml, const Request& request, const ObjectRecord& record) {
  STOA_TRY(limit, read_count("x-amz-max-parts", request.header("x-amz-max-parts")));
  STOA_TRY(marker, read_number("x-amz-part-number-marker", request.header("x-amz-part-number-marker"), 0));
  std::uint32_t number = 0;
  std::uint32_t listed = 0;
  std::uint32_t last = marker;
  xml.open("ObjectParts").element("PartNumberMarker", marker);
  const std::uint32_t count = record.part_count();
  const bool truncated = count > marker && count - marker > limit && limit != 0;
  for (const PartRun& run : record.parts) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      if (++number <= marker || listed == limit) continue;
      ++listed;
      last = number;
      xml.open("Part").element("PartNumber", number).element("Size", run.bytes);
      if (const auto checksum = record.part_checksum(number - 1)) write_checksum(xml, *checksum);
      xml.close("Part");
    }
  }
  xml.element("NextPartNumberMarker", last).element("MaxParts", limit).flag("IsTruncated", truncated);
  xml.element("PartsCount", count).close("ObjectParts");
  return {};
}

}  // namespace

Outcome<Response> get_object_attributes(Call& call) {
  STOA_CHECK_OK(check_version_id(call.request));
  STOA_TRY(wanted, read_wanted(call.request));
  STOA_TRY(found, find_object(call, call.root(), call.route.key));
  XmlWriter xml("GetObjectAttributesOutput");
  if (wanted.etag) xml.element("ETag", found.etag);  // without quotes, unlike everywhere else
  if (wanted.checksum && found.record && found.record->checksum) {
    xml.open("Checksum");
    write_checksum(xml, *found.record->checksum);
    xml.element("ChecksumType", name_of(found.record->checksum->type)).close("Checksum");
  }
  if (wanted.parts && found.record && !found.record->parts.empty())
    STOA_CHECK_OK(write_parts(xml, call.request, *found.record));
  if (wanted.storage_class) xml.element("StorageClass", "STANDARD");
  if (wanted.size) xml.element("ObjectSize", found.attr.size);
  Response response = xml_response(xml.finish());
  response.add("Last-Modified", http_date(found.attr.mtime));
  return response;
}

}  // namespace stoa::s3
