#include "core/usage/usage_record.h"

#include <array>

#include "core/kv/codec.h"

namespace stoa::core {
namespace {

// Each record is written as the oldest version that can say it, so that what has no use for the newer ones stays
// readable by older readers. 2: heir. 3: soft limits, limits of new children, owners. 4: more bytes than 63 bits count.
// 5: owners that are not wholly counted yet. 6: classes. 7: the class of multipart uploads. 8: height, behind all else.
constexpr std::uint8_t kFirstVersion = 1;
constexpr std::uint8_t kWithHeir = 2;
constexpr std::uint8_t kWithMore = 3;
constexpr std::uint8_t kWithHighBytes = 4;
constexpr std::uint8_t kWithCounting = 5;
constexpr std::uint8_t kWithClasses = 6;
constexpr std::uint8_t kWithMultipart = 7;
constexpr std::uint8_t kVersion = 8;

constexpr std::uint8_t kHasBytes = 1;
constexpr std::uint8_t kHasFiles = 2;
constexpr std::uint8_t kHasHeir = 4;

// The second set of flags, from version 3 on.
constexpr std::uint8_t kHasSoft = 1;
constexpr std::uint8_t kHasSince = 2;
constexpr std::uint8_t kHasChildLimits = 4;
constexpr std::uint8_t kCountsOwners = 8;
constexpr std::uint8_t kHasHighBytes = 16;        // of version 4
constexpr std::uint8_t kOwnersBeingCounted = 32;  // beside kCountsOwners, of version 5
constexpr std::uint8_t kHasClasses = 64;          // of version 6
constexpr std::uint8_t kHasMultipart = 128;       // of version 7

// What there is of classes: an amount follows for the first two.
constexpr std::uint8_t kHasRecycled = 1;
constexpr std::uint8_t kHasOrphans = 2;
constexpr std::uint8_t kExcludedRecycled = 4;
constexpr std::uint8_t kExcludedOrphans = 8;
constexpr std::uint8_t kChildrenExcludedRecycled = 16;
constexpr std::uint8_t kChildrenExcludedOrphans = 32;

// What there is of multipart uploads: an amount follows for the first.
constexpr std::uint8_t kHasParts = 1;
constexpr std::uint8_t kExcludedParts = 2;
constexpr std::uint8_t kChildrenExcludedParts = 4;
constexpr std::uint8_t kWasUpload = 8;

constexpr std::uint8_t kHasSoftBytes = 4;  // in the flags of put_limits(), beside kHasBytes and kHasFiles
constexpr std::uint8_t kHasSoftFiles = 8;

void put_limits(Encoder& out, const QuotaLimits& limits, bool hard) {
  const std::array<const std::optional<std::uint64_t>*, 4> members{&limits.bytes, &limits.files, &limits.soft_bytes,
                                                                   &limits.soft_files};
  std::uint8_t which = 0;
  for (std::size_t i = hard ? 0 : 2; i < members.size(); ++i) {
    if (*members[i]) which |= static_cast<std::uint8_t>(1u << i);
  }
  out.put(which).put(limits.grace_s);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if ((which >> i & 1) != 0) out.put(**members[i]);
  }
}

void get_limits(Decoder& in, QuotaLimits& limits) {
  const auto which = in.get<std::uint8_t>();
  limits.grace_s = in.get<std::uint32_t>();
  if ((which & kHasBytes) != 0) limits.bytes = in.get<std::uint64_t>();
  if ((which & kHasFiles) != 0) limits.files = in.get<std::uint64_t>();
  if ((which & kHasSoftBytes) != 0) limits.soft_bytes = in.get<std::uint64_t>();
  if ((which & kHasSoftFiles) != 0) limits.soft_files = in.get<std::uint64_t>();
}

void put_usage(Encoder& out, const Usage& usage) {
  out.put(static_cast<std::uint64_t>(usage.bytes)).put(static_cast<std::int64_t>(usage.bytes >> 64));
  out.put(usage.files).put(usage.directories);
}

Usage get_usage(Decoder& in) {
  Usage usage;
  const auto low = in.get<std::uint64_t>();
  usage.bytes = in.get<std::int64_t>() * (ByteCount{1} << 64) + low;
  usage.files = in.get<std::int64_t>();
  usage.directories = in.get<std::int64_t>();
  return usage;
}

std::uint8_t class_flags(const UsageRecord& record) {
  return static_cast<std::uint8_t>((is_zero(record.by_class.recycled) ? 0 : kHasRecycled) |
                                   (is_zero(record.by_class.nameless) ? 0 : kHasOrphans) |
                                   (record.limits.excluded.recycled ? kExcludedRecycled : 0) |
                                   (record.limits.excluded.nameless ? kExcludedOrphans : 0) |
                                   (record.child_limits.excluded.recycled ? kChildrenExcludedRecycled : 0) |
                                   (record.child_limits.excluded.nameless ? kChildrenExcludedOrphans : 0));
}

std::uint8_t multipart_flags(const UsageRecord& record) {
  return static_cast<std::uint8_t>(
      (is_zero(record.by_class.multipart) ? 0 : kHasParts) | (record.limits.excluded.multipart ? kExcludedParts : 0) |
      (record.child_limits.excluded.multipart ? kChildrenExcludedParts : 0) | (record.upload ? kWasUpload : 0));
}

void get_multipart(Decoder& in, UsageRecord& record) {
  const auto which = in.get<std::uint8_t>();
  if ((which & kHasParts) != 0) record.by_class.multipart = get_usage(in);
  record.limits.excluded.multipart = (which & kExcludedParts) != 0;
  record.child_limits.excluded.multipart = (which & kChildrenExcludedParts) != 0;
  record.upload = (which & kWasUpload) != 0;
}

void get_classes(Decoder& in, UsageRecord& record) {
  const auto which = in.get<std::uint8_t>();
  if ((which & kHasRecycled) != 0) record.by_class.recycled = get_usage(in);
  if ((which & kHasOrphans) != 0) record.by_class.nameless = get_usage(in);
  record.limits.excluded = {.recycled = (which & kExcludedRecycled) != 0, .nameless = (which & kExcludedOrphans) != 0};
  record.child_limits.excluded = {.recycled = (which & kChildrenExcludedRecycled) != 0,
                                  .nameless = (which & kChildrenExcludedOrphans) != 0};
}

}  // namespace

std::string UsageRecord::encode() const {
  Encoder out;
  const auto low_bytes = static_cast<std::int64_t>(usage.bytes);
  const bool high = usage.bytes != low_bytes;
  out.put(low_bytes).put(usage.files).put(usage.directories);
  out.put(static_cast<std::uint8_t>((limits.bytes ? kHasBytes : 0) | (limits.files ? kHasFiles : 0) |
                                    (heir != kNoFile ? kHasHeir : 0)));
  if (limits.bytes) out.put(*limits.bytes);
  if (limits.files) out.put(*limits.files);
  if (heir != kNoFile) out.put(heir);
  const bool soft = limits.soft_bytes || limits.soft_files;
  const std::uint8_t classes = class_flags(*this), multipart = multipart_flags(*this);
  const auto more = static_cast<std::uint8_t>(
      (soft ? kHasSoft : 0) | (since != SoftExcess{} ? kHasSince : 0) | (child_limits.any() ? kHasChildLimits : 0) |
      (owners != OwnersCounted::kNo ? kCountsOwners : 0) | (high ? kHasHighBytes : 0) |
      (owners == OwnersCounted::kBeingCounted ? kOwnersBeingCounted : 0) | (classes != 0 ? kHasClasses : 0) |
      (multipart != 0 ? kHasMultipart : 0));
  if (more == 0 && height == 0) {
    const std::uint8_t version = heir == kNoFile ? kFirstVersion : kWithHeir;
    return seal(version, version, out.bytes());
  }
  out.put(more);
  if ((more & kHasSoft) != 0) put_limits(out, limits, false);
  if ((more & kHasSince) != 0) out.put(since.bytes.ns).put(since.files.ns);
  if ((more & kHasChildLimits) != 0) put_limits(out, child_limits, true);
  if (high) out.put(static_cast<std::int64_t>(usage.bytes >> 64));
  if (classes != 0) {
    out.put(classes);
    if ((classes & kHasRecycled) != 0) put_usage(out, by_class.recycled);
    if ((classes & kHasOrphans) != 0) put_usage(out, by_class.nameless);
  }
  if (multipart != 0) {
    out.put(multipart);
    if ((multipart & kHasParts) != 0) put_usage(out, by_class.multipart);
  }
  const std::uint8_t version = multipart != 0                           ? kWithMultipart
                               : classes != 0                           ? kWithClasses
                               : owners == OwnersCounted::kBeingCounted ? kWithCounting
                               : high                                   ? kWithHighBytes
                                                                        : kWithMore;
  if (height == 0) return seal(version, version, out.bytes());
  // Who does not know of heights passes over it.
  out.put_varint(height);
  return seal(kVersion, version, out.bytes());
}

Result<UsageRecord> UsageRecord::decode(std::string_view value) {
  const Opened opened = unseal(value, kVersion);
  Decoder in(opened.body);
  UsageRecord record;
  record.usage.bytes = in.get<std::int64_t>();
  record.usage.files = in.get<std::int64_t>();
  record.usage.directories = in.get<std::int64_t>();
  const auto which = in.get<std::uint8_t>();
  if ((which & kHasBytes) != 0) record.limits.bytes = in.get<std::uint64_t>();
  if ((which & kHasFiles) != 0) record.limits.files = in.get<std::uint64_t>();
  if ((which & kHasHeir) != 0) record.heir = in.get<FileId>();
  if (opened.version >= kWithMore) {
    const auto more = in.get<std::uint8_t>();
    if ((more & kHasSoft) != 0) get_limits(in, record.limits);
    if ((more & kHasSince) != 0) {
      record.since.bytes.ns = in.get<std::int64_t>();
      record.since.files.ns = in.get<std::int64_t>();
    }
    if ((more & kHasChildLimits) != 0) get_limits(in, record.child_limits);
    if ((more & kCountsOwners) != 0) {
      record.owners = (more & kOwnersBeingCounted) != 0 ? OwnersCounted::kBeingCounted : OwnersCounted::kYes;
    }
    if ((more & kHasHighBytes) != 0) {
      const auto low = static_cast<std::uint64_t>(record.usage.bytes);
      record.usage.bytes = in.get<std::int64_t>() * (ByteCount{1} << 64) + low;
    }
    if ((more & kHasClasses) != 0) get_classes(in, record);
    if ((more & kHasMultipart) != 0) get_multipart(in, record);
  }
  if (opened.version >= kVersion) record.height = static_cast<std::uint32_t>(in.get_varint());
  if (!in.ok()) return fail(Errc::kCorrupt, "usage record");
  return record;
}

}  // namespace stoa::core
