// The recycle bin: what deletions keep, for how long, and what front ends ask of it (core/recycle/README.md).
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

// Who may take something out of a bin again, beside the superuser. Persistent: never renumber.
enum class RestoreRight : std::uint8_t {
  kOwner = 1,  // who deleted it, who owns it, and who owns a directory that it was in (RestoreRequest::owned)
  kAdmin = 2,  // nobody
};

// Of a directory, for all that is deleted below it, unless a directory on the way has its own.
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
  // Whether the directory has a bin of its own when something is kept: it has a policy, or is the root of an export.
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
  std::string path;  // where it was; empty: the directory is gone
  std::string name;  // that it had
  std::uint64_t bytes;
  Timestamp deleted_at;
  std::uint32_t uid;  // who deleted it
  Protocol protocol;
  std::string client;
};
// What was deleted below a directory, in order of deletion: all that the bins at and below it hold, and of the bins
// above it, which may hold much else, what was in it. What was deleted in a directory that is gone for good is known to
// no directory above it but those whose bin it lies in. Everybody but the superuser sees what he deleted.
// kNotDirectory. Cost: what is told, and what is passed over: in bins above, all that was deleted elsewhere meanwhile,
// because bins are in order of time. One call passes over a bounded number, so a page may be short or empty, and not
// the last.
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
  // Of whoever owns this directory, in whose name the superuser asks: kNotFound, also for what was not deleted below
  // it; kAccess: it would not come back below it; kNotOwner: only administrators restore from that bin.
  FileId owned = kNoFile;
};
struct RestoreReply {
  FileId id;
  FileId parent;     // where it is now,
  std::string name;  // and under which name
  RenameReply moved;
};

// Purges what was deleted below a directory, as ListRecycledRequest tells it: `items`, or all; of those, what was
// deleted at least so long ago. Superuser only. kNotDirectory. Cost: `items`, or all that the bins hold, also what is
// passed over.
struct PurgeRequest {
  FileId dir;
  std::vector<RecycleItemId> items{};
  std::optional<std::uint64_t> older_than_seconds{};
  // In the name of whoever owns the directory. kNotOwner, and nothing is purged: some of it is in a bin from which only
  // administrators restore.
  bool by_owner = false;
};
struct PurgeReply {
  std::uint64_t removed;
};

// What happens to what is deleted in a directory.
struct RecycleStatusRequest {
  FileId dir;
};
struct RecycleStatusReply {
  std::optional<RecyclePolicy> policy{};  // absent: nothing is kept; `dir`: the directory that it is set on
  FileId bin_of = kNoFile;                // the directory whose bin takes it, as far as it is decided
  Usage used{};                           // by that bin
};

}  // namespace stoa::core
