#include "frontends/s3/body.h"

#include <algorithm>
#include <cstring>

#include "frontends/s3/http/range.h"

namespace stoa::s3 {
namespace {

// Blocks of this size go through all hashes before the next one is touched.
constexpr std::size_t kBlockBytes = 32 << 10;

Outcome<std::optional<std::uint64_t>> content_length(const Request& request) {
  const auto header = request.header("content-length");
  if (!header) return std::nullopt;
  const auto value = parse_decimal(*header);
  if (!value) return invalid_argument("Content-Length", *header, "The Content-Length header is not a number.");
  return *value;
}

bool transfer_chunked(const Request& request) {
  const auto header = request.header("transfer-encoding");
  return header && !header->empty() && !equal_names(*header, "identity");
}

// "x-amz-checksum-..." for an algorithm that this server lacks: the promise would not be checked.
bool is_unknown_checksum(std::string_view name) {
  constexpr std::string_view kPrefix = "x-amz-checksum-";
  if (name.size() <= kPrefix.size() || !equal_names(name.substr(0, kPrefix.size()), kPrefix)) return false;
  const std::string_view rest = name.substr(kPrefix.size());
  return !equal_names(rest, "algorithm") && !equal_names(rest, "type") && !equal_names(rest, "mode");
}

Outcome<void> plan_checksum(const Request& request, BodyPlan& plan) {
  for (const Header& header : request.headers) {
    const auto algorithm = algorithm_by_header(header.name);
    if (!algorithm && is_unknown_checksum(header.name))
      return refuse(Code::kInvalidRequest, "The algorithm type you specified in x-amz-checksum- header is invalid.");
    if (!algorithm) continue;
    if (plan.algorithm)
      return refuse(Code::kInvalidRequest,
                    "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
    auto value = parse_checksum(*algorithm, header.value);
    // A malformed checksum matches no body.
    if (!value)
      return refuse(Code::kBadDigest, "Value for " + std::string(header_of(*algorithm)) + " header is invalid.");
    plan.algorithm = algorithm;
    plan.checksum = std::move(*value);
  }
  if (const auto trailer = request.filled("x-amz-trailer")) {
    const auto algorithm = algorithm_by_header(*trailer);
    if (!algorithm)
      return refuse(Code::kInvalidRequest, "The value specified in the x-amz-trailer header is not supported");
    if (plan.algorithm)
      return refuse(Code::kInvalidRequest,
                    "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
    if (!plan.with_trailer)
      return refuse(Code::kInvalidRequest, "x-amz-trailer requires a STREAMING-...-TRAILER x-amz-content-sha256.");
    plan.algorithm = algorithm;
    plan.checksum_in_trailer = true;
  }
  if (const auto name = request.filled("x-amz-sdk-checksum-algorithm")) {
    const auto algorithm = algorithm_by_name(*name);
    if (!algorithm) {
      return refuse(Code::kInvalidRequest,
                    "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, "
                    "CRC32C, CRC64NVME, SHA1, SHA256]");
    }
    if (plan.algorithm && *plan.algorithm != *algorithm)
      return refuse(Code::kInvalidRequest, "Value for x-amz-sdk-checksum-algorithm header is invalid.");
    if (!plan.algorithm && !plan.content_md5) {
      return refuse(Code::kInvalidRequest,
                    "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer "
                    "headers were found.");
    }
  }
  return {};
}

}  // namespace

Outcome<BodyPlan> plan_body(const Request& request, std::string_view payload_hash, ChunkSigning signing,
                            BodyExpectation expectation) {
  BodyPlan plan;
  if (payload_hash.starts_with("STREAMING-")) {
    plan.aws_chunked = true;
    if (payload_hash == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD") {
      plan.signing = std::move(signing);
    } else if (payload_hash == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER") {
      plan.signing = std::move(signing);
      plan.with_trailer = true;
    } else if (payload_hash == "STREAMING-UNSIGNED-PAYLOAD-TRAILER") {
      plan.with_trailer = true;
    } else {
      return refuse(Code::kNotImplemented, "This form of x-amz-content-sha256 is not supported.");
    }
  } else if (payload_hash != "UNSIGNED-PAYLOAD") {
    Sha256Value value;
    if (!from_hex(payload_hash, value)) {
      return invalid_argument(
          "x-amz-content-sha256", payload_hash,
          "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, "
          "STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid "
          "sha256 value.");
    }
    plan.sha256 = value;
  }

  STOA_TRY(sent, content_length(request));
  const bool chunked = transfer_chunked(request);
  if (plan.aws_chunked) {
    const auto decoded = request.header("x-amz-decoded-content-length");
    if (!decoded) return refuse(Code::kMissingContentLength);
    const auto value = parse_decimal(*decoded);
    if (!value)
      return invalid_argument("x-amz-decoded-content-length", *decoded,
                              "x-amz-decoded-content-length is not a number.");
    plan.length = *value;
  } else if (!chunked) {
    if (!sent && expectation.needs_length) return refuse(Code::kMissingContentLength);
    plan.length = sent.value_or(0);
  }

  if (const auto header = request.header("content-md5")) {
    const auto value = from_base64(*header);
    if (!value || value->size() != 16) return refuse(Code::kInvalidDigest);
    plan.content_md5.emplace();
    std::memcpy(plan.content_md5->data(), value->data(), 16);
  }
  if (expectation.checksums_are_of_body) STOA_CHECK_OK(plan_checksum(request, plan));
  return plan;
}

BodyReader::BodyReader(BodyPlan plan, bool want_md5, std::uint64_t limit, ByteSink& sink)
    : plan_(std::move(plan)), limit_(limit), sink_(sink) {
  if (plan_.aws_chunked) decoder_.emplace(plan_.signing, plan_.with_trailer);
  if (want_md5 || plan_.content_md5) md5_.emplace();
  if (plan_.sha256) sha256_.emplace();
  // One SHA-256 serves both purposes.
  if (plan_.algorithm && !(plan_.algorithm == Algorithm::kSha256 && sha256_)) checksum_.emplace(*plan_.algorithm);
}

Outcome<void> BodyReader::feed(std::span<const std::byte> raw) {
  if (decoder_) return decoder_->feed(raw, *this);
  return write(raw);
}

Outcome<void> BodyReader::write(std::span<const std::byte> data) {
  bytes_ += data.size();
  if (bytes_ > limit_) {
    return std::unexpected<Failure>(
        Failure{.code = Code::kEntityTooLarge, .details = {{"MaxSizeAllowed", std::to_string(limit_)}}});
  }
  if (plan_.length && bytes_ > *plan_.length) return refuse(Code::kIncompleteBody);
  while (!data.empty()) {
    const auto block = data.first(std::min(data.size(), kBlockBytes));
    data = data.subspan(block.size());
    if (md5_) md5_->update(block);
    if (sha256_) sha256_->update(block);
    if (checksum_) checksum_->update(block);
    STOA_CHECK_OK(sink_.write(block));
  }
  return {};
}

Outcome<void> BodyReader::read_trailer() {
  for (const auto& [name, value] : decoder_->trailers()) {
    if (name != header_of(*plan_.algorithm)) continue;
    auto parsed = parse_checksum(*plan_.algorithm, value);
    if (!parsed) return refuse(Code::kBadDigest, "Value for " + name + " trailing header is invalid.");
    plan_.checksum = std::move(*parsed);
    return {};
  }
  return refuse(Code::kMalformedTrailer);
}

Outcome<BodyDigest> BodyReader::finish() {
  if (decoder_) {
    STOA_CHECK_OK(decoder_->finish());
    if (plan_.checksum_in_trailer) STOA_CHECK_OK(read_trailer());
  }
  if (plan_.length && bytes_ != *plan_.length) return refuse(Code::kIncompleteBody);

  BodyDigest digest{.bytes = bytes_};
  std::optional<Sha256Value> sha256;
  if (sha256_) {
    sha256 = sha256_->finish();
    if (*sha256 != *plan_.sha256) {
      return std::unexpected<Failure>(Failure{.code = Code::kXAmzContentSha256Mismatch,
                                              .details = {{"ClientComputedContentSHA256", to_hex(*plan_.sha256)},
                                                          {"S3ComputedContentSHA256", to_hex(*sha256)}}});
    }
  }
  if (md5_) {
    digest.md5 = md5_->finish();
    if (plan_.content_md5 && digest.md5 != *plan_.content_md5) {
      return std::unexpected<Failure>(Failure{
          .code = Code::kBadDigest,
          .message = "The Content-MD5 you specified did not match what we received.",
          .details = {{"ExpectedDigest", to_base64(*plan_.content_md5)}, {"CalculatedDigest", to_base64(digest.md5)}}});
    }
  }
  if (plan_.algorithm) {
    std::string value =
        checksum_ ? checksum_->finish() : std::string(reinterpret_cast<const char*>(sha256->data()), sha256->size());
    if (plan_.checksum && *plan_.checksum != value) {
      return refuse(Code::kBadDigest, "The " + std::string(name_of(*plan_.algorithm)) +
                                          " you specified did not match the calculated checksum.");
    }
    digest.checksum = Checksum{*plan_.algorithm, ChecksumType::kFullObject, std::move(value), 0};
  }
  return digest;
}

}  // namespace stoa::s3
