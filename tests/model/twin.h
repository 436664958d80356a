// An obvious twin of a volume: maps and strings, no locks, no store, no caches. It is written from the contracts in
// core/api/*.h and answers one question for each operation: which errors are right (none: it must succeed), and what is
// true afterwards. Copying a Twin is cheap enough to try an operation and throw the copy away, which is how quotas
// work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "core/api/attributes.h"
#include "core/api/context.h"
#include "core/api/recycle.h"
#include "core/api/requests.h"
#include "tests/model/twin_content.h"

namespace stoa::model {

using core::FileId;
using core::FileType;

// The stored name of an entry: a directory's carries a trailing '/', so `a` and `a/` can stand side by side.
using Stored = std::string;

struct TwinMeta {
  std::string bytes;
  bool current = true;  // no content change since
};

struct TwinInode {
  FileId id = core::kNoFile;
  FileType type = FileType::kRegular;
  std::uint32_t mode = 0, uid = 0, gid = 0;
  core::DeviceNumber device{};
  TwinContent content;
  std::string target;
  std::map<std::string, std::string> xattrs;
  std::optional<TwinMeta> meta;
  std::optional<std::uint64_t> verifier;  // of an exclusive create
  // Directories.
  std::map<Stored, FileId> names;
  FileId parent = core::kNoFile;
  bool implied = false;
  core::QuotaLimits limits;
  FileId bin = core::kNoFile;         // its own
  bool is_bin = false;                // or a user's bin: no directory of the tree, and counts as nothing
  bool counted = true;                // of a bin
  FileId charged_to = core::kNoFile;  // of a multipart upload: where it counts
  // Others: every name, and the directory that the file is charged to.
  std::set<std::pair<FileId, Stored>> links;
  FileId charged_in = core::kNoFile;
  bool open = false;

  bool is_directory() const { return type == FileType::kDirectory; }
  bool orphan() const { return !is_directory() && links.empty(); }
  std::uint64_t size() const { return type == FileType::kSymlink ? target.size() : content.size(); }
};

// What it counts for, wherever that is.
core::Usage own_usage(const TwinInode& inode);

// What a delete kept.
struct TwinItem {
  FileId id = core::kNoFile;
  FileId recycle_root = core::kNoFile;  // the directory whose bin took it
  FileId bin = core::kNoFile;
  Stored stored;                  // in the user's bin
  FileId parent = core::kNoFile;  // where it was, and as what
  std::string raw;
  FileId base = core::kNoFile;  // of a key: how the directories that only keys implied are found again
  std::string below;
  bool by_key = false;
  FileId copy_of = core::kNoFile;  // replaced content: the file that lives on
  std::uint64_t bytes = 0;
};

// What a directory holds: all of it, and what of that is not live.
struct TwinUsage {
  core::Usage all;
  core::UsageByClass by_class;
  // What limits are compared with that leave these classes out.
  core::Usage counted(const core::ExcludedClasses& excluded) const;
};

// How an operation may show in the time stamps of an inode.
enum class Touch : std::uint8_t {
  kNone,
  kMaybe,       // allowed to look changed or not (a change that changes nothing)
  kAttributes,  // ctime and change counter
  kContent,     // mtime as well; of a file also data_version
};

// What the twin says about an operation. `errors` holds every error that would be right; empty: it must succeed.
struct Verdict {
  std::vector<Errc> errors;
  std::map<FileId, Touch> touched;  // on success
  FileId subject = core::kNoFile;   // the file that the operation was about, where the caller needs it
  bool created = false;

  bool ok() const { return errors.empty(); }
  bool allows(Errc code) const {
    for (const Errc error : errors) {
      if (error == code) return true;
    }
    return false;
  }
};

class Twin {
 public:
  Twin();

  // Runs `body` on this twin; when that pushed a directory above its limit, takes everything back and adds kQuota.
  template <class Body>
  Verdict within_quota(Body body) {
    const std::map<FileId, core::Usage> before = limited_usage();
    if (before.empty()) return body(*this);
    Twin saved = *this;
    Verdict verdict = body(*this);
    if (verdict.ok() && exceeds(before)) {
      *this = std::move(saved);
      verdict = {.errors = {Errc::kQuota}};
    }
    return verdict;
  }

  bool exists(FileId id) const { return inodes.contains(id); }
  TwinInode& at(FileId id) { return inodes.at(id); }
  const TwinInode& at(FileId id) const { return inodes.at(id); }

  // --- names as POSIX protocols see them (twin_names.cc)
  std::string shown(const TwinInode& dir, const Stored& stored) const;
  bool hidden(const TwinInode& dir, const Stored& stored) const;
  // The stored name that a POSIX name stands for; nullopt: there is none now.
  std::optional<Stored> find(const TwinInode& dir, std::string_view name) const;
  Verdict lookup(FileId parent, std::string_view name, const core::Credentials& cred, FileId* found) const;
  bool empty_for_posix(const TwinInode& dir) const;

  // Makes an entry for a new inode. The caller learns its id from the volume only after success, so the new inode gets
  // a placeholder id that adopt() replaces.
  static constexpr FileId kPlaceholder{~0ull};
  void adopt(FileId placeholder, FileId real);

  Verdict create(const core::CreateRequest& request, const core::Credentials& cred);
  Verdict open(const core::OpenRequest& request, const core::Credentials& cred);
  Verdict make(FileId parent, std::string_view name, TwinInode fresh, const core::Credentials& cred);
  Verdict link(const core::LinkRequest& request, const core::Credentials& cred);
  Verdict unlink(FileId parent, std::string_view name, const core::Credentials& cred);
  Verdict rmdir(FileId parent, std::string_view name, const core::Credentials& cred);
  Verdict rename(const core::RenameRequest& request, const core::Credentials& cred);
  Verdict exchange(const core::RenameRequest& request, const core::Credentials& cred);
  // The last close. A file without a name goes with it; until then it counts where it counted when it lost its name.
  void close(FileId id);

  // --- content and attributes (twin_data.cc)
  Verdict setattr(const core::SetattrRequest& request, const core::Credentials& cred);
  Verdict write(FileId id, std::uint64_t offset, std::string_view data, const core::Credentials& cred);
  Verdict allocate(const core::RangeRequest& request);
  Verdict zero(const core::RangeRequest& request);
  Verdict punch(const core::RangeRequest& request);
  Verdict copy_range(const core::CopyRangeRequest& request);
  Verdict set_xattr(const core::SetXattrRequest& request);
  Verdict remove_xattr(const core::RemoveXattrRequest& request);

  // --- keys (twin_keys.cc)
  FileId find_key(FileId root, std::string_view key) const;
  Verdict put_key(FileId root, std::string_view key, const TwinContent& content, std::string_view meta,
                  std::uint32_t mode, const std::optional<core::ObjectExpectation>& expect,
                  const std::optional<core::ObjectVersion>& present, FileId charged_to = core::kNoFile);
  Verdict remove_key(FileId root, std::string_view key, bool* removed);
  Verdict concatenate(const core::ConcatenateRequest& request, const std::optional<core::ObjectVersion>& present);
  // Every key below root, and with delimiter "/" every directory as a key that ends in "/": sorted.
  struct KeyOrPrefix {
    std::string text;
    FileId id = core::kNoFile;  // kNoFile: a rolled-up prefix
  };
  std::vector<KeyOrPrefix> list(FileId root, std::string_view prefix, std::string_view delimiter) const;

  // --- recycle bins (twin_recycle.cc). What is deleted gets the serial that the volume gave it only after success.
  // Until then it waits in `pending`, in its user's bin under a name of its own; bins and users' bins that it needed
  // have placeholder ids.
  const core::RecyclePolicy* find_policy(FileId dir, FileId* recycle_root) const;
  bool recycled(FileId id) const;  // in a bin: it can be read, restored and purged
  bool bin_is_empty(FileId recycle_root) const;
  void add_bin(FileId recycle_root, FileId id, bool counted);
  void add_user_bin(FileId bin, FileId id);
  void drop_bin(FileId recycle_root);
  void settle_item(const TwinItem& pending, std::uint64_t serial, const std::string& name);
  // Where an item was: with directories that lie in a bin themselves, where those were. nullopt: one of them is gone.
  struct Origin {
    std::string path;
    std::set<FileId> directories;
  };
  std::optional<Origin> origin(const TwinItem& item) const;
  std::string original_path(const TwinItem& item) const;  // empty: the directory is gone
  bool deleted_below(const TwinItem& item, FileId dir) const;
  Verdict restore(std::uint64_t serial, FileId to_parent, std::string_view to_name, const core::Credentials& cred);
  // How many went; those that went with their directories do not count.
  std::uint64_t purge(FileId dir, const std::set<std::uint64_t>& wanted);
  void age(std::uint32_t days);
  std::vector<FileId> recycle_roots_below(
      FileId dir) const;  // of bins, by names: also of those that are not counted below it
  Verdict remove_tree(FileId parent, std::string_view name, const core::Credentials& cred);

  std::map<FileId, core::RecyclePolicy> policies;
  std::set<FileId> export_roots;
  std::map<std::uint64_t, TwinItem> items;  // by serial
  std::vector<TwinItem> pending;

  // --- usage (twin_usage.cc)
  core::Usage usage(FileId dir) const { return usages()[dir].all; }
  TwinUsage usage_by_class(FileId dir) const { return usages()[dir]; }
  bool is_below(FileId id, FileId ancestor) const;

  std::map<FileId, TwinInode> inodes;
  std::map<FileId, FileId> ended;  // directories that are gone, and their parents: files may still be charged to them
  std::set<FileId> ended_uploads;  // of multipart uploads
  bool is_upload(FileId dir) const {
    return exists(dir) ? at(dir).charged_to != core::kNoFile : ended_uploads.contains(dir);
  }
  bool is_of_upload(FileId dir) const;  // itself or one above, by charges

 private:
  friend struct TwinNames;
  Verdict in_its_size(core::RangeRequest request, Verdict (Twin::*change)(const core::RangeRequest&)) const;
  void insert(TwinInode& dir, const Stored& stored, TwinInode& child);
  void erase(TwinInode& dir, const Stored& stored);
  // Takes a file's name away; forgets the inode with its last name, unless it is open.
  void drop_link(FileId dir, const Stored& stored, Verdict& verdict);
  // The same where a policy may keep it. `origin`: base, below and by_key.
  void remove_name(FileId dir, const Stored& stored, Verdict& verdict, const TwinItem& origin = {});
  bool can_go(FileId parent, const TwinInode& dir) const;  // an empty directory, as far as bins are concerned
  bool can_move(const TwinInode& dir) const;               // nothing is charged to it that has no name in it
  void keep_content(FileId dir, const Stored& stored, const TwinItem& origin);
  FileId user_bin_for(FileId dir);
  Stored recycle(FileId dir, const Stored& stored, TwinItem item);
  void leave_home(TwinInode& inode, FileId dir);
  FileId outside_trash(FileId dir) const;
  void consume(FileId dir, Verdict& verdict);  // the parts of an upload, and itself
  // put_key() without a look at quotas.
  Verdict place_key(FileId root, std::string_view key, const TwinContent& content, std::string_view meta,
                    std::uint32_t mode, const std::optional<core::ObjectExpectation>& expect,
                    const std::optional<core::ObjectVersion>& present);
  FileId make_implicit(FileId root, const std::vector<std::string>& directories, Verdict& verdict);
  Verdict restore_into(std::uint64_t serial, FileId dir, std::string_view name, const core::Credentials& cred);
  Verdict restore_in_place(std::uint64_t serial, const core::Credentials& cred);
  void purge_item(std::uint64_t serial);

  FileId fresh_id() { return FileId{~0ull - 100'000 - fresh_++}; }
  std::uint64_t fresh_ = 0;
  std::map<FileId, TwinUsage> usages() const;  // of every directory, counted
  FileId above(FileId dir) const;
  // Which class it is of in a directory, when it is of `below` in those below that.
  core::UsageClass class_in(FileId dir, core::UsageClass below) const;
  // Of a charge that becomes one of a file that has a name, or none.
  bool has_room_for_charge(const TwinInode& inode, FileId from, FileId to,
                           core::UsageClass becomes = core::UsageClass::kLive) const;
  std::map<FileId, core::Usage> limited_usage() const;
  bool exceeds(const std::map<FileId, core::Usage>& before) const;
  void collect(FileId dir, const std::string& path, bool directories, std::map<std::string, FileId>& keys) const;
};

// The raw component for a new name, or what is wrong with making it.
struct TwinNames {
  static Verdict new_name(const Twin& twin, FileId parent, std::string_view name, const core::Credentials& cred,
                          bool directory, Stored* stored);
};

// Permission bits of `wanted` (1 execute, 2 write, 4 read) that are missing: true.
bool denied(const core::Credentials& cred, const TwinInode& inode, std::uint32_t wanted);

}  // namespace stoa::model
