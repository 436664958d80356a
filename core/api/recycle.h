// The recycle bin as front ends see it: policies, and requests to list, restore and purge (core/recycle/README.md).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "core/api/attributes.h"
#include "core/api/context.h"
#include "core/api/ids.h"
#include "core/api/requests.h"

namespace stoa::core {

// Under this name a directory that has a bin shows it.
inline constexpr std::string_view kRecycleName = ".recycle";

// Callers that may restore from a bin, beside the superuser. Persistent: never renumber.
enum class RestoreRight : std::uint8_t {
  kOwner = 1,  // the user who deleted it, its owner, and the owner of a directory that it was in
               // (RestoreRequest::owned)
  kAdmin = 2,  // none
};

// The policy of a directory for all deletions below it, unless a directory on the way has its own.
struct RecyclePolicy {
  FileId dir = kNoFile;
  bool enabled = true;
  std::uint32_t days = 14;                   // then it is purged; 0: however old it is
  std::optional<std::uint64_t> bytes_max{};  // of one bin; beyond it, the oldest is purged
  RestoreRight restore = RestoreRight::kOwner;
  bool counted =
      true;  // in the usage, and so in the quotas, of the directory that has the bin; else in the volume's only
  bool operator==(const RecyclePolicy&) const = default;
};

// All policies of one moment, immutable, part of a registry snapshot.
class RecycleTable {
 public:
  RecycleTable(const std::vector<RecyclePolicy>& policies, const std::vector<FileId>& export_roots);

  // The directory's own; null: it inherits.
  const RecyclePolicy* find(FileId dir) const;
  const std::unordered_map<FileId, RecyclePolicy>& policies() const { return policies_; }
  // Whether a deletion there uses a bin of the directory's own: it has a policy, or is the root of an export.
  bool has_own_bin(FileId dir) const { return roots_.contains(dir) || find(dir) != nullptr; }

 private:
  std::unordered_map<FileId, RecyclePolicy> policies_;
  std::unordered_set<FileId> roots_;
};

// Something in a bin. As text "12-345".
struct RecycleItemId {
  FileId bin = kNoFile;
  std::uint64_t serial = 0;  // unique in the volume; grows with time
  auto operator<=>(const RecycleItemId&) const = default;
};
std::string to_string(const RecycleItemId& item);
Result<RecycleItemId> parse_recycle_item(std::string_view text);  // kInvalid

struct RecycledItem {
  RecycleItemId item;
  FileId id;  // of the file or directory, which keeps it
  FileType type;
  std::string path;  // its old path; empty: the directory is gone
  std::string name;  // that it had
  std::uint64_t bytes;
  Timestamp deleted_at;
  std::uint32_t uid;  // the user who deleted it
  Protocol protocol;
  std::string client;
};
// Lists deletions below a directory, in order of deletion. Covers all items of the bins at and below it. Of the bins
// above it, which may hold much else, covers the items that were deleted below it. Items whose directory was purged are
// found only through directories whose own bin holds them. Callers other than the superuser see their own deletions.
// kNotDirectory. Cost: the items listed and those passed over. In bins above, these are all items deleted elsewhere
// meanwhile, because bins are in order of time. One call passes over a bounded number, so a page may be short or empty,
// and not the last.
struct ListRecycledRequest {
  FileId dir;
  std::uint64_t after = 0;  // a serial
  std::uint32_t limit = 1000;
  std::optional<RecycleItemId> item{};  // that one only, wherever its bin is
};
struct ListRecycledReply {
  std::vector<RecycledItem> items;
  bool truncated = false;
  std::uint64_t next = 0;  // `after` of the next page, if it is truncated
};

// Takes it out of the bin: to where it was (the directory followed under its new name, and restored first when it is in
// a bin itself), or to `to_parent` under `to_name` (empty: its old one). kNotOwner: the policy does not let the caller.
// kExists: the name is taken. kNotFound: no such item; or the directory is gone, which the cause says. kQuota as for a
// rename.
struct RestoreRequest {
  RecycleItemId item;
  FileId to_parent = kNoFile;
  std::string_view to_name{};
  // On behalf of the owner of this directory, with the superuser as caller. kNotFound, also for items that were not
  // deleted below it; kAccess: it would be restored outside it; kNotOwner: only administrators restore from that bin.
  FileId owned = kNoFile;
};
struct RestoreReply {
  FileId id;
  FileId parent;     // its present place,
  std::string name;  // and under which name
  RenameReply moved;
};

// Purges deletions below a directory, with the scope of ListRecycledRequest: `items`, or all; of those, the ones of at
// least this age. Superuser only. kNotDirectory. Cost: `items`, or all items of the bins, including those passed over.
struct PurgeRequest {
  FileId dir;
  std::vector<RecycleItemId> items{};
  std::optional<std::uint64_t> older_than_seconds{};
  // On behalf of the owner of the directory. kNotOwner, and nothing is purged: some of it is in a bin from which only
  // administrators restore.
  bool by_owner = false;
};
struct PurgeReply {
  std::uint64_t removed;
};

// The recycle policy that applies to deletions in a directory.
struct RecycleStatusRequest {
  FileId dir;
};
struct RecycleStatusReply {
  std::optional<RecyclePolicy> policy{};  // absent: deletions keep nothing; `dir`: the directory that it is set on
  FileId bin_of = kNoFile;                // the directory whose bin receives deletions, as far as it is decided
  Usage used{};                           // by that bin
};

}  // namespace stoa::core
