// The S3 record of each object written over S3: core::ObjectMeta::bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/api/attributes.h"
#include "core/api/requests.h"
#include "frontends/s3/checksum/checksum.h"
#include "frontends/s3/checksum/digest.h"

namespace stoa::s3 {

// More part checksums than this many bytes are not kept: each listing reads them.
inline constexpr std::size_t kPartChecksumBytesMax = 8192;

// Consecutive parts of one size.
struct PartRun {
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
  bool operator==(const PartRun&) const = default;
};

struct ObjectRecord {
  static constexpr std::uint8_t kVersion = 1;
  static constexpr std::uint8_t kOldestReader = 1;

  Md5Value md5{};
  std::uint32_t etag_parts = 0;  // 0: the MD5 of the content; else "md5 of MD5s"-N
  std::string content_type{};
  std::string content_encoding{};
  std::string content_disposition{};
  std::string content_language{};
  std::string cache_control{};
  std::string expires{};
  std::vector<std::pair<std::string, std::string>> user{};  // x-amz-meta-*: lower-case name without the prefix
  std::optional<Checksum> checksum{};
  std::vector<PartRun> parts{};  // of a multipart object
  std::string part_checksums{};  // the values of all parts in order, by the algorithm of `checksum`; empty: not kept
  std::string upload{};          // the multipart upload that became this object
  bool operator==(const ObjectRecord&) const = default;

  std::string etag() const;  // without quotes
  std::uint32_t part_count() const;
  // Hash of a part by its index, when it is kept.
  std::optional<Checksum> part_checksum(std::uint32_t index) const;

  std::string encode() const;
  // Absent: damaged, or written by a newer version that this one must not read.
  static std::optional<ObjectRecord> decode(std::string_view bytes);
};

// The record of an object, if it describes the present content: then its ETag, headers and checksums are true.
std::optional<ObjectRecord> current_record(const core::Attributes& attr, const std::optional<core::ObjectMeta>& meta);

// The ETag of content that the S3 server did not write: changes with each change of content, and, by its suffix,
// cannot be taken for an MD5. Without quotes.
std::string version_etag(const core::Attributes& attr);

// The ETag of an object, written over any protocol. Without quotes.
std::string etag_of(const core::Attributes& attr, const std::optional<ObjectRecord>& record);

}  // namespace stoa::s3
