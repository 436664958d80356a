#include <map>

#include "frontends/s3/http/range.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/uploads.h"
#include "frontends/s3/xml/reader.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

struct ListedPart {
  std::uint32_t number = 0;
  std::string etag;
  std::vector<std::pair<Algorithm, std::string>> checksums{};  // base64, as listed
};

std::string_view unquoted(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') return etag.substr(1, etag.size() - 2);
  return etag;
}

Outcome<std::vector<ListedPart>> read_list(std::string_view body) {
  if (body.empty()) return refuse(Code::kMalformedXml);
  const auto document = parse_xml(body);
  if (!document || document->name != "CompleteMultipartUpload") return refuse(Code::kMalformedXml);
  std::vector<ListedPart> parts;
  for (const XmlNode& child : document->children) {
    if (child.name != "Part") return refuse(Code::kMalformedXml);
    const auto number = parse_decimal(child.value("PartNumber").value_or(""));
    const auto etag = child.value("ETag");
    if (!number || !etag) return refuse(Code::kMalformedXml);
    if (*number == 0 || *number > kPartNumberMax) {
      return invalid_argument("partNumber", std::to_string(*number), "PartNumber must be >= 1 and <= 10000");
    }
    ListedPart part{.number = static_cast<std::uint32_t>(*number), .etag = std::string(unquoted(*etag))};
    for (const Algorithm algorithm : kAlgorithms) {
      if (const auto value = child.value(element_of(algorithm))) part.checksums.emplace_back(algorithm, *value);
    }
    if (!parts.empty() && parts.back().number > part.number) return refuse(Code::kInvalidPartOrder);
    // A part that was sent again, and is listed for each time: the last one sent is stored, and counts.
    if (!parts.empty() && parts.back().number == part.number) parts.pop_back();
    parts.push_back(std::move(part));
  }
  if (parts.empty() || parts.size() > kPartNumberMax) return refuse(Code::kMalformedXml);
  return parts;
}

std::unexpected<Failure> invalid_part(const Upload& upload, const ListedPart& part) {
  return std::unexpected<Failure>(
      Failure{.code = Code::kInvalidPart,
              .details = {{"UploadId", upload.id}, {"PartNumber", std::to_string(part.number)}, {"ETag", part.etag}}});
}

std::unexpected<Failure> missing_part_checksum(const Upload& upload, std::uint32_t number) {
  return refuse(Code::kInvalidRequest, "The upload was created using a " +
                                           lower_case(name_of(*upload.record.algorithm)) +
                                           " checksum. The complete request must include the checksum for each part. "
                                           "It was missing for part " +
                                           std::to_string(number) + " in the request.");
}

// The stored parts in the order of the list, each checked against its entry.
Outcome<std::vector<StoredPart>> match_parts(const Call& call, const Upload& upload,
                                             const std::vector<ListedPart>& listed) {
  STOA_TRY(stored, list_stored_parts(call, upload, 0, kPartNumberMax));
  std::map<std::uint32_t, StoredPart*> by_number;
  for (StoredPart& part : stored.parts) by_number[part.number] = &part;
  std::vector<StoredPart> matched;
  for (const ListedPart& want : listed) {
    const auto found = by_number.find(want.number);
    if (found == by_number.end() || found->second->record.etag() != want.etag) return invalid_part(upload, want);
    const auto& have = found->second->record.checksum;
    bool vouched = false;
    for (const auto& [algorithm, value] : want.checksums) {
      if (!have || have->algorithm != algorithm || have->text() != value) return invalid_part(upload, want);
      vouched = vouched || algorithm == upload.record.algorithm;
    }
    if (upload.record.algorithm && upload.record.type == ChecksumType::kComposite && !vouched)
      return missing_part_checksum(upload, want.number);
    matched.push_back(std::move(*found->second));
  }
  const std::uint64_t minimum = call.services.options.limits.part_bytes_min;
  for (std::size_t i = 0; i + 1 < matched.size(); ++i) {
    if (matched[i].attr.size >= minimum) continue;
    return std::unexpected<Failure>(Failure{.code = Code::kEntityTooSmall,
                                            .details = {{"ProposedSize", std::to_string(matched[i].attr.size)},
                                                        {"MinSizeAllowed", std::to_string(minimum)},
                                                        {"PartNumber", std::to_string(matched[i].number)},
                                                        {"ETag", matched[i].record.etag()}}});
  }
  return matched;
}

Outcome<std::optional<Checksum>> join_part_checksums(const Upload& upload, const std::vector<StoredPart>& parts) {
  if (!upload.record.algorithm) return std::nullopt;
  std::vector<PartChecksum> checksums;
  for (const StoredPart& part : parts) {
    if (!part.record.checksum || part.record.checksum->algorithm != *upload.record.algorithm)
      return missing_part_checksum(upload, part.number);
    checksums.push_back({part.record.checksum->value, part.attr.size});
  }
  return join_checksums(*upload.record.algorithm, upload.record.type, checksums);
}

// A malformed x-amz-checksum-* matches no object, regardless of the parts.
Outcome<void> check_form_of_checksums(const Request& request) {
  for (const Header& header : request.headers) {
    const auto algorithm = algorithm_by_header(header.name);
    // A composite may be given with or without its "-N".
    if (!algorithm || parse_checksum(*algorithm, header.value.substr(0, header.value.find('-')))) continue;
    return refuse(Code::kBadDigest, "Value for " + std::string(header_of(*algorithm)) + " header is invalid.");
  }
  return {};
}

// x-amz-checksum-* of the whole, x-amz-checksum-type, x-amz-mp-object-size: checked when given.
Outcome<void> check_promises(const Request& request, const Upload& upload, const std::optional<Checksum>& checksum,
                             std::uint64_t bytes) {
  if (const auto type = request.filled("x-amz-checksum-type")) {
    if (!upload.record.algorithm || *type != name_of(upload.record.type)) {
      return refuse(Code::kInvalidRequest, "The upload was created using the " +
                                               std::string(name_of(upload.record.type)) +
                                               " checksum mode. The complete request must use the same checksum mode.");
    }
  }
  for (const Header& header : request.headers) {
    const auto algorithm = algorithm_by_header(header.name);
    if (!algorithm) continue;
    const std::size_t dash = header.value.find('-');
    const auto expected = parse_checksum(*algorithm, header.value.substr(0, dash));
    const bool other_form = dash != std::string_view::npos && checksum && header.value != checksum->text();
    if (!expected || !checksum || checksum->algorithm != *algorithm || checksum->value != *expected || other_form) {
      return refuse(Code::kBadDigest, "The " + std::string(name_of(*algorithm)) +
                                          " you specified did not match the calculated checksum.");
    }
  }
  if (const auto size = request.filled("x-amz-mp-object-size")) {
    const auto value = parse_decimal(*size);
    if (!value || *value != bytes)
      return refuse(Code::kInvalidRequest,
                    "The provided 'x-amz-mp-object-size' header does not match what was computed.");
  }
  return {};
}

// The URL of the object, in the style of the request.
std::string location(const Call& call) {
  const ServerOptions& options = call.services.options;
  std::string url = options.tls_certificate_file.empty() ? "http://" : "https://";
  url += call.request.header("host").value_or("localhost");
  url += '/';
  if (!call.route.virtual_host) url.append(call.bucket->name).append("/");
  return url + uri_encode(call.route.key, true);
}

Response completed(const Call& call, const ObjectRecord& record) {
  XmlWriter xml("CompleteMultipartUploadResult");
  xml.element("Location", location(call));
  xml.element("Bucket", call.bucket->name).element("Key", call.route.key).element("ETag", quoted(record.etag()));
  if (record.checksum) {
    xml.element(element_of(record.checksum->algorithm), record.checksum->text());
    xml.element("ChecksumType", name_of(record.checksum->type));
  }
  return xml_response(xml.finish());
}

void append_run(std::vector<PartRun>& runs, std::uint64_t bytes) {
  if (!runs.empty() && runs.back().bytes == bytes) {
    ++runs.back().count;
  } else {
    runs.push_back({1, bytes});
  }
}

constexpr int kCompletionAttemptsMax = 8;

// Absent: a part has changed since it was checked, or the upload has ended meanwhile.
Outcome<std::optional<Response>> complete_once(const Call& call, const std::vector<ListedPart>& listed) {
  STOA_TRY(upload, find_upload(call));
  auto matched = match_parts(call, upload, listed);
  if (!matched) {
    // Parts vanish when another request ends the upload.
    STOA_CHECK_OK(find_upload(call));
    return std::unexpected<Failure>(std::move(matched.error()));
  }
  const std::vector<StoredPart> parts = std::move(*matched);

  ObjectRecord record = upload.record.object;
  core::ConcatenateRequest request{.root = call.root(), .key = call.route.key, .consume_dir = upload.directory};
  Md5 md5;
  std::uint64_t bytes = 0;
  for (const StoredPart& part : parts) {
    md5.update(std::as_bytes(std::span(part.record.md5)));
    append_run(record.parts, part.attr.size);
    if (upload.record.algorithm) record.part_checksums += part.record.checksum ? part.record.checksum->value : "";
    request.parts.push_back({.id = part.attr.id, .data_version = part.attr.data_version});
    bytes += part.attr.size;
  }
  record.md5 = md5.finish();
  record.etag_parts = static_cast<std::uint32_t>(parts.size());
  STOA_TRY(checksum, join_part_checksums(upload, parts));
  STOA_CHECK_OK(check_promises(call.request, upload, checksum, bytes));
  record.checksum = checksum;
  if (record.part_checksums.size() > kPartChecksumBytesMax) record.part_checksums.clear();
  record.upload = upload.id;
  const std::string meta = record.encode();
  request.meta = meta;

  bool stale = false;
  auto joined = write_conditionally(call, call.route.key, [&](std::optional<core::ObjectExpectation> expect) {
    request.expect = expect;
    auto reply = call.ns().concatenate(call.fresh_ctx(), request);
    stale = !reply && (reply.error().code == Errc::kStale || reply.error().code == Errc::kNotFound);
    return reply;
  });
  if (stale) return std::nullopt;
  if (!joined) return std::unexpected<Failure>(std::move(joined.error()));

  return completed(call, record);
}

// A client that lost the answer retries, and the upload is gone. It gets the answer while the object is still the one
// that this upload made from these parts. Absent: it is another.
std::optional<Response> completed_before(const Call& call, const std::vector<ListedPart>& listed) {
  const auto id = call.request.query("uploadId");
  const auto found = find_object(call, call.root(), call.route.key);
  if (!id || id->empty() || !found || !found->record || found->record->upload != *id) return std::nullopt;
  Md5 md5;
  for (const ListedPart& part : listed) {
    Md5Value value;
    if (!from_hex(part.etag, value)) return std::nullopt;
    md5.update(std::as_bytes(std::span(value)));
  }
  if (md5.finish() != found->record->md5 || listed.size() != found->record->etag_parts) return std::nullopt;
  return completed(call, *found->record);
}

}  // namespace

Outcome<Response> complete_multipart_upload(Call& call) {
  STOA_TRY(listed, read_list(call.body));
  STOA_CHECK_OK(check_form_of_checksums(call.request));
  for (int attempt = 0; attempt < kCompletionAttemptsMax; ++attempt) {
    auto done = complete_once(call, listed);
    if (!done && done.error().code == Code::kNoSuchUpload) {
      if (auto before = completed_before(call, listed)) return std::move(*before);
    }
    if (!done) return std::unexpected<Failure>(std::move(done.error()));
    if (*done) return std::move(**done);
  }
  return refuse(Code::kOperationAborted);
}

}  // namespace stoa::s3
