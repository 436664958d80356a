// GetObject and HeadObject.
#include <algorithm>
#include <array>

#include "frontends/s3/http/conditions.h"
#include "frontends/s3/http/date.h"
#include "frontends/s3/http/range.h"
#include "frontends/s3/op/objects.h"

namespace stoa::s3 {
namespace {

constexpr int kAttemptsMax = 8;

struct Selection {
  ByteRange range{};
  bool partial = false;                // 206
  std::uint32_t parts = 0;             // x-amz-mp-parts-count, when a part was requested
  std::optional<Checksum> checksum{};  // of the selected range
};

Selection whole_of(const FoundObject& found) {
  Selection selection{.range = {0, found.attr.size}};
  if (found.record) selection.checksum = found.record->checksum;
  return selection;
}

Outcome<Selection> select_part(const FoundObject& found, std::string_view text) {
  const auto number = parse_decimal(text);
  if (!number || *number == 0 || *number > core::kConcatenatePartsMax)
    return invalid_argument("partNumber", text, "Part number must be an integer between 1 and 10000, inclusive");
  Selection selection = whole_of(found);
  selection.partial = true;
  if (!found.record || found.record->parts.empty()) {
    if (*number != 1) {
      return std::unexpected<Failure>(
          Failure{.code = Code::kInvalidPart,
                  .details = {{"ActualPartCount", "1"}, {"PartNumberRequested", std::string(text)}}});
    }
    selection.partial = found.attr.size != 0;
    return selection;
  }
  std::uint64_t offset = 0;
  std::uint64_t left = *number - 1;
  for (const PartRun& run : found.record->parts) {
    const std::uint64_t skip = std::min<std::uint64_t>(left, run.count);
    offset += skip * run.bytes;
    left -= skip;
    if (left == 0 && skip < run.count) {
      selection.range = {offset, run.bytes};
      selection.partial = run.bytes != 0;
      selection.parts = found.record->part_count();
      selection.checksum = found.record->part_checksum(static_cast<std::uint32_t>(*number - 1));
      return selection;
    }
  }
  return std::unexpected<Failure>(Failure{.code = Code::kInvalidPart,
                                          .details = {{"ActualPartCount", std::to_string(found.record->part_count())},
                                                      {"PartNumberRequested", std::string(text)}}});
}

Outcome<Selection> select(const Request& request, const FoundObject& found) {
  const auto header = request.filled("range");
  if (const auto part = request.query("partNumber")) {
    if (header) return refuse(Code::kInvalidRequest, "Cannot specify both Range header and partNumber query parameter");
    return select_part(found, *part);
  }
  const Selection whole = whole_of(found);
  if (!header) return whole;
  // RFC 9110 13.1.5: a range is for the object that the client knows, else it gets everything.
  if (const auto if_range = request.filled("if-range")) {
    const auto date = parse_http_date(*if_range);
    const bool same = date ? found.attr.mtime.seconds() == *date : matches_etag(*if_range, found.etag);
    if (!same) return whole;
  }
  STOA_TRY(range, parse_range(*header, found.attr.size));
  if (!range) return whole;
  Selection part{.range = *range, .partial = true};
  if (range->length == found.attr.size) part.checksum = whole.checksum;
  return part;
}

// response-content-type and the like replace the stored values. A signed request is needed for that, as all are
// here.
Outcome<void> override_headers(const Request& request, Response& response) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOverrides{
      {{"response-content-type", "Content-Type"},
       {"response-content-language", "Content-Language"},
       {"response-expires", "Expires"},
       {"response-cache-control", "Cache-Control"},
       {"response-content-disposition", "Content-Disposition"},
       {"response-content-encoding", "Content-Encoding"}}};
  for (const auto& [query, name] : kOverrides) {
    const auto value = request.query(query);
    if (!value) continue;
    // A line end would let the query write headers.
    if (std::any_of(value->begin(), value->end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
      return invalid_argument(query, *value, "The value of a response header must not hold control characters.");
    const auto known = std::find_if(response.headers.begin(), response.headers.end(),
                                    [&](const auto& header) { return header.first == name; });
    if (known != response.headers.end()) {
      known->second = *value;
    } else {
      response.add(std::string(name), std::string(*value));
    }
  }
  return {};
}

Outcome<Response> describe_object(const Call& call, const FoundObject& found, const Selection& selection) {
  Response response;
  response.status = selection.partial ? 206 : 200;
  response.add("Last-Modified", http_date(found.attr.mtime));
  response.add("ETag", quoted(found.etag));
  response.add("Accept-Ranges", "bytes");
  add_object_headers(response, found.record);
  STOA_CHECK_OK(override_headers(call.request, response));
  if (selection.partial) {
    const ByteRange& range = selection.range;
    response.add("Content-Range", "bytes " + std::to_string(range.offset) + "-" +
                                      std::to_string(range.offset + range.length - 1) + "/" +
                                      std::to_string(found.attr.size));
  }
  if (selection.parts != 0) response.add("x-amz-mp-parts-count", std::to_string(selection.parts));
  const auto mode = call.request.filled("x-amz-checksum-mode");
  if (mode && equal_names(*mode, "ENABLED") && selection.checksum) add_checksum_headers(response, *selection.checksum);
  return response;
}

// Client keys for content that is not encrypted: the client expects something else.
Outcome<void> refuse_customer_keys(const Request& request) {
  constexpr std::string_view kPrefix = "x-amz-server-side-encryption-customer-";
  for (const Header& header : request.headers) {
    if (equal_names(header.name.substr(0, kPrefix.size()), kPrefix))
      return refuse(Code::kInvalidRequest, "The encryption parameters are not applicable to this object.");
  }
  return {};
}

}  // namespace

Outcome<Response> get_object(Call& call) {
  STOA_CHECK_OK(check_version_id(call.request));
  STOA_CHECK_OK(refuse_customer_keys(call.request));
  const bool head = call.route.operation == Operation::kHeadObject;
  const Conditions conditions = read_conditions(call.request);
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    STOA_TRY(found, find_object(call, call.root(), call.route.key));
    auto allowed = check_read(conditions, found.etag, found.attr.mtime);
    if (!allowed && allowed.error().code == Code::kNotModified) {
      // The library sends a Content-Length, and the only one allowed is that of the 200 (RFC 9110 8.6).
      return Response{.status = 304, .headers = std::move(allowed.error().headers), .head_length = found.attr.size};
    }
    STOA_CHECK_OK(allowed);
    STOA_TRY(selection, select(call.request, found));
    STOA_TRY(response, describe_object(call, found, selection));
    const ByteRange& range = selection.range;
    if (head) {
      response.head_length = range.length;
      return response;
    }
    if (range.length == 0) return response;

    // All of it at once: slices of host files are not read here, and one that covers the range goes out by sendfile.
    // Ranges without slices yet are read while they are sent.
    auto read =
        call.ns().read_slices(call.fresh_ctx(), {.id = found.attr.id, .offset = range.offset, .length = range.length});
    // The object was replaced or removed between the look and the read: look again.
    if (!read && (read.error().code == Errc::kStale || read.error().code == Errc::kNotFound)) continue;
    if (!read) return refuse(read.error());
    if (read->attr.version() != found.attr.version()) continue;
    response.content = ContentRange{.id = found.attr.id,
                                    .version = found.attr.version(),
                                    .offset = range.offset,
                                    .length = range.length,
                                    .slices = std::move(read->slices)};
    return response;
  }
  return refuse(Code::kOperationAborted);
}

}  // namespace stoa::s3
