#include "frontends/s3/meta/upload_record.h"

#include "frontends/s3/meta/fields.h"

namespace stoa::s3 {
namespace {

// Persistent: never change the meaning of a number.
enum UploadTag : std::uint8_t { kKey = 1, kOwner = 2, kOwnerUid = 3, kObject = 4, kAlgorithm = 5, kType = 6 };

std::optional<std::uint64_t> number(std::string_view value, std::uint64_t max) {
  const auto parsed = FieldReader::take_varint(value);
  if (!parsed || !value.empty() || *parsed > max) return std::nullopt;
  return parsed;
}

}  // namespace

std::string UploadRecord::encode() const {
  FieldWriter out(kVersion, kOldestReader);
  out.bytes(kKey, key);
  out.text(kOwner, owner);
  out.number(kOwnerUid, owner_uid);
  out.bytes(kObject, object.encode());
  if (algorithm) {
    out.number(kAlgorithm, static_cast<std::uint64_t>(*algorithm));
    out.number(kType, static_cast<std::uint64_t>(type));
  }
  return out.finish();
}

std::optional<UploadRecord> UploadRecord::decode(std::string_view bytes) {
  FieldReader reader(bytes, kVersion);
  UploadRecord record;
  bool has_key = false;
  bool has_type = false;
  while (const auto field = reader.next()) {
    switch (field->tag) {
      case kKey:
        record.key = field->value;
        has_key = true;
        break;
      case kOwner:
        record.owner = field->value;
        break;
      case kOwnerUid: {
        const auto uid = number(field->value, UINT32_MAX);
        if (!uid) return std::nullopt;
        record.owner_uid = static_cast<std::uint32_t>(*uid);
        break;
      }
      case kObject: {
        auto object = ObjectRecord::decode(field->value);
        if (!object) return std::nullopt;
        record.object = std::move(*object);
        break;
      }
      case kAlgorithm: {
        const auto algorithm = number(field->value, 5);
        if (!algorithm || *algorithm == 0) return std::nullopt;
        record.algorithm = static_cast<Algorithm>(*algorithm);
        break;
      }
      case kType: {
        const auto type = number(field->value, 2);
        if (!type || *type == 0) return std::nullopt;
        record.type = static_cast<ChecksumType>(*type);
        has_type = true;
        break;
      }
      default:
        break;
    }
  }
  // A checksum's algorithm and its type are written together; one without the other is damage.
  if (!reader.ok() || !has_key || has_type != record.algorithm.has_value()) return std::nullopt;
  return record;
}

}  // namespace stoa::s3
