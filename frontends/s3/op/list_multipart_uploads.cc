#include <algorithm>
#include <set>

#include "frontends/s3/http/date.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/owner.h"
#include "frontends/s3/op/paging.h"
#include "frontends/s3/op/uploads.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

struct Page {
  std::vector<Upload> uploads;
  std::vector<std::string> prefixes;
  bool truncated = false;
  std::string next_key, next_id;
};

struct Query {
  std::string prefix, delimiter, key_marker, id_marker;
  std::uint32_t max = core::kListKeysMax;
  bool url = false;
  std::string shown(std::string_view text) const { return url ? list_encode(text) : std::string(text); }
};

Outcome<Query> read_query(const Request& request) {
  Query query;
  query.prefix = request.query("prefix").value_or("");
  query.delimiter = request.query("delimiter").value_or("");
  query.key_marker = request.query("key-marker").value_or("");
  // Without a key marker the upload id marker has no meaning, and is ignored.
  if (!query.key_marker.empty()) query.id_marker = request.query("upload-id-marker").value_or("");
  STOA_TRY(url, read_url_encoding(request));
  query.url = url;
  STOA_TRY(max, read_count("max-uploads", request.query("max-uploads")));
  query.max = max;
  return query;
}

bool behind_marker(const Query& query, const Upload& upload) {
  if (query.key_marker.empty()) return true;
  if (upload.record.key != query.key_marker) return upload.record.key > query.key_marker;
  return !query.id_marker.empty() && upload.id > query.id_marker;
}

// By key, then by the time they began; ids break ties, so that markers are exact.
Page select(const Query& query, std::vector<Upload> all) {
  std::sort(all.begin(), all.end(), [](const Upload& a, const Upload& b) {
    return a.record.key != b.record.key ? a.record.key < b.record.key : a.id < b.id;
  });
  Page page;
  for (Upload& upload : all) {
    const std::string& key = upload.record.key;
    if (!key.starts_with(query.prefix) || !behind_marker(query, upload)) continue;
    std::string rolled;
    if (!query.delimiter.empty()) {
      const std::size_t found = key.find(query.delimiter, query.prefix.size());
      if (found != std::string::npos) rolled = key.substr(0, found + query.delimiter.size());
    }
    if (!rolled.empty() && (rolled == query.key_marker || (!page.prefixes.empty() && page.prefixes.back() == rolled)))
      continue;
    if (page.uploads.size() + page.prefixes.size() == query.max) {
      page.truncated = query.max != 0;
      break;
    }
    page.next_key = rolled.empty() ? key : rolled;
    page.next_id = rolled.empty() ? upload.id : std::string();
    if (rolled.empty()) {
      page.uploads.push_back(std::move(upload));
    } else {
      page.prefixes.push_back(std::move(rolled));
    }
  }
  return page;
}

}  // namespace

Outcome<Response> list_multipart_uploads(Call& call) {
  STOA_TRY(query, read_query(call.request));
  auto access = call.ns().access(call.fresh_ctx(), {.id = call.root(), .wanted = core::kAccessRead});
  if (!access) return refuse(access.error(), Missing::kBucket);
  if (access->granted != core::kAccessRead) return refuse(Code::kAccessDenied);
  bool truncated = false;
  STOA_TRY(ids, list_upload_ids(call, "", call.services.options.limits.uploads_per_bucket_max + 1000, &truncated));
  std::vector<Upload> all;
  for (const std::string& id : ids) {
    STOA_TRY(upload, load_upload(call, id));
    if (upload) all.push_back(std::move(*upload));
  }
  const Page page = select(query, std::move(all));

  XmlWriter xml("ListMultipartUploadsResult");
  xml.element("Bucket", call.bucket->name).element("KeyMarker", query.shown(query.key_marker));
  xml.element("UploadIdMarker", query.id_marker);
  if (page.truncated)
    xml.element("NextKeyMarker", query.shown(page.next_key)).element("NextUploadIdMarker", page.next_id);
  xml.element("Prefix", query.shown(query.prefix));
  if (!query.delimiter.empty()) xml.element("Delimiter", query.shown(query.delimiter));
  if (query.url) xml.element("EncodingType", "url");
  xml.element("MaxUploads", query.max).flag("IsTruncated", page.truncated);
  for (const Upload& upload : page.uploads) {
    xml.open("Upload").element("Key", query.shown(upload.record.key)).element("UploadId", upload.id);
    write_owner(xml, "Initiator", upload.record.owner);
    write_owner(xml, "Owner", upload.record.owner);
    xml.element("StorageClass", "STANDARD").element("Initiated", iso_date(upload.initiated));
    if (upload.record.algorithm) {
      xml.element("ChecksumAlgorithm", name_of(*upload.record.algorithm));
      xml.element("ChecksumType", name_of(upload.record.type));
    }
    xml.close("Upload");
  }
  for (const std::string& prefix : page.prefixes) {
    xml.open("CommonPrefixes").element("Prefix", query.shown(prefix)).close("CommonPrefixes");
  }
  return xml_response(xml.finish());
}

}  // namespace stoa::s3
