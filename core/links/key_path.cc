#include "core/links/key_path.h"

#include "base/assert.h"
#include "core/access/access.h"
#include "core/links/new_inode.h"
#include "core/links/remove_directory.h"
#include "core/txn/in_bin.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

Result<EntryRecord> find_directory(const VolumeView& volume, const OpContext& ctx, const NodeRef& dir,
                                   std::string_view raw) {
  STOA_TRY(lock, share_by(dir->lock, ctx.deadline));
  STOA_CHECK_OK(require_directory(*dir));
  STOA_CHECK_OK(require(ctx, dir->record, kRightSearch));
  return find_form(volume, *dir, raw, true);
}

// One implied directory; an existing one is as good. The result is its id.
Result<FileId> make_one(VolumeContext& volume, const OpContext& ctx, const NodeRef& dir, std::string_view raw,
                        const std::optional<MultipartOf>& multipart, bool* made) {
  NodeRef counts_in;
  if (multipart) {
    STOA_TRY(node, volume.nodes.get(multipart->dir));
    counts_in = std::move(node);
  }
  // The object that needs the directory is synced later than it, so the directory needs no sync of its own.
  const OpContext applied = ctx.applied();
  return run_mutation(volume, applied, [&](CommitTicket&) -> Result<FileId> {
    STOA_TRY(locks, NodeLocks::take(ctx, {dir, counts_in}));
    STOA_CHECK_OK(require_directory(*dir));
    STOA_TRY(present, find_form(volume, *dir, raw, true));
    if (present.exists()) return present.id;
    if (names_bin(*dir, raw)) return fail(Cause::kBinName);
    STOA_CHECK_OK(require_changeable(volume, *dir));
    STOA_CHECK_OK(require(ctx, dir->record, kRightAddSubdirectory | kRightSearch));
    MetaTxn txn(volume, ctx);
    NewInode wanted{.type = FileType::kDirectory, .default_mode = 0755};
    if (multipart) {
      STOA_CHECK_OK(require_directory(*counts_in));
      STOA_CHECK_OK(require_changeable(volume, *counts_in));
      wanted.set.uid = multipart->uid;
      wanted.set.gid = multipart->gid;
    }
    STOA_TRY(inode, make_inode(volume, ctx, txn, dir->record, wanted));
    inode.flags |= kImplicit;
    if (multipart) inode.charged_to = multipart->dir;
    const FileId id = inode.id;
    Inode dir_next = dir->record;
    STOA_CHECK_OK(add_file(txn, dir, dir_next, raw, std::move(inode), multipart ? counts_in->account : nullptr));
    STOA_CHECK_OK(txn.commit());
    *made = true;
    return id;
  });
}

Status remove_implicit(VolumeContext& volume, const OpContext& ctx, const NodeRef& parent, std::string_view raw) {
  STOA_TRY(entry, find_directory(volume, ctx, parent, raw));
  if (!entry.exists()) return fail(Errc::kNotFound);
  STOA_TRY(victim, node_of(volume, ctx, parent, raw, entry));
  const OpContext applied = ctx.applied();
  const auto removed = run_mutation(volume, applied, [&](CommitTicket&) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {parent, victim}));
    STOA_CHECK_OK(require_directory(*parent));
    STOA_CHECK_OK(require_directory(*victim));
    STOA_CHECK_OK(require_changeable(volume, *parent));
    STOA_TRY(again, find_form(volume, *parent, raw, true));
    if (again.id != entry.id) return fail(Errc::kNotFound);
    if (!victim->record.has(kImplicit) || victim->record.entries != 0) return fail(Errc::kNotEmpty);
    MetaTxn txn(volume, ctx);
    Inode parent_next = parent->record;
    STOA_CHECK_OK(txn.remove_entry(parent, parent_next, raw, again));
    STOA_CHECK_OK(stage_remove_directory(volume, txn, victim));
    txn.put_inode(parent, std::move(parent_next));
    txn.note({.kind = ChangeKind::kRemove, .id = victim->id, .parent = parent->id, .name = raw});
    STOA_CHECK_OK(txn.commit());
    return true;
  });
  if (!removed) return fail(removed.error());
  return {};
}

}  // namespace

Result<KeyParts> split_key(std::string_view key) {
  if (key.empty()) return fail(Errc::kInvalid, "empty key");
  if (key.size() > kKeyBytesMax) return fail(Errc::kNameTooLong);
  KeyParts parts;
  for (;;) {
    const std::size_t slash = key.find('/');
    if (slash == std::string_view::npos) break;
    parts.directories.push_back(key.substr(0, slash));
    key.remove_prefix(slash + 1);
  }
  parts.last = key;
  return parts;
}

std::string KeyParts::below() const {
  std::string path;
  for (const std::string_view directory : directories) path.append(directory) += '/';
  return path;
}

Result<NodeRef> walk_directories(const VolumeView& volume, const OpContext& ctx, FileId root,
                                 std::span<const std::string_view> parts) {
  STOA_TRY(dir, volume.nodes.get(root));
  for (const std::string_view raw : parts) {
    STOA_TRY(entry, find_directory(volume, ctx, dir, raw));
    if (!entry.exists()) return fail(Errc::kNotFound);
    auto next = node_of(volume, ctx, dir, raw, entry);
    if (!next) return fail(next.error().code == Errc::kStale ? Errc::kNotFound : next.error().code);
    dir = std::move(*next);
  }
  return dir;
}

Result<NodeRef> make_directories(VolumeContext& volume, const OpContext& ctx, FileId root,
                                 std::span<const std::string_view> parts, std::size_t* kept,
                                 const std::optional<MultipartOf>& multipart) {
  STOA_ASSERT(*kept <= parts.size(), "directories that are kept are of the key");
  STOA_TRY(dir, volume.nodes.get(root));
  for (std::size_t depth = 0; depth < parts.size(); ++depth) {
    STOA_TRY(entry, find_directory(volume, ctx, dir, parts[depth]));
    if (entry.exists()) {
      STOA_TRY(next, node_of(volume, ctx, dir, parts[depth], entry));
      dir = std::move(next);
    } else {
      bool new_one = false;
      STOA_TRY(made, make_one(volume, ctx, dir, parts[depth], multipart, &new_one));
      if (new_one) *kept = std::min(*kept, depth);
      STOA_TRY(next, volume.nodes.get(made));
      dir = std::move(next);
    }
  }
  return dir;
}

void prune_directories(VolumeContext& volume, const OpContext& ctx, FileId root,
                       std::span<const std::string_view> parts, std::size_t kept) {
  for (std::size_t depth = parts.size(); depth > kept; --depth) {
    const auto parent = walk_directories(volume, ctx, root, parts.first(depth - 1));
    // A part that was never made (the quota was hit before) is no reason to leave those above it.
    const Status removed = parent ? remove_implicit(volume, ctx, *parent, parts[depth - 1]) : fail(parent.error());
    if (!removed && removed.error().code != Errc::kNotFound) return;
  }
}

}  // namespace stoa::core
