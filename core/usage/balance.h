// What one limit is compared with: usage, the limits, and since when a soft one is passed.
#pragma once

#include <map>
#include <memory>

#include "base/clock.h"
#include "core/usage/usage_record.h"

namespace stoa::core {

using Clock = Timestamp (*)();

struct Balance {
  Usage used;
  QuotaLimits limits;
  SoftExcess since;

  // kQuota: growth by `delta` passes a hard limit, or comes when the grace of a soft one is over. Only growth is refused,
  // each dimension by itself: deleting and shrinking work above a limit, too.
  Status admit(const Usage& delta, Clock clock) const;
  // Both return whether a soft limit was passed, or is kept again.
  bool add(const Usage& delta, Clock clock);
  bool limit(const QuotaLimits& to, Clock clock);

 private:
  bool follow(Clock clock);
};

// A user or a group.
struct OwnerKey {
  QuotaOf of = QuotaOf::kUser;
  std::uint32_t id = 0;
  auto operator<=>(const OwnerKey&) const = default;
};
using OwnerBalances = std::map<OwnerKey, Balance>;

// Whose a file is.
struct Owner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  OwnerKey user() const { return {QuotaOf::kUser, uid}; }
  OwnerKey group() const { return {QuotaOf::kGroup, gid}; }
  bool operator==(const Owner&) const = default;
};

// All that a directory knows of what is below it.
struct Books {
  Balance total;
  std::unique_ptr<OwnerBalances> owners;      // null: owners are not counted
  std::unique_ptr<QuotaLimits> child_limits;  // null: new directories get no limits

  QuotaLimits for_children() const { return child_limits != nullptr ? *child_limits : QuotaLimits{}; }
  void set_for_children(const QuotaLimits& limits) {
    child_limits = limits.any() ? std::make_unique<QuotaLimits>(limits) : nullptr;
  }
};

// Of files and directories.
std::uint64_t files_of(const Usage& usage);
bool is_over(const Timestamp& since);
Timestamp grace_end(const Timestamp& since, const QuotaLimits& limits);

}  // namespace stoa::core
