#include "frontends/s3/meta/fields.h"

#include <utility>

namespace stoa::s3 {
namespace {
constexpr std::size_t kEnvelopeBytes = 6;  // version u8, oldest reader u8, size u32 little-endian
}

FieldWriter::FieldWriter(std::uint8_t version, std::uint8_t oldest_reader) {
  out_.push_back(static_cast<char>(version));
  out_.push_back(static_cast<char>(oldest_reader));
  out_.append(4, '\0');
}

void FieldWriter::append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void FieldWriter::bytes(std::uint8_t tag, std::string_view value) {
  out_.push_back(static_cast<char>(tag));
  append_varint(out_, value.size());
  out_ += value;
}

void FieldWriter::number(std::uint8_t tag, std::uint64_t value) {
  std::string encoded;
  append_varint(encoded, value);
  bytes(tag, encoded);
}

std::string FieldWriter::finish() {
  const std::size_t size = out_.size() - kEnvelopeBytes;
  for (std::size_t i = 0; i < 4; ++i) out_[2 + i] = static_cast<char>(size >> (8 * i) & 0xff);
  return std::move(out_);
}

FieldReader::FieldReader(std::string_view encoded, std::uint8_t version) {
  if (encoded.size() < kEnvelopeBytes) return;
  const auto oldest_reader = static_cast<std::uint8_t>(encoded[1]);
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= static_cast<std::size_t>(static_cast<unsigned char>(encoded[2 + i])) << (8 * i);
  if (encoded[0] == 0 || oldest_reader > version || size != encoded.size() - kEnvelopeBytes) return;
  rest_ = encoded.substr(kEnvelopeBytes);
  ok_ = true;
}

std::optional<std::uint64_t> FieldReader::take_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (from.empty()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    if (shift == 63 && byte > 1) return std::nullopt;
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

std::optional<FieldReader::Field> FieldReader::next() {
  if (!ok_ || rest_.empty()) return std::nullopt;
  const auto tag = static_cast<std::uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  const auto length = take_varint(rest_);
  if (!length || *length > rest_.size()) {
    ok_ = false;
    return std::nullopt;
  }
  const std::string_view value = rest_.substr(0, *length);
  rest_.remove_prefix(*length);
  return Field{tag, value};
}

}  // namespace stoa::s3
