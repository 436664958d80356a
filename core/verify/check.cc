#include "core/verify/check.h"

#include <array>
#include <concepts>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/assert.h"
#include "base/reason.h"
#include "core/access/acl.h"
#include "core/blob/blob_record.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/verify.h"
#include "core/inode/acl_record.h"
#include "core/inode/name_fold.h"
#include "core/inode/trash_record.h"
#include "core/kv/damaged_walk.h"
#include "core/kv/keys.h"
#include "core/links/drop_link.h"
#include "core/usage/usage_log.h"
#include "core/verify/damage_map.h"

namespace stoa::core {
namespace {

// Scans the families in order and compares their records with each other. Memory: a few words a file. Unreadable
// records are reported and skipped; comparisons that need them are skipped, too.
class Checker {
 public:
  Checker(VolumeContext& volume, KvReader& kv, const CheckOptions& options)
      : volume_(volume), kv_(kv), options_(options) {}

  Result<CheckReport> run() {
    STOA_CHECK_OK(read_orphans());
    STOA_CHECK_OK(read_recycle_roots());
    STOA_CHECK_OK(read_inodes());
    STOA_CHECK_OK(read_entries());
    STOA_CHECK_OK(read_cookies());
    STOA_CHECK_OK(count_folds());
    STOA_CHECK_OK(read_links());
    STOA_CHECK_OK(read_ended_accounts());
    STOA_CHECK_OK(compare_counting());
    STOA_CHECK_OK(compare_seals());
    STOA_CHECK_OK(read_items());
    compare_files();
    STOA_CHECK_OK(compare_usage());
    STOA_CHECK_OK(compare_blobs());
    STOA_CHECK_OK(find_strays(Family::kInline));
    STOA_CHECK_OK(find_strays(Family::kXattr));
    for (const Family family : {Family::kChecksum, Family::kState, Family::kJournal, Family::kConfig, Family::kTrash}) {
      STOA_CHECK_OK(each(family, [](std::string_view, std::string_view) -> Status { return {}; }));
    }
    compare_attribute_bytes();
    return std::move(report_);
  }

 private:
  struct File {
    FileType type{};
    FileId parent = kNoFile;
    FileId charged_to = kNoFile;
    std::uint32_t links = 0;                  // as recorded
    std::uint64_t entries = 0;                // as recorded
    std::uint64_t attribute_bytes = 0;        // as recorded
    std::uint64_t found_attribute_bytes = 0;  // as found
    Usage usage;
    Owner owner;
    std::uint32_t names = 0;        // as found
    std::uint64_t children = 0;     // as found
    std::uint32_t directories = 0;  // subdirectories, as found
    bool is_inline = false;
    bool named_at_parent = false;
    std::uint32_t flags = 0;
    bool has(InodeFlags flag) const { return (flags & flag) != 0; }
  };

  static std::string fact(std::string_view text) { return std::string(text); }
  static std::string fact(std::integral auto number) { return std::to_string(number); }
  static std::string fact(FileId id) { return fact(static_cast<std::uint64_t>(id)); }
  static std::string fact(BlobId blob) { return fact(static_cast<std::uint64_t>(blob)); }
  template <class... Facts>
  void find(FindingKind kind, const Facts&... facts) {
    add_finding({kind, {fact(facts)...}});
  }
  void add_finding(Finding finding) {
    STOA_ASSERT(finding.facts.size() == fact_names(finding.kind).size(), "a finding has the facts of its kind");
    ++report_.problem_count;
    if (report_.problems.size() < CheckReport::kProblemsMax) report_.problems.push_back(std::move(finding));
  }
  static bool is_root(FileId id) { return id == kRootId || id == kMultipartId; }

  template <class Visit>
  Status each(Family family, Visit visit) {
    return each_of(family, {}, [&](std::string_view key, std::string_view value) -> Status {
      if (options_.progress && ++records_ % kRecordsBetweenReports == 0) options_.progress(records_, 0);
      return visit(key, value);
    });
  }
  template <class Visit>
  Status each_of(Family family, std::string_view prefix, Visit visit) {
    const auto it = kv_.scan(family, prefix, keys::behind_prefix(std::string(prefix)));
    std::string last;
    for (;;) {
      for (; it->valid(); it->next()) {
        last = it->key();
        STOA_CHECK_OK(visit(std::string_view(last), it->value()));
      }
      const Status ended = it->status();
      if (ended) return {};
      const auto gap = skip_damage(*it, last);
      if (!gap) return ended;
      if (damage_.add(family, *gap)) {
        const auto [from, to] = DamageMap::numbers(family, *gap);
        find(FindingKind::kRecordsUnreadable, to_string(family), from, to, reason(ended.error()));
      }
      if (gap->to.empty()) return {};
    }
  }

  // A record of the snapshot. each() reports damaged ones: here they are unknown.
  enum class Looked : std::uint8_t { kFound, kAbsent, kUnreadable };
  Looked look(Family family, std::string_view key, std::string* value) {
    const auto found = kv_.get(family, key, value);
    return !found ? Looked::kUnreadable : *found ? Looked::kFound : Looked::kAbsent;
  }

  // By the links of the snapshot, as far up as they can be read.
  std::string path_of(FileId id) {
    std::string below;
    for (int depth = 0; depth < 1000 && id != kRootId; ++depth) {
      const std::string prefix = keys::id_key(id);
      const auto it = kv_.scan(Family::kLink, prefix, keys::behind_prefix(prefix));
      if (!it->valid()) return "(inode " + fact(id) + ")" + below;
      std::string_view key = keys::after_id(it->key());
      std::string_view name = keys::after_id(key);
      if (name.ends_with('/')) name.remove_suffix(1);
      below.insert(0, "/" + std::string(name));
      id = keys::id_of(key);
    }
    return below.empty() ? "/" : below;
  }
  // In place of a record that cannot be read: the paths that end there.
  void cut_off(const std::string& path, FileId id) { find(FindingKind::kPathUnreadable, path, id); }

  // Files that live only because they are open (core/links/orphan.h): no name, but a home that is charged.
  Status read_orphans() {
    return each_of(Family::kState, keys::kOrphanPrefix, [&](std::string_view key, std::string_view) -> Status {
      orphans_.insert(keys::id_of(key.substr(keys::kOrphanPrefix.size())));
      return {};
    });
  }

  // The recycle bins (core/recycle/bin.h) by the directories that have them.
  Status read_recycle_roots() {
    return each_of(Family::kTrash, keys::kRecycleRootPrefix,
                   [&](std::string_view key, std::string_view value) -> Status {
                     const FileId dir = keys::id_of(key.substr(keys::kRecycleRootPrefix.size()));
                     const auto recycle_root = RecycleRootRecord::decode(value);
                     if (!recycle_root) {
                       find(FindingKind::kBinDamaged, dir);
                     } else {
                       recycle_roots_[dir] = recycle_root->bin;
                     }
                     return {};
                   });
  }
  bool is_bin(FileId id) const {
    const auto it = files_.find(id);
    return it != files_.end() && it->second.has(kIsBin);
  }

  // Every item has its name in the bin, and every name in the bin is that of an item.
  Status read_items() {
    std::uint64_t items = 0;
    STOA_CHECK_OK(
        each_of(Family::kTrash, keys::kItemPrefix, [&](std::string_view whole_key, std::string_view record) -> Status {
          ++items;
          const std::string_view key = whole_key.substr(keys::kItemPrefix.size());
          const FileId bin = keys::id_of(key);
          const std::uint64_t number = keys::read_be64(keys::after_id(key));
          const auto item = ItemRecord::decode(record);
          if (!item) {
            find(FindingKind::kItemDamaged, bin, number);
            return {};
          }
          std::string value;
          const Looked has_user_bin = look(Family::kEntry, keys::id_name(bin, std::to_string(item->uid) + "/"), &value);
          const auto user_bin = has_user_bin == Looked::kFound ? EntryRecord::decode(value) : fail(Errc::kNotFound);
          const std::string name = keys::stored_name(item->name, item->type == FileType::kDirectory);
          const Looked named =
              !user_bin ? Looked::kAbsent : look(Family::kEntry, keys::id_name(user_bin->id, name), &value);
          if (has_user_bin == Looked::kUnreadable || named == Looked::kUnreadable ||
              damage_.unreadable(Family::kInode, keys::id_key(bin)))
            return {};
          const auto entry = named == Looked::kFound ? EntryRecord::decode(value) : fail(Errc::kNotFound);
          if (!is_bin(bin) || !entry || entry->id != item->id) find(FindingKind::kItemGone, bin, number);
          return {};
        }));
    if (!damage_.whole({Family::kTrash, Family::kInode, Family::kEntry})) return {};
    std::uint64_t names = 0;
    for (const auto& [id, file] : files_) {
      if (is_bin(file.parent) && file.type == FileType::kDirectory) names += file.children;
    }
    if (names != items) find(FindingKind::kItemCount, items, names);
    return {};
  }

  void compare_bins() {
    if (!damage_.whole({Family::kTrash, Family::kInode})) return;
    for (const auto& [dir, bin] : recycle_roots_) {
      const auto file = files_.find(dir);
      if (file == files_.end() || !file->second.has(kHasBin)) find(FindingKind::kBinListed, dir);
      const auto found = files_.find(bin);
      if (found == files_.end() || !found->second.has(kIsBin) || found->second.parent != dir) {
        find(FindingKind::kBinMissing, dir, bin);
      }
    }
    for (const auto& [id, file] : files_) {
      if (file.has(kHasBin) && !recycle_roots_.contains(id)) find(FindingKind::kBinUnrecorded, id);
      const auto recycle_root = recycle_roots_.find(file.parent);
      if (file.has(kIsBin) && (recycle_root == recycle_roots_.end() || recycle_root->second != id))
        find(FindingKind::kBinUnowned, id);
    }
  }

  Status read_inodes() {
    return each(Family::kInode, [&](std::string_view key, std::string_view value) -> Status {
      const FileId id = keys::id_of(key);
      const auto inode = Inode::decode(id, value);
      if (!inode) {
        find(FindingKind::kInodeDamaged, id);
        return {};
      }
      ++report_.inodes;
      ++(inode->is_directory() ? report_.directories : report_.files);
      if (inode->type == FileType::kRegular) report_.bytes += inode->size;
      files_[id] = {.type = inode->type,
                    .parent = inode->parent,
                    .charged_to = inode->charged_to,
                    .links = inode->links,
                    .entries = inode->entries,
                    .attribute_bytes = inode->attribute_bytes,
                    .usage = usage_of(*inode),
                    .owner = {inode->uid, inode->gid},
                    .is_inline = inode->has(kContentInline),
                    .flags = inode->flags};
      std::uint64_t end = 0;
      for (const Extent& extent : inode->layout.extents) {
        ++expected_references_[extent.blob];
        if (extent.file_offset < end) find(FindingKind::kExtentsOverlap, id);
        if (extent.length == 0) find(FindingKind::kExtentEmpty, id);
        if (extent.blob_offset > volume_.blobs.capacity(extent.blob) ||
            extent.length > volume_.blobs.capacity(extent.blob) - extent.blob_offset) {
          find(FindingKind::kExtentBeyondBlob, id);
        }
        end = extent.end();
      }
      if (options_.read_data && !inode->layout.empty()) STOA_CHECK_OK(check_data(id));
      if (inode->has(kContentInline)) STOA_CHECK_OK(check_inline(id));
      if (inode->has(kHasAcl)) STOA_CHECK_OK(check_stored_acl(*inode));
      return {};
    });
  }

  Status check_inline(FileId id) {
    if (!read_inline(kv_, id)) find(FindingKind::kInlineDamaged, id, path_of(id));
    return {};
  }

  Status check_stored_acl(const Inode& inode) {
    with_acl_.insert(inode.id);
    std::string value;
    const Looked found = look(Family::kXattr, keys::id_name(inode.id, keys::kAclXattr), &value);
    const auto acl = found == Looked::kFound ? decode_acl(value) : fail(Errc::kCorrupt);
    if (!acl || !check_acl(*acl, inode.is_directory())) {
      find(FindingKind::kAclDamaged, inode.id);
    } else if ((inode.mode & 0777) != mode_of(*acl, inode.is_directory())) {
      find(FindingKind::kAclMode, inode.id);
    }
    return {};
  }

  Status check_data(FileId id) {
    // Sums and bytes are of now, not of the snapshot, like the file of the comparison.
    const auto node = volume_.nodes.get(id);
    if (!node && node.error().code == Errc::kStale) return {};
    if (!node || !verify_file(volume_, *node, [](std::uint64_t) { return true; })) {
      find(FindingKind::kContentDamaged, id);
    }
    return {};
  }

  Status read_entries() {
    return each(Family::kEntry, [&](std::string_view key, std::string_view value) -> Status {
      const FileId parent = keys::id_of(key);
      const std::string name(keys::after_id(key));
      const auto entry = EntryRecord::decode(value);
      if (!entry) {
        find(FindingKind::kEntryDamaged, parent, name);
        return {};
      }
      check_fold(parent, name);
      const auto dir = files_.find(parent);
      const auto file = files_.find(entry->id);
      const bool file_unread = file == files_.end() && damage_.unreadable(Family::kInode, keys::id_key(entry->id));
      if (file_unread) {
        const std::string above = path_of(parent);
        cut_off((above == "/" ? above : above + "/") + (name.ends_with('/') ? name.substr(0, name.size() - 1) : name),
                entry->id);
      }
      if (dir == files_.end() && damage_.unreadable(Family::kInode, keys::id_key(parent))) {
        ++entries_;  // the directory is reported at its name
        return {};
      }
      if (dir == files_.end() || dir->second.type != FileType::kDirectory) {
        find(FindingKind::kEntryStray, parent, name);
        return {};
      }
      ++dir->second.children;
      if (entry->type == FileType::kDirectory) ++dir->second.directories;
      if (file_unread) {
        ++entries_;
        return {};
      }
      if (file == files_.end()) {
        find(FindingKind::kEntryDangling, parent, name, entry->id);
        return {};
      }
      ++file->second.names;
      if (file->second.type != entry->type) find(FindingKind::kEntryType, parent, name);
      if (entry->type == FileType::kDirectory) {
        if (!name.ends_with('/')) find(FindingKind::kEntryForm, parent, name);
        if (file->second.parent != parent) find(FindingKind::kEntryParent, parent, name);
      }
      std::string raw = name;
      if (entry->type == FileType::kDirectory) raw.pop_back();
      std::string stored;
      const Looked found = look(Family::kCookie, keys::cookie_key(parent, entry->cookie), &stored);
      const auto cookie = found == Looked::kFound ? CookieRecord::decode(stored) : Result<CookieRecord>{};
      if (found == Looked::kUnreadable) {
        // Reported with the family.
      } else if (found == Looked::kAbsent || !cookie || cookie->id != entry->id || cookie->name != raw ||
                 cookie->flags != entry->flags) {
        find(FindingKind::kEntryCookie, parent, name);
      }
      if (look(Family::kLink, keys::link_key(entry->id, parent, name), &stored) == Looked::kAbsent)
        find(FindingKind::kEntryLink, parent, name);
      const Looked other = look(Family::kEntry, keys::id_key(parent) + raw + "/", &stored);
      if (entry->type != FileType::kDirectory && other != Looked::kUnreadable &&
          entry->hidden_by_directory() != (other == Looked::kFound))
        find(FindingKind::kEntryShadow, parent, name);
      ++entries_;
      return {};
    });
  }

  // Names that are not their own folding are in family fold.
  void check_fold(FileId parent, std::string_view stored) {
    const std::string_view raw = stored.ends_with('/') ? stored.substr(0, stored.size() - 1) : stored;
    if (is_folded(raw)) return;
    ++folds_;
    std::string value;
    if (look(Family::kFold, keys::fold_key(parent, fold_name(raw), stored), &value) == Looked::kAbsent)
      find(FindingKind::kEntryFold, parent, stored);
  }
  Status count_folds() {
    std::uint64_t folds = 0;
    STOA_CHECK_OK(each(Family::kFold, [&](std::string_view, std::string_view) -> Status {
      ++folds;
      return {};
    }));
    if (folds != folds_ && damage_.whole({Family::kFold, Family::kEntry})) find(FindingKind::kFoldCount, folds, folds_);
    return {};
  }

  Status read_cookies() {
    std::uint64_t cookies = 0;
    STOA_CHECK_OK(each(Family::kCookie, [&](std::string_view, std::string_view) -> Status {
      ++cookies;
      return {};
    }));
    if (cookies != entries_ && damage_.whole({Family::kCookie, Family::kEntry}))
      find(FindingKind::kCookieCount, cookies, entries_);
    return {};
  }

  Status read_links() {
    std::uint64_t links = 0;
    STOA_CHECK_OK(each(Family::kLink, [&](std::string_view key, std::string_view) -> Status {
      ++links;
      const FileId id = keys::id_of(key);
      const FileId parent = keys::id_of(keys::after_id(key));
      const auto file = files_.find(id);
      if (file != files_.end() && file->second.parent == parent) file->second.named_at_parent = true;
      const std::string_view name = keys::after_id(keys::after_id(key));
      if (damage_.unreadable(Family::kEntry, keys::id_name(parent, name))) {
        find(FindingKind::kNameUnreadable, path_of(id), id);
      }
      return {};
    }));
    if (links != entries_ && damage_.whole({Family::kLink, Family::kEntry}))
      find(FindingKind::kLinkRecordCount, links, entries_);
    return {};
  }

  // Directories that are gone while files are charged to them (core/usage/ledger.h).
  Status read_ended_accounts() {
    return each(Family::kUsage, [&](std::string_view key, std::string_view value) -> Status {
      const auto record = UsageRecord::decode(value);
      if (record && record->surviving_parent != kNoFile)
        ended_[keys::id_of(key)] = {record->surviving_parent, record->upload};
      if (record && record->owners == OwnersCounted::kYes) by_owner_[keys::id_of(key)];
      if (record && record->owners == OwnersCounted::kBeingCounted) being_counted_.insert(keys::id_of(key));
      return {};
    });
  }

  // Directories whose owners are being counted (core/namespace/owner_count.h) are listed, so that counting goes on.
  Status compare_counting() {
    if (!damage_.whole({Family::kUsage})) return {};
    std::set<FileId> listed;
    STOA_CHECK_OK(
        each_of(Family::kConfig, keys::kCountingPrefix, [&](std::string_view key, std::string_view) -> Status {
          listed.insert(keys::id_of(key.substr(keys::kCountingPrefix.size())));
          return {};
        }));
    if (!damage_.whole({Family::kConfig})) return {};
    for (const FileId dir : listed) {
      if (!being_counted_.contains(dir)) find(FindingKind::kCountingListed, dir);
    }
    for (const FileId dir : being_counted_) {
      if (!listed.contains(dir)) find(FindingKind::kCountingUnlisted, dir);
    }
    return {};
  }
  // Sealed directories (core/txn/sealed.h) are listed, so that a start knows whether there is any.
  Status compare_seals() {
    std::set<FileId> listed;
    STOA_CHECK_OK(each_of(Family::kConfig, keys::kSealedPrefix, [&](std::string_view key, std::string_view) -> Status {
      listed.insert(keys::id_of(key.substr(keys::kSealedPrefix.size())));
      return {};
    }));
    if (!damage_.whole({Family::kInode, Family::kConfig})) return {};
    for (const auto& [id, file] : files_) {
      const bool is_listed = listed.erase(id) != 0;
      if (file.has(kSealed) && file.type != FileType::kDirectory) find(FindingKind::kSealedFile, id);
      if (file.has(kSealed) && !is_listed) find(FindingKind::kSealUnlisted, id);
      if (!file.has(kSealed) && is_listed) find(FindingKind::kSealListed, id);
    }
    for (const FileId id : listed) find(FindingKind::kSealGone, id);
    return {};
  }
  bool has_account(FileId dir) const {
    const auto it = files_.find(dir);
    return ended_.contains(dir) || (it != files_.end() && it->second.type == FileType::kDirectory);
  }

  void compare_files() {
    compare_bins();
    const bool has_names =
        damage_.whole({Family::kInode, Family::kEntry, Family::kLink, Family::kUsage, Family::kState});
    if (!has_names) {
      find(FindingKind::kNamesUncompared);
      return;
    }
    for (const FileId id : orphans_) {
      const auto file = files_.find(id);
      if (file == files_.end()) {
        find(FindingKind::kOrphanGone, id);
      } else if (file->second.names != 0 || file->second.links != 0 || file->second.type == FileType::kDirectory) {
        find(FindingKind::kOrphanNamed, id);
      } else if (file->second.parent != kNoFile && !has_account(file->second.parent)) {
        find(FindingKind::kOrphanCharge, id);
      }
    }
    for (const auto& [id, file] : files_) {
      if (orphans_.contains(id)) continue;
      const bool orphan = is_root(id) || file.has(kIsBin);
      if (!orphan && file.names == 0) find(FindingKind::kNameless, id);
      if (file.has(kIsBin) && file.names != 0) find(FindingKind::kBinNamed, id);
      const bool directory = file.type == FileType::kDirectory;
      // A file may be charged where it lost its name; a directory is charged to its parent.
      if (!orphan && !file.named_at_parent && (directory || !has_account(file.parent))) {
        find(FindingKind::kChargeNameless, id);
      }
      if (file.charged_to != kNoFile && (!directory || !has_account(file.charged_to))) {
        find(FindingKind::kChargeStray, id);
      }
      const std::uint32_t links = directory ? 2 + file.directories : file.names;
      if (file.links != links) find(FindingKind::kLinkCount, id, file.links, links);
      if (directory && file.names > 1) find(FindingKind::kSeveralNames, id);
      if (directory && file.entries != file.children) find(FindingKind::kEntryCount, id, file.entries, file.children);
    }
  }

  bool is_user_bin(const File& file) const { return file.type == FileType::kDirectory && is_bin(file.parent); }
  static FileId charged_above(const File& dir) {
    return dir.charged_to != kNoFile ? dir.charged_to : dir.has(kExcluded) ? kRootId : dir.parent;
  }
  bool is_upload(FileId dir) const {
    const auto it = files_.find(dir);
    const auto ended = ended_.find(dir);
    return it != files_.end() ? it->second.charged_to != kNoFile : ended != ended_.end() && ended->second.upload;
  }

  Status compare_usage() {
    if (!damage_.whole({Family::kInode, Family::kUsage, Family::kTrash, Family::kState})) {
      find(FindingKind::kUsageUncompared);
      return {};
    }
    // Every file is charged to its home directory and all above it; children have no order, so climb from each.
    std::unordered_map<FileId, CountersChange> counted;
    for (const auto& [id, file] : files_) {
      if (is_root(id) || file.has(kIsBin) || is_user_bin(file))
        continue;  // bins and their users' bins count as nothing
      const Usage& delta = file.usage;
      FileId at = file.type == FileType::kDirectory ? charged_above(file) : file.parent;
      UsageClass of = file.charged_to != kNoFile ? UsageClass::kMultipart
                      : orphans_.contains(id)    ? UsageClass::kOrphans
                                                 : UsageClass::kLive;
      for (int depth = 0; at != kNoFile; ++depth) {
        if (depth > 100'000) {
          find(FindingKind::kCycle, id);
          break;
        }
        if (is_bin(at)) of = UsageClass::kRecycled;
        if (is_upload(at)) of = UsageClass::kMultipart;
        const CountersChange change = change_of(delta, of, {});
        counted[at] = counted[at] + change;
        if (const auto owners = by_owner_.find(at); owners != by_owner_.end()) {
          for (const OwnerKey& owner : {file.owner.user(), file.owner.group()}) {
            owners->second[owner] = owners->second[owner] + change;
          }
        }
        const auto dir = files_.find(at);
        const auto ended = ended_.find(at);
        at = dir != files_.end()     ? charged_above(dir->second)
             : ended != ended_.end() ? ended->second.surviving_parent
                                     : kNoFile;
      }
    }
    STOA_CHECK_OK(take_off_logged(counted));
    STOA_CHECK_OK(each(Family::kUsage, [&](std::string_view key, std::string_view value) -> Status {
      const FileId id = keys::id_of(key);
      const auto record = UsageRecord::decode(value);
      if (!record) {
        find(FindingKind::kUsageDamaged, id);
        return {};
      }
      if (const auto owner = keys::owner_of(key)) {
        compare_owner(id, {owner->of, owner->id}, *record);
        return {};
      }
      if (!has_account(id)) find(FindingKind::kUsageStray, id);
      if (ended_.contains(id) && (files_.contains(id) || is_zero(record->usage))) {
        find(FindingKind::kUsageEnded, id);
      }
      compare_balance(id, std::nullopt, *record, counted[id]);
      counted.erase(id);
      return {};
    }));
    for (const auto& [id, found] : counted) {
      if (!is_zero(found)) find_unrecorded(id, std::nullopt, found.all);
    }
    for (const auto& [dir, owners] : by_owner_) {
      for (const auto& [owner, found] : owners) {
        if (!is_zero(found)) find_unrecorded(dir, owner, found.all);
      }
    }
    return {};
  }

  // Charges in the usage log are missing in the records (core/usage/usage_log.h), except in those of directories that
  // are gone.
  Status take_off_logged(std::unordered_map<FileId, CountersChange>& counted) {
    UsageLog log;
    STOA_CHECK_OK(
        each_of(Family::kState, keys::kUsageLogPrefix, [&](std::string_view, std::string_view value) -> Status {
          if (const Status read = log.add(value); !read) find(FindingKind::kUsageLogDamaged);
          return {};
        }));
    for (const auto& [payee, delta] : log.charges()) {
      UsageClass of = payee.of;
      for (FileId at = payee.dir; at != kNoFile;) {
        const auto dir = files_.find(at);
        const auto gone = log.gone().find(at);
        const auto ended = ended_.find(at);
        if (dir == files_.end()) {
          if (gone != log.gone().end() && gone->second.child_class != UsageClass::kLive) of = gone->second.child_class;
          at = gone != log.gone().end() ? gone->second.parent
               : ended != ended_.end()  ? ended->second.surviving_parent
                                        : kNoFile;
          continue;
        }
        if (is_bin(at)) of = UsageClass::kRecycled;
        if (is_upload(at)) of = UsageClass::kMultipart;
        const CountersChange change = change_of(delta, of, {});
        counted[at] = counted[at] + -change;
        if (const auto owners = by_owner_.find(at); owners != by_owner_.end()) {
          for (const OwnerKey& owner : {payee.owner.user(), payee.owner.group()})
            owners->second[owner] = owners->second[owner] + -change;
        }
        at = charged_above(dir->second);
      }
    }
    return {};
  }
  void compare_balance(FileId dir, const std::optional<OwnerKey>& owner, const UsageRecord& have,
                       const CountersChange& found) {
    const auto compare = [&](std::string_view of_class, const Usage& recorded, const Usage& counted) {
      if (recorded == counted) return;
      find(FindingKind::kUsageDiffers, dir, user_of(owner), group_of(owner), of_class, digits(recorded.bytes),
           recorded.files, recorded.directories, digits(counted.bytes), counted.files, counted.directories);
    };
    compare("", have.usage, found.all);
    constexpr std::array<std::string_view, kClassesButLive.size()> kClassWords{"recycled", "orphans", "multipart"};
    for (std::size_t i = 0; i < kClassWords.size(); ++i) {
      compare(kClassWords[i], have.by_class.amounts[i], found.by_class.amounts[i]);
    }
  }
  void find_unrecorded(FileId dir, const std::optional<OwnerKey>& owner, const Usage& counted) {
    find(FindingKind::kUsageUnrecorded, dir, user_of(owner), group_of(owner), digits(counted.bytes), counted.files,
         counted.directories);
  }
  void compare_owner(FileId dir, const OwnerKey& owner, const UsageRecord& have) {
    const auto owners = by_owner_.find(dir);
    if (being_counted_.contains(dir)) {
      if (!is_zero(have.usage) || have.by_class != UsageByClass{})
        find(FindingKind::kUsageEarly, dir, user_of(owner), group_of(owner));
      return;
    }
    if (owners == by_owner_.end()) {
      find(FindingKind::kUsageUncounted, dir, user_of(owner), group_of(owner));
      return;
    }
    compare_balance(dir, owner, have, owners->second[owner]);
    owners->second.erase(owner);
  }
  static std::string user_of(const std::optional<OwnerKey>& owner) {
    return owner && owner->of == QuotaOf::kUser ? fact(owner->id) : std::string();
  }
  static std::string group_of(const std::optional<OwnerKey>& owner) {
    return owner && owner->of != QuotaOf::kUser ? fact(owner->id) : std::string();
  }
  static std::string digits(ByteCount n) {
    std::string text;
    const bool negative = n < 0;
    for (; n != 0 || text.empty(); n /= 10)
      text.insert(0, 1, static_cast<char>('0' + std::abs(static_cast<int>(n % 10))));
    return negative ? "-" + text : text;
  }

  Status compare_blobs() {
    std::unordered_map<BlobId, bool> known;
    STOA_CHECK_OK(each(Family::kBlob, [&](std::string_view key, std::string_view value) -> Status {
      const BlobId blob{keys::read_be64(key)};
      const auto record = BlobRecord::decode(value);
      // Until it is collected, garbage may have a count of zero.
      const bool in_use = !record || record->references != 0;
      if (in_use) ++report_.blobs;
      known[blob] = in_use;
      const auto expected = expected_references_.find(blob);
      const std::int64_t count = expected == expected_references_.end() ? 0 : expected->second;
      if (damage_.whole({Family::kInode}) && (!record || record->references != count))
        find(FindingKind::kBlobReferences, blob, count);
      if (expected != expected_references_.end()) expected_references_.erase(expected);
      return {};
    }));
    for (const auto& [blob, count] : expected_references_) {
      if (damage_.unreadable(Family::kBlob, keys::be64(static_cast<std::uint64_t>(blob)))) continue;
      find(FindingKind::kBlobUnrecorded, blob);
    }
    STOA_CHECK_OK(each(Family::kGc, [&](std::string_view key, std::string_view) -> Status {
      // It also has blobs that one file ended to use, and others still do.
      known.try_emplace(BlobId{keys::read_be64(key)}, false);
      return {};
    }));
    // Compares the store's blobs: each must be named, and each named blob must exist. The store is of now, the names
    // are of the snapshot, so a difference is checked again.
    std::vector<BlobId> unnamed;
    volume_.blobs.for_each([&](BlobId blob) {
      if (known.erase(blob) == 0) unnamed.push_back(blob);
    });
    for (const BlobId blob : unnamed) {
      STOA_TRY(lost, is_lost(blob));
      if (lost) find(FindingKind::kBlobUnnamed, blob);
    }
    for (const auto& [blob, in_use] : known) {
      // A blob of the gc queue may have been freed just before a crash.
      if (!in_use) continue;
      STOA_TRY(missing, is_missing(blob));
      if (missing) find(FindingKind::kBlobMissing, blob);
    }
    return {};
  }

  // Whether the store has the blob, and it will never be freed. As long as no blob is reserved, the life of each goes
  // one way: tracked until its commit, named, tracked again while it is freed, gone. So a blob that is in none of these
  // states, checked in this order, and still there at the end, is lost.
  Result<bool> is_lost(BlobId blob) {
    if (volume_.in_flight.tracked(blob)) return false;
    const std::lock_guard allocation_lock(volume_.in_flight.allocation_lock);
    if (volume_.in_flight.tracked(blob)) return false;
    const auto snapshot = volume_.kv.snapshot();
    for (const Family family : {Family::kBlob, Family::kGc}) {
      const auto named = has_record(*snapshot, family, blob);
      if (!named || *named) return false;  // an unreadable record may name it
    }
    if (volume_.in_flight.tracked(blob)) return false;
    return volume_.blobs.holds(blob);
  }

  // Whether files use the blob, and the store does not hold it.
  Result<bool> is_missing(BlobId blob) {
    const std::lock_guard allocation_lock(volume_.in_flight.allocation_lock);
    if (volume_.blobs.holds(blob)) return false;
    std::string value;
    const auto found = volume_.kv.get(Family::kBlob, keys::be64(static_cast<std::uint64_t>(blob)), &value);
    if (!found || !*found) return false;
    const auto record = BlobRecord::decode(value);
    return record && record->references != 0;
  }

  static Result<bool> has_record(KvReader& kv, Family family, BlobId blob) {
    std::string value;
    return kv.get(family, keys::be64(static_cast<std::uint64_t>(blob)), &value);
  }

  Status find_strays(Family family) {
    return each(family, [&](std::string_view key, std::string_view value) -> Status {
      const FileId id = keys::id_of(key);
      const auto file = files_.find(id);
      if (file == files_.end() && damage_.unreadable(Family::kInode, keys::id_key(id))) return {};
      if (file != files_.end() && family == Family::kXattr)
        file->second.found_attribute_bytes += attribute_bytes(keys::after_id(key), value);
      if (file == files_.end()) {
        find(family == Family::kInline ? FindingKind::kInlineStray : FindingKind::kXattrStray, id);
      } else if (family == Family::kInline && !file->second.is_inline) {
        find(FindingKind::kInlineUnused, id);
      } else if (family == Family::kXattr && keys::after_id(key) == keys::kAclXattr && !with_acl_.contains(id)) {
        find(FindingKind::kAclUnused, id);
      }
      return {};
    });
  }

  void compare_attribute_bytes() {
    if (!damage_.whole({Family::kXattr, Family::kInode})) return;
    for (const auto& [id, file] : files_) {
      if (file.attribute_bytes == file.found_attribute_bytes) continue;
      find(FindingKind::kAttributeBytes, id, file.attribute_bytes, file.found_attribute_bytes);
    }
  }

  VolumeContext& volume_;  // the present state
  KvReader& kv_;           // the snapshot that is checked
  static constexpr std::uint64_t kRecordsBetweenReports = 50'000;
  const CheckOptions& options_;
  std::uint64_t records_ = 0;
  CheckReport report_;
  DamageMap damage_;
  std::map<FileId, File> files_;
  struct Ended {
    FileId surviving_parent;  // the parent that it had
    bool upload;
  };
  std::unordered_map<FileId, Ended> ended_;
  std::map<FileId, std::map<OwnerKey, CountersChange>> by_owner_;  // of directories that count owners: as found
  std::set<FileId> being_counted_;                                 // directories that will count owners
  std::set<FileId> orphans_;
  std::map<FileId, FileId> recycle_roots_;
  std::set<FileId> with_acl_;
  std::unordered_map<BlobId, std::int64_t> expected_references_;
  std::uint64_t entries_ = 0;
  std::uint64_t folds_ = 0;  // names that have a record in family fold
};

}  // namespace

Result<CheckReport> check_volume(VolumeContext& volume, const CheckOptions& options) {
  // One snapshot of all families: every transaction is in it whole or not at all, so compared records belong together
  // although the volume goes on changing.
  const auto snapshot = volume.kv.snapshot();
  return Checker(volume, *snapshot, options).run();
}

}  // namespace stoa::core
