#include "frontends/s3/auth/aws_chunked.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "frontends/s3/http/request.h"

namespace stoa::s3 {
namespace {

constexpr std::string_view kEmptySha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kSignatureField = "chunk-signature=";

std::unexpected<Failure> broken() {
  return refuse(Code::kInvalidRequest, "The aws-chunked body is not well formed.");
}

bool matches(const Sha256Value& expected, std::string_view given) {
  Sha256Value value;
  return from_hex(given, value) && equal_constant_time(expected, value);
}

}  // namespace

Outcome<void> AwsChunkedDecoder::feed(std::span<const std::byte> raw, ByteSink& sink) {
  while (!raw.empty()) {
    if (state_ == State::kDone) return broken();
    if (state_ == State::kData) {
      const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(chunk_left_, raw.size()));
      const auto piece = raw.first(take);
      if (signing_) chunk_hash_.update(piece);
      STOA_CHECK_OK(sink.write(piece));
      raw = raw.subspan(take);
      chunk_left_ -= take;
      if (chunk_left_ == 0) state_ = State::kDataEnd;
      continue;
    }
    const auto* begin = reinterpret_cast<const char*>(raw.data());
    const auto* newline = static_cast<const char*>(std::memchr(begin, '\n', raw.size()));
    const std::size_t length = newline == nullptr ? raw.size() : static_cast<std::size_t>(newline - begin);
    if (line_.size() + length > kLineBytesMax) return broken();
    line_.append(begin, length);
    if (newline == nullptr) return {};
    raw = raw.subspan(length + 1);
    if (!line_.empty() && line_.back() == '\r') {
      line_.pop_back();
    } else if (state_ != State::kTrailer) {
      return broken();  // some SDKs end trailers with a bare newline; chunks never
    }
    const std::string line = std::exchange(line_, {});
    STOA_CHECK_OK(on_line(line));
  }
  return {};
}

Outcome<void> AwsChunkedDecoder::on_line(std::string_view line) {
  switch (state_) {
    case State::kHeader:
      return on_header(line);
    case State::kDataEnd:
      if (!line.empty()) return broken();
      STOA_CHECK_OK(check_chunk());
      state_ = State::kHeader;
      return {};
    case State::kTrailer:
      return on_trailer(line);
    case State::kData:
    case State::kDone:
      break;
  }
  return broken();
}

Outcome<void> AwsChunkedDecoder::on_header(std::string_view line) {
  const std::size_t semicolon = line.find(';');
  const std::string_view size = line.substr(0, semicolon);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), value, 16);
  if (error != std::errc{} || end != size.data() + size.size() || size.empty()) return broken();
  chunk_signature_.clear();
  if (semicolon != std::string_view::npos) {
    const std::string_view extension = trim(line.substr(semicolon + 1));
    if (extension.starts_with(kSignatureField))
      chunk_signature_ = std::string(extension.substr(kSignatureField.size()));
  }
  if (signing_ && chunk_signature_.empty())
    return refuse(Code::kInvalidRequest, "A chunk of the signed body carries no chunk-signature.");
  chunk_left_ = value;
  chunk_hash_ = Sha256();
  last_chunk_ = value == 0;
  if (last_chunk_) {
    STOA_CHECK_OK(check_chunk());
    state_ = State::kTrailer;
  } else {
    state_ = State::kData;
  }
  return {};
}

Outcome<void> AwsChunkedDecoder::check_chunk() {
  if (!signing_) return {};
  std::string to_sign =
      "AWS4-HMAC-SHA256-PAYLOAD\n" + signing_->date_time + "\n" + signing_->scope + "\n" + signing_->signature + "\n";
  to_sign += kEmptySha256;
  to_sign += '\n';
  to_sign += to_hex(chunk_hash_.finish());
  if (!matches(hmac_sha256(signing_->key, to_sign), chunk_signature_)) {
    return std::unexpected<Failure>(
        Failure{.code = Code::kSignatureDoesNotMatch,
                .details = {{"StringToSign", to_sign}, {"SignatureProvided", chunk_signature_}}});
  }
  signing_->signature = lower_case(chunk_signature_);
  return {};
}

Outcome<void> AwsChunkedDecoder::on_trailer(std::string_view line) {
  if (line.empty()) {
    // Without trailers this is the end of the last chunk. With them, an empty line may stand between the last chunk
    // and the trailer signature, or at the end.
    state_ = State::kDone;
    return check_trailers();
  }
  if (!with_trailer_) return broken();
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return refuse(Code::kMalformedTrailer);
  std::string name = lower_case(trim(line.substr(0, colon)));
  const std::string_view value = trim(line.substr(colon + 1));
  if (name == "x-amz-trailer-signature") {
    if (!trailer_signature_.empty() || value.empty()) return refuse(Code::kMalformedTrailer);
    trailer_signature_ = std::string(value);
    return {};
  }
  if (trailers_.size() == kTrailersMax) return refuse(Code::kMalformedTrailer);
  trailers_.emplace_back(std::move(name), std::string(value));
  return {};
}

Outcome<void> AwsChunkedDecoder::check_trailers() {
  if (!signing_ || !with_trailer_) return {};
  if (trailer_signature_.empty()) return refuse(Code::kMalformedTrailer);
  std::string canonical;
  for (const auto& [name, value] : trailers_) canonical += name + ":" + value + "\n";
  const std::string to_sign = "AWS4-HMAC-SHA256-TRAILER\n" + signing_->date_time + "\n" + signing_->scope + "\n" +
                              signing_->signature + "\n" + to_hex(sha256(canonical));
  if (matches(hmac_sha256(signing_->key, to_sign), trailer_signature_)) return {};
  return std::unexpected<Failure>(
      Failure{.code = Code::kSignatureDoesNotMatch,
              .details = {{"StringToSign", to_sign}, {"SignatureProvided", trailer_signature_}}});
}

Outcome<void> AwsChunkedDecoder::finish() {
  if (state_ == State::kDone) return {};
  // A trailer whose last line has no line end, or that lacks the empty line, is complete when the body is.
  if (state_ == State::kTrailer) {
    if (!line_.empty()) {
      std::string line = std::exchange(line_, {});
      if (line.back() == '\r') line.pop_back();
      if (!line.empty()) STOA_CHECK_OK(on_trailer(line));
    }
    if (state_ == State::kTrailer) {
      state_ = State::kDone;
      return check_trailers();
    }
    return {};
  }
  return refuse(Code::kIncompleteBody, "The request body terminated unexpectedly");
}

}  // namespace stoa::s3
