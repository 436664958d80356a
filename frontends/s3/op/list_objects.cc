// ListObjects, ListObjectsV2 and ListObjectVersions: one walk of the keys, three documents.
#include "frontends/s3/http/date.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/owner.h"
#include "frontends/s3/op/paging.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

struct ListRequest {
  std::string prefix, delimiter, start_after;
  std::uint32_t max_keys = core::kListKeysMax;
  bool url_encoding = false;

  std::string shown(std::string_view text) const { return url_encoding ? list_encode(text) : std::string(text); }
};

Outcome<ListRequest> read_list_request(const Request& request) {
  ListRequest list;
  list.prefix = request.query("prefix").value_or("");
  list.delimiter = request.query("delimiter").value_or("");
  STOA_TRY(url_encoding, read_url_encoding(request));
  list.url_encoding = url_encoding;
  STOA_TRY(max_keys, read_count("max-keys", request.query("max-keys")));
  list.max_keys = max_keys;
  return list;
}

Outcome<core::ListKeysReply> walk(const Call& call, const ListRequest& list) {
  auto reply = call.ns().list_keys(call.fresh_ctx(), {.root = call.root(),
                                                      .prefix = list.prefix,
                                                      .delimiter = list.delimiter,
                                                      .start_after = list.start_after,
                                                      .limit = list.max_keys,
                                                      .want_meta = true});
  if (!reply) return refuse(reply.error(), Missing::kBucket);
  return std::move(*reply);
}

void write_common_prefixes(XmlWriter& xml, const ListRequest& list, const core::ListKeysReply& reply) {
  for (const std::string& prefix : reply.prefixes) {
    xml.open("CommonPrefixes").element("Prefix", list.shown(prefix)).close("CommonPrefixes");
  }
}

// The elements common to Contents and Version, behind the key.
void write_object(XmlWriter& xml, const core::ListedKey& listed) {
  const auto record = current_record(listed.attr, listed.meta);
  xml.element("LastModified", iso_date(listed.attr.mtime));
  xml.element("ETag", quoted(etag_of(listed.attr, record)));
  if (record && record->checksum) {
    xml.element("ChecksumAlgorithm", name_of(record->checksum->algorithm));
    xml.element("ChecksumType", name_of(record->checksum->type));
  }
  xml.element("Size", listed.attr.size);
}

void write_contents(XmlWriter& xml, const Call& call, const ListRequest& list, const core::ListKeysReply& reply,
                    bool with_owner) {
  for (const core::ListedKey& listed : reply.keys) {
    xml.open("Contents").element("Key", list.shown(listed.key));
    write_object(xml, listed);
    if (with_owner) write_owner(xml, "Owner", owner_name(*call.registry, listed.attr.uid));
    xml.element("StorageClass", "STANDARD").close("Contents");
  }
}

void write_head(XmlWriter& xml, const Call& call, const ListRequest& list, bool truncated) {
  // botocore asks version 1 for an encoding that it takes off everything but this (boto3 issue 3534).
  const bool version1 = call.route.operation == Operation::kListObjects;
  xml.element("Name", call.bucket->name);
  xml.element("Prefix", version1 && list.url_encoding ? list_encode_least(list.prefix) : list.shown(list.prefix));
  xml.element("MaxKeys", list.max_keys);
  if (!list.delimiter.empty()) xml.element("Delimiter", list.shown(list.delimiter));
  if (list.url_encoding) xml.element("EncodingType", "url");
  xml.flag("IsTruncated", truncated);
}

Outcome<Response> list_v1(const Call& call, ListRequest list) {
  list.start_after = call.request.query("marker").value_or("");
  STOA_TRY(reply, walk(call, list));
  XmlWriter xml("ListBucketResult");
  write_head(xml, call, list, reply.truncated);
  xml.element("Marker", list.shown(list.start_after));
  // Only with a delimiter: else the last key is the next marker.
  if (reply.truncated && !list.delimiter.empty()) xml.element("NextMarker", list.shown(reply.next_start_after));
  write_contents(xml, call, list, reply, true);
  write_common_prefixes(xml, list, reply);
  return xml_response(xml.finish());
}

Outcome<Response> list_v2(const Call& call, ListRequest list) {
  const std::string start_after(call.request.query("start-after").value_or(""));
  const auto token = call.request.query("continuation-token");
  list.start_after = start_after;
  if (token && !token->empty()) {
    STOA_TRY(key, read_continuation_token(*token));
    list.start_after = std::move(key);
  }
  STOA_TRY(reply, walk(call, list));
  XmlWriter xml("ListBucketResult");
  write_head(xml, call, list, reply.truncated);
  xml.element("KeyCount", reply.keys.size() + reply.prefixes.size());
  if (token) xml.element("ContinuationToken", *token);
  if (!start_after.empty()) xml.element("StartAfter", list.shown(start_after));
  if (reply.truncated) xml.element("NextContinuationToken", make_continuation_token(reply.next_start_after));
  write_contents(xml, call, list, reply, call.request.query("fetch-owner") == "true");
  write_common_prefixes(xml, list, reply);
  return xml_response(xml.finish());
}

// A bucket without versioning has one version of each key, named "null".
Outcome<Response> list_versions(const Call& call, ListRequest list) {
  const std::string marker(call.request.query("key-marker").value_or(""));
  const std::string version_marker(call.request.query("version-id-marker").value_or(""));
  if (!version_marker.empty() && marker.empty())
    return invalid_argument("version-id-marker", version_marker,
                            "A version-id marker cannot be specified without a key marker.");
  list.start_after = marker;
  STOA_TRY(reply, walk(call, list));
  XmlWriter xml("ListVersionsResult");
  write_head(xml, call, list, reply.truncated);
  xml.element("KeyMarker", list.shown(marker)).element("VersionIdMarker", version_marker);
  if (reply.truncated) {
    xml.element("NextKeyMarker", list.shown(reply.next_start_after)).element("NextVersionIdMarker", "null");
  }
  for (const core::ListedKey& listed : reply.keys) {
    xml.open("Version").element("Key", list.shown(listed.key)).element("VersionId", "null").flag("IsLatest", true);
    write_object(xml, listed);
    write_owner(xml, "Owner", owner_name(*call.registry, listed.attr.uid));
    xml.element("StorageClass", "STANDARD").close("Version");
  }
  write_common_prefixes(xml, list, reply);
  return xml_response(xml.finish());
}

}  // namespace

Outcome<Response> list_objects(Call& call) {
  STOA_TRY(list, read_list_request(call.request));
  switch (call.route.operation) {
    case Operation::kListObjectsV2:
      return list_v2(call, std::move(list));
    case Operation::kListObjectVersions:
      return list_versions(call, std::move(list));
    default:
      return list_v1(call, std::move(list));
  }
}

}  // namespace stoa::s3
