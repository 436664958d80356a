// The stored usage and limits of a directory, or of a user or group in it: family usage.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/requests.h"

namespace stoa::core {

inline Usage operator+(Usage a, const Usage& b) {
  return {a.bytes + b.bytes, a.files + b.files, a.directories + b.directories};
}
inline Usage operator-(const Usage& a) {
  return {-a.bytes, -a.files, -a.directories};
}
inline bool is_zero(const Usage& a) {
  return a == Usage{};
}
// Of any of the three.
inline bool is_negative(const Usage& a) {
  return a.bytes < 0 || a.files < 0 || a.directories < 0;
}
inline UsageByClass operator+(UsageByClass a, const UsageByClass& b) {
  for (const UsageClass of : kClassesButLive) a[of] = a[of] + b[of];
  return a;
}
inline UsageByClass operator-(UsageByClass a) {
  for (Usage& amount : a.amounts) amount = -amount;
  return a;
}

// The part of these classes.
inline Usage sum_of(const UsageByClass& by_class, const ExcludedClasses& classes) {
  Usage sum;
  for (const UsageClass of : kClassesButLive) {
    if (classes.has(of)) sum = sum + by_class[of];
  }
  return sum;
}

// Whether a directory counts usage by user and group.
enum class OwnersCounted : std::uint8_t {
  kNo,
  kBeingCounted,  // files that existed at the request are being counted; only limits are stored meanwhile
  kYes,
};

struct UsageRecord {
  Usage usage;
  QuotaLimits limits;
  FileId surviving_parent =
      kNoFile;  // not kNoFile: the directory is gone, this was its parent, and `usage` is still charged
  SoftExcess since{};
  QuotaLimits child_limits{};
  OwnersCounted owners =
      OwnersCounted::kNo;  // else users and groups have records of their own, under the key of the directory
  UsageByClass by_class{};
  std::uint32_t height = 0;  // of a directory: nesting depth below it
  bool upload = false;       // with an surviving parent: it was the directory of a multipart upload

  // The usage compared with the limits of a directory that excludes these classes.
  Usage counted(const ExcludedClasses& excluded) const { return usage + -sum_of(by_class, excluded); }
  std::string encode() const;
  static Result<UsageRecord> decode(std::string_view value);
};

// Whether an administrator has set anything on the directory.
inline bool has_quota(const UsageRecord& record) {
  return record.limits.says_anything() || record.child_limits.says_anything() || record.owners != OwnersCounted::kNo;
}

}  // namespace stoa::core
