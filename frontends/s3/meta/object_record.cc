#include "frontends/s3/meta/object_record.h"

#include <cstdio>
#include <cstring>

#include "frontends/s3/meta/fields.h"

namespace stoa::s3 {
namespace {

// Persistent: never change the meaning of a number.
enum Tag : std::uint8_t {
  kMd5 = 1,
  kEtagParts = 2,
  kContentType = 3,
  kContentEncoding = 4,
  kContentDisposition = 5,
  kContentLanguage = 6,
  kCacheControl = 7,
  kExpires = 8,
  kUser = 9,       // varint length of the name, name, value
  kChecksum = 10,  // algorithm u8, type u8, varint parts, value
  kParts = 11,     // runs of varint count, varint bytes
  kPartChecksums = 12,
  kUpload = 13,
};

std::string encode_checksum(const Checksum& checksum) {
  std::string out;
  out.push_back(static_cast<char>(checksum.algorithm));
  out.push_back(static_cast<char>(checksum.type));
  FieldWriter::append_varint(out, checksum.parts);
  return out + checksum.value;
}

std::optional<Checksum> decode_checksum(std::string_view bytes) {
  if (bytes.size() < 3) return std::nullopt;
  const auto algorithm = static_cast<std::uint8_t>(bytes[0]);
  const auto type = static_cast<std::uint8_t>(bytes[1]);
  if (algorithm < 1 || algorithm > 5 || type < 1 || type > 2) return std::nullopt;
  bytes.remove_prefix(2);
  const auto parts = FieldReader::take_varint(bytes);
  if (!parts || *parts > UINT32_MAX || bytes.size() != bytes_of(static_cast<Algorithm>(algorithm))) return std::nullopt;
  return Checksum{static_cast<Algorithm>(algorithm), static_cast<ChecksumType>(type), std::string(bytes),
                  static_cast<std::uint32_t>(*parts)};
}

bool decode_user(std::string_view bytes, ObjectRecord& record) {
  const auto length = FieldReader::take_varint(bytes);
  if (!length || *length > bytes.size()) return false;
  record.user.emplace_back(bytes.substr(0, *length), bytes.substr(*length));
  return true;
}

bool decode_parts(std::string_view bytes, ObjectRecord& record) {
  std::uint64_t total = record.part_count();  // of an earlier field: they count together
  while (!bytes.empty()) {
    const auto count = FieldReader::take_varint(bytes);
    const auto size = FieldReader::take_varint(bytes);
    if (!count || !size || *count == 0) return false;
    total += *count;
    if (*count > core::kConcatenatePartsMax || total > core::kConcatenatePartsMax) return false;
    record.parts.push_back({static_cast<std::uint32_t>(*count), *size});
  }
  return true;
}

}  // namespace

std::string ObjectRecord::etag() const {
  std::string out = to_hex(md5);
  if (etag_parts != 0) out += "-" + std::to_string(etag_parts);
  return out;
}

std::uint32_t ObjectRecord::part_count() const {
  std::uint32_t count = 0;
  for (const PartRun& run : parts) count += run.count;
  return count;
}

std::optional<Checksum> ObjectRecord::part_checksum(std::uint32_t index) const {
  if (!checksum) return std::nullopt;
  const std::size_t bytes = bytes_of(checksum->algorithm);
  if (part_checksums.size() != bytes * part_count() || index >= part_count()) return std::nullopt;
  return Checksum{checksum->algorithm, ChecksumType::kFullObject, part_checksums.substr(index * bytes, bytes), 0};
}

std::string ObjectRecord::encode() const {
  FieldWriter out(kVersion, kOldestReader);
  out.bytes(kMd5, {reinterpret_cast<const char*>(md5.data()), md5.size()});
  if (etag_parts != 0) out.number(kEtagParts, etag_parts);
  out.text(kContentType, content_type);
  out.text(kContentEncoding, content_encoding);
  out.text(kContentDisposition, content_disposition);
  out.text(kContentLanguage, content_language);
  out.text(kCacheControl, cache_control);
  out.text(kExpires, expires);
  for (const auto& [name, value] : user) {
    std::string pair;
    FieldWriter::append_varint(pair, name.size());
    out.bytes(kUser, pair + name + value);
  }
  if (checksum) out.bytes(kChecksum, encode_checksum(*checksum));
  if (!parts.empty()) {
    std::string runs;
    for (const PartRun& run : parts) {
      FieldWriter::append_varint(runs, run.count);
      FieldWriter::append_varint(runs, run.bytes);
    }
    out.bytes(kParts, runs);
  }
  out.text(kPartChecksums, part_checksums);
  out.text(kUpload, upload);
  return out.finish();
}

std::optional<ObjectRecord> ObjectRecord::decode(std::string_view bytes) {
  FieldReader reader(bytes, kVersion);
  ObjectRecord record;
  bool has_md5 = false;
  while (const auto field = reader.next()) {
    const std::string_view value = field->value;
    switch (field->tag) {
      case kMd5:
        if (value.size() != record.md5.size()) return std::nullopt;
        std::memcpy(record.md5.data(), value.data(), value.size());
        has_md5 = true;
        break;
      case kEtagParts: {
        std::string_view rest = value;
        const auto parts = FieldReader::take_varint(rest);
        if (!parts || !rest.empty() || *parts > core::kConcatenatePartsMax) return std::nullopt;
        record.etag_parts = static_cast<std::uint32_t>(*parts);
        break;
      }
      case kContentType:
        record.content_type = value;
        break;
      case kContentEncoding:
        record.content_encoding = value;
        break;
      case kContentDisposition:
        record.content_disposition = value;
        break;
      case kContentLanguage:
        record.content_language = value;
        break;
      case kCacheControl:
        record.cache_control = value;
        break;
      case kExpires:
        record.expires = value;
        break;
      case kUser:
        if (!decode_user(value, record)) return std::nullopt;
        break;
      case kChecksum: {
        auto checksum = decode_checksum(value);
        if (!checksum) return std::nullopt;
        record.checksum = std::move(*checksum);
        break;
      }
      case kParts:
        if (!decode_parts(value, record)) return std::nullopt;
        break;
      case kPartChecksums:
        record.part_checksums = value;
        break;
      case kUpload:
        record.upload = value;
        break;
      default:
        break;
    }
  }
  if (!reader.ok() || !has_md5) return std::nullopt;
  return record;
}

std::optional<ObjectRecord> current_record(const core::Attributes& attr, const std::optional<core::ObjectMeta>& meta) {
  if (!meta || !meta->current(attr)) return std::nullopt;
  return ObjectRecord::decode(meta->bytes);
}

std::string version_etag(const core::Attributes& attr) {
  char out[48];
  const int size = std::snprintf(out, sizeof out, "%016llx%016llx-0", static_cast<unsigned long long>(attr.id),
                                 static_cast<unsigned long long>(attr.data_version));
  return {out, static_cast<std::size_t>(size)};
}

std::string etag_of(const core::Attributes& attr, const std::optional<ObjectRecord>& record) {
  return record ? record->etag() : version_etag(attr);
}

}  // namespace stoa::s3
