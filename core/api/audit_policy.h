// Audit policy of a directory: the classes of events recorded below it. Part of a registry snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/api/ids.h"

namespace stoa::core {

// A class of operations; as bits of AuditClasses. Persistent: never renumber.
enum class AuditClass : std::uint16_t {
  kWrite = 1,   // create, mkdir, symlink, mknod, link, write, restore
  kDelete = 2,  // remove, rmdir
  kRename = 4,
  kAttributes = 8,  // mode, owner, ACL, extended attributes, quota
  kRead = 16,       // one record for each file, user and client within a minute
  kList = 32,       // the same, for directories
  kDenied = 64,     // refused operations: access, not_owner, read_only, quota
  kAdmin = 128,  // changes through the admin interface that are about the directory, or about none (then: of the root)
};
using AuditClasses = std::uint16_t;
constexpr AuditClasses bit(AuditClass one) {
  return static_cast<AuditClasses>(one);
}
inline constexpr AuditClasses kAllAuditClasses = 255;

inline constexpr std::array<std::pair<AuditClass, std::string_view>, 8> kAuditClassNames{
    {{AuditClass::kWrite, "write"},
     {AuditClass::kDelete, "delete"},
     {AuditClass::kRename, "rename"},
     {AuditClass::kAttributes, "attributes"},
     {AuditClass::kRead, "read"},
     {AuditClass::kList, "list"},
     {AuditClass::kDenied, "denied"},
     {AuditClass::kAdmin, "admin"}}};

// An empty set of classes is a policy, too: nothing is recorded below this directory, regardless of policies above it.
struct AuditPolicy {
  FileId directory = kNoFile;
  AuditClasses classes = 0;
  bool operator==(const AuditPolicy&) const = default;
};

// Immutable.
class AuditTable {
 public:
  explicit AuditTable(std::vector<AuditPolicy> policies) : policies_(std::move(policies)) {
    for (const AuditPolicy& policy : policies_) {
      by_directory_.emplace(policy.directory, &policy);
      any_ = static_cast<AuditClasses>(any_ | policy.classes);
    }
  }
  AuditTable(const AuditTable&) = delete;
  AuditTable& operator=(const AuditTable&) = delete;

  // The policy of the nearest of the directories, which come from the root down; null: none of them has one.
  const AuditPolicy* find(std::span<const FileId> directories) const {
    for (auto at = directories.rbegin(); at != directories.rend(); ++at) {
      if (const auto found = by_directory_.find(*at); found != by_directory_.end()) return found->second;
    }
    return nullptr;
  }
  bool wants(std::span<const FileId> directories, AuditClass one) const {
    const AuditPolicy* const policy = find(directories);
    return policy != nullptr && (policy->classes & bit(one)) != 0;
  }
  // Whether any policy records this class.
  bool any(AuditClass one) const { return (any_ & bit(one)) != 0; }
  const std::vector<AuditPolicy>& policies() const { return policies_; }

 private:
  const std::vector<AuditPolicy> policies_;
  std::unordered_map<FileId, const AuditPolicy*> by_directory_;
  AuditClasses any_ = 0;
};

}  // namespace stoa::core
