// What a directory knows of all below it, or a user or group in it, with the limits: family usage.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/requests.h"

namespace stoa::core {

inline Usage operator+(Usage a, const Usage& b) {
  return {a.bytes + b.bytes, a.files + b.files, a.directories + b.directories};
}
inline Usage operator-(const Usage& a) { return {-a.bytes, -a.files, -a.directories}; }
inline bool is_zero(const Usage& a) { return a == Usage{}; }

struct UsageRecord {
  Usage usage;
  QuotaLimits limits;
  FileId heir = kNoFile;  // not kNoFile: the directory is gone, this was its parent, and `usage` is still charged
  SoftExcess since{};
  QuotaLimits child_limits{};
  bool counts_owners = false;  // users and groups have records of their own, under the key of the directory

  std::string encode() const;
  static Result<UsageRecord> decode(std::string_view value);
};

// Whether an administrator has said anything about the directory.
inline bool has_quota(const UsageRecord& record) {
  return record.limits.any() || record.child_limits.any() || record.counts_owners;
}

}  // namespace stoa::core
