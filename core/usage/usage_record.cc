#include "core/usage/usage_record.h"

#include <array>

#include "core/kv/codec.h"

namespace stoa::core {
namespace {

constexpr std::uint8_t kVersion = 1;

// The parts behind the usage, in this order.
constexpr std::uint16_t kHasLimits = 1;
constexpr std::uint16_t kHasChildLimits = 2;
constexpr std::uint16_t kHasSince = 4;
constexpr std::uint16_t kHasHeir = 8;
constexpr std::uint16_t kWasUpload = 16;
constexpr std::uint16_t kCountsOwners = 32;
constexpr std::uint16_t kOwnersBeingCounted = 64;  // beside kCountsOwners

void put_limits(Encoder& out, const QuotaLimits& limits) {
  const std::array<const std::optional<std::uint64_t>*, 4> members{&limits.bytes, &limits.files, &limits.soft_bytes,
                                                                   &limits.soft_files};
  std::uint8_t which = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (*members[i]) which |= static_cast<std::uint8_t>(1u << i);
  }
  out.put(which).put(limits.excluded.bits()).put(limits.grace_s);
  for (const auto* member : members) {
    if (*member) out.put(**member);
  }
}

QuotaLimits get_limits(Decoder& in) {
  QuotaLimits limits;
  const auto which = in.get<std::uint8_t>();
  limits.excluded = ExcludedClasses::from_bits(in.get<std::uint8_t>());
  limits.grace_s = in.get<std::uint32_t>();
  const std::array<std::optional<std::uint64_t>*, 4> members{&limits.bytes, &limits.files, &limits.soft_bytes,
                                                             &limits.soft_files};
  for (std::size_t i = 0; i < members.size(); ++i) {
    if ((which >> i & 1) != 0) *members[i] = in.get<std::uint64_t>();
  }
  return limits;
}

void put_usage(Encoder& out, const Usage& usage) {
  out.put(static_cast<std::uint64_t>(usage.bytes)).put(static_cast<std::int64_t>(usage.bytes >> 64));
  out.put_varint(static_cast<std::uint64_t>(usage.files)).put_varint(static_cast<std::uint64_t>(usage.directories));
}

Usage get_usage(Decoder& in) {
  Usage usage;
  const auto low = in.get<std::uint64_t>();
  usage.bytes = in.get<std::int64_t>() * (ByteCount{1} << 64) + low;
  usage.files = static_cast<std::int64_t>(in.get_varint());
  usage.directories = static_cast<std::int64_t>(in.get_varint());
  return usage;
}

// One bit for each class that there is something of, and the amounts in the order of the classes.
void put_classes(Encoder& out, const UsageByClass& by_class) {
  std::uint8_t which = 0;
  for (const UsageClass of : kClassesButLive) {
    if (!is_zero(by_class[of])) which |= ExcludedClasses{of}.bits();
  }
  out.put(which);
  for (const UsageClass of : kClassesButLive) {
    if (!is_zero(by_class[of])) put_usage(out, by_class[of]);
  }
}

void get_classes(Decoder& in, UsageByClass& by_class) {
  const auto which = ExcludedClasses::from_bits(in.get<std::uint8_t>());
  for (const UsageClass of : kClassesButLive) {
    if (which.has(of)) by_class[of] = get_usage(in);
  }
}

}  // namespace

std::string UsageRecord::encode() const {
  Encoder out;
  put_usage(out, usage);
  put_classes(out, by_class);
  const bool has_limits = limits.says_anything(), has_child_limits = child_limits.says_anything();
  out.put(static_cast<std::uint16_t>((has_limits ? kHasLimits : 0) | (has_child_limits ? kHasChildLimits : 0) |
                                     (since != SoftExcess{} ? kHasSince : 0) |
                                     (surviving_parent != kNoFile ? kHasHeir : 0) | (upload ? kWasUpload : 0) |
                                     (owners != OwnersCounted::kNo ? kCountsOwners : 0) |
                                     (owners == OwnersCounted::kBeingCounted ? kOwnersBeingCounted : 0)));
  if (has_limits) put_limits(out, limits);
  if (has_child_limits) put_limits(out, child_limits);
  if (since != SoftExcess{}) out.put(since.bytes.ns).put(since.files.ns);
  if (surviving_parent != kNoFile) out.put(surviving_parent);
  out.put_varint(height);
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<UsageRecord> UsageRecord::decode(std::string_view value) {
  const Opened opened = decode_record(value, kVersion);
  Decoder in(opened.body);
  UsageRecord record;
  record.usage = get_usage(in);
  get_classes(in, record.by_class);
  const auto which = in.get<std::uint16_t>();
  if ((which & kHasLimits) != 0) record.limits = get_limits(in);
  if ((which & kHasChildLimits) != 0) record.child_limits = get_limits(in);
  if ((which & kHasSince) != 0) {
    record.since.bytes.ns = in.get<std::int64_t>();
    record.since.files.ns = in.get<std::int64_t>();
  }
  if ((which & kHasHeir) != 0) record.surviving_parent = in.get<FileId>();
  record.upload = (which & kWasUpload) != 0;
  if ((which & kCountsOwners) != 0)
    record.owners = (which & kOwnersBeingCounted) != 0 ? OwnersCounted::kBeingCounted : OwnersCounted::kYes;
  record.height = static_cast<std::uint32_t>(in.get_varint());
  // A negative count would end in an assertion later.
  const Usage live = record.usage + -sum_of(record.by_class, kAllButLive);
  bool sound = in.ok() && !is_negative(live);
  for (const UsageClass of : kClassesButLive) sound = sound && !is_negative(record.by_class[of]);
  if (!sound) return fail(Errc::kCorrupt, "usage record");
  return record;
}

}  // namespace stoa::core
