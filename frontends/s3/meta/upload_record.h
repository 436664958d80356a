// The S3 record of a multipart upload until it completes: the meta of the file "upload" in its directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontends/s3/meta/object_record.h"

namespace stoa::s3 {

struct UploadRecord {
  static constexpr std::uint8_t kVersion = 1;
  static constexpr std::uint8_t kOldestReader = 1;

  std::string key{};
  std::string owner{};  // user name of the initiator
  std::uint32_t owner_uid = 65534;
  ObjectRecord object{};  // headers and user metadata of the object to be
  std::optional<Algorithm> algorithm{};
  ChecksumType type = ChecksumType::kComposite;
  bool operator==(const UploadRecord&) const = default;

  std::string encode() const;
  static std::optional<UploadRecord> decode(std::string_view bytes);
};

}  // namespace stoa::s3
