#include <map>

#include "base/debug_assert.h"
#include "core/access/access.h"
#include "core/data/part.h"
#include "core/kv/keys.h"
#include "core/links/drop_link.h"
#include "core/links/remove_directory.h"
#include "core/namespace/put_object.h"
#include "core/txn/operations.h"

namespace stoa::core {
namespace {

// Removes every file of `dir` and `dir` itself, within one transaction. `dir` and its parent are locked. The files in
// it are reached through it only (they belong to one multipart upload), so their locks can follow its own without a
// deadlock.
// kStale: a part has changed since its content was joined.
Status stage_consume(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn, const NodeRef& dir,
                     const NodeRef& parent, const std::map<FileId, std::uint64_t>& versions) {
  STOA_CHECK_OK(require_directory(*dir));
  const std::string lower = keys::id_key(dir->id);
  Inode emptied = dir->record;
  std::size_t joined = 0;
  const auto it = volume.kv.scan(Family::kEntry, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) {
    STOA_TRY(entry, EntryRecord::decode(it->value()));
    if (entry.type == FileType::kDirectory) return fail(Errc::kInvalid, "a directory among the parts");
    STOA_TRY(node, volume.nodes.get(entry.id));
    STOA_TRY(lock, lock_by(node->lock, ctx.deadline));
    txn.keep_locked(node, std::move(lock));
    const auto part = versions.find(node->id);
    if (part != versions.end() && part->second != node->record.data_version)
      return fail(Errc::kStale, "a part changed");
    joined += part != versions.end() ? 1 : 0;
    // It would live on, and write to bytes that are now another file's.
    if (volume.state.is_open(node->id)) return fail(Errc::kBusy, "a part is open");
    const std::string_view raw = keys::after_id(it->key());
    STOA_CHECK_OK(txn.remove_entry(dir, emptied, raw, entry));
    if (node->record.links > 1) {
      STOA_CHECK_OK(drop_link(volume, txn, node, dir->id, raw));
    } else {
      STOA_CHECK_OK(drop_file(volume, txn, node));
    }
  }
  STOA_CHECK_OK(it->status());

  if (joined != versions.size()) return fail(Errc::kStale, "a part is gone");
  STOA_DEBUG_ASSERT(emptied.entries == 0, "a directory that goes has no names");

  const std::string link_prefix = keys::link_key(dir->id, parent->id, "");
  const auto link = volume.kv.scan(Family::kLink, link_prefix, keys::behind_prefix(link_prefix));
  STOA_CHECK_OK(link->status());
  if (!link->valid()) return fail(Errc::kCorrupt, "the upload has no name");
  std::string_view raw = link->key().substr(link_prefix.size());
  raw.remove_suffix(1);
  STOA_TRY(entry, find_form(volume, *parent, raw, true));
  Inode parent_next = parent->record;
  STOA_CHECK_OK(txn.remove_entry(parent, parent_next, raw, entry));
  STOA_CHECK_OK(txn.delete_inode(dir));
  txn.release(dir->charge_target_of_directory(), usage_of(dir->record));
  txn.put_inode(parent, std::move(parent_next));
  return {};
}

}  // namespace

Result<PutKeyReply> concatenate(VolumeContext& volume, const OpContext& ctx, const ConcatenateRequest& req) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  if (req.parts.empty()) return fail(Errc::kInvalid, "no parts");
  if (req.parts.size() > kConcatenatePartsMax) return fail(Errc::kTooLarge);
  std::vector<Part> parts;  // held until the joined content is committed
  parts.reserve(req.parts.size());
  std::map<FileId, std::uint64_t> versions;
  const bool stay = req.consume_dir == kNoFile;
  for (const ConcatenatePart& wanted : req.parts) {
    if (!stay && (wanted.offset != 0 || wanted.length))
      return fail(Errc::kInvalid, "a piece of a part that is consumed");
    STOA_TRY(node, volume.nodes.get(wanted.id));
    STOA_TRY(part, take_part(volume, ctx, node, wanted, stay));
    versions[wanted.id] = part.data_version;
    parts.push_back(std::move(part));
  }
  STOA_TRY(content, content_of_parts(volume, parts));
  PutObject put{.root = req.root, .key = req.key, .meta = req.meta, .mode = req.mode, .expect = req.expect};
  NodeRef consumed;
  NodeRef consumed_parent;
  if (req.consume_dir != kNoFile) {
    STOA_TRY(node, volume.nodes.get(req.consume_dir));
    consumed = node;
    STOA_TRY(attr, getattr(volume, ctx, {.id = req.consume_dir}));
    if (attr.attr.type != FileType::kDirectory) return fail(Errc::kNotDirectory);
    FileId parent = kNoFile;
    {
      STOA_TRY(lock, share_by(node->lock, ctx.deadline));
      parent = node->record.parent;
    }
    STOA_TRY(parent_node, volume.nodes.get(parent));
    consumed_parent = parent_node;
    put.also_locked = {consumed, consumed_parent};
    put.stage_more = [&](MetaTxn& txn) { return stage_consume(volume, ctx, txn, consumed, consumed_parent, versions); };
  }
  auto reply = put_object(volume, ctx, put, content);
  if (!reply) discard_content(volume, content);
  return reply;
}

}  // namespace stoa::core
