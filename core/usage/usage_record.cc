#include "core/usage/usage_record.h"

#include "core/kv/codec.h"

namespace stoa::core {
namespace {
constexpr std::uint8_t kVersion = 2;  // 2: heir
constexpr std::uint8_t kFirstVersion = 1;
constexpr std::uint8_t kHasBytes = 1;
constexpr std::uint8_t kHasFiles = 2;
constexpr std::uint8_t kHasHeir = 4;
}  // namespace

std::string UsageRecord::encode() const {
  Encoder out;
  out.put(usage.bytes).put(usage.files).put(usage.directories);
  out.put(static_cast<std::uint8_t>((limits.bytes ? kHasBytes : 0) | (limits.files ? kHasFiles : 0) |
                                    (heir != kNoFile ? kHasHeir : 0)));
  if (limits.bytes) out.put(*limits.bytes);
  if (limits.files) out.put(*limits.files);
  if (heir == kNoFile) return seal(kFirstVersion, kFirstVersion, out.bytes());
  out.put(heir);
  return seal(kVersion, kVersion, out.bytes());
}

Result<UsageRecord> UsageRecord::decode(std::string_view value) {
  Decoder in(unseal(value, kVersion).body);
  UsageRecord record;
  record.usage.bytes = in.get<std::int64_t>();
  record.usage.files = in.get<std::int64_t>();
  record.usage.directories = in.get<std::int64_t>();
  const auto which = in.get<std::uint8_t>();
  if ((which & kHasBytes) != 0) record.limits.bytes = in.get<std::uint64_t>();
  if ((which & kHasFiles) != 0) record.limits.files = in.get<std::uint64_t>();
  if ((which & kHasHeir) != 0) record.heir = in.get<FileId>();
  if (!in.ok()) return fail(Errc::kCorrupt, "usage record");
  return record;
}

}  // namespace stoa::core
