#include "core/txn/record_changes.h"

#include "core/inode/name_fold.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {

bool is_directory(const EntryRecord& record) {
  return record.type == FileType::kDirectory;
}

}  // namespace

void RecordChanges::put_inode(const Inode& inode) {
  batch_.put(Family::kInode, keys::id_key(inode.id), inode.encode());
}
void RecordChanges::remove_inode(FileId id) {
  batch_.remove(Family::kInode, keys::id_key(id));
}

void RecordChanges::put_entry(FileId dir, std::string_view raw, const EntryRecord& record) {
  change_entry(dir, raw, record);
  const std::string stored = keys::stored_name(raw, is_directory(record));
  batch_.put(Family::kLink, keys::link_key(record.id, dir, stored), {});
  if (!is_folded(raw)) batch_.put(Family::kFold, keys::fold_key(dir, fold_name(raw), stored), {});
}

void RecordChanges::remove_entry(FileId dir, std::string_view raw, const EntryRecord& record) {
  const std::string stored = keys::stored_name(raw, is_directory(record));
  batch_.remove(Family::kEntry, keys::id_name(dir, stored));
  batch_.remove(Family::kCookie, keys::cookie_key(dir, record.cookie));
  batch_.remove(Family::kLink, keys::link_key(record.id, dir, stored));
  if (!is_folded(raw)) batch_.remove(Family::kFold, keys::fold_key(dir, fold_name(raw), stored));
}

void RecordChanges::change_entry(FileId dir, std::string_view raw, const EntryRecord& record) {
  batch_.put(Family::kEntry, keys::id_name(dir, keys::stored_name(raw, is_directory(record))), record.encode());
  batch_.put(Family::kCookie, keys::cookie_key(dir, record.cookie),
             CookieRecord{record.id, record.type, record.flags, std::string(raw)}.encode());
}

void RecordChanges::put_inline(FileId id, std::string_view value) {
  batch_.put(Family::kInline, keys::id_key(id), value);
}
void RecordChanges::remove_inline(FileId id) {
  batch_.remove(Family::kInline, keys::id_key(id));
}

void RecordChanges::put_xattr(FileId id, std::string_view name, std::string_view value) {
  batch_.put(Family::kXattr, keys::id_name(id, name), value);
}
void RecordChanges::remove_xattr(FileId id, std::string_view name) {
  batch_.remove(Family::kXattr, keys::id_name(id, name));
}

void RecordChanges::mark_dirty(FileId id) {
  batch_.put(Family::kState, keys::open_key(id), {});
}
void RecordChanges::remove_open_mark(FileId id) {
  batch_.remove(Family::kState, keys::open_key(id));
}
void RecordChanges::mark_orphan(FileId id) {
  batch_.put(Family::kState, keys::orphan_key(id), {});
}
void RecordChanges::remove_orphan_mark(FileId id) {
  batch_.remove(Family::kState, keys::orphan_key(id));
}

void RecordChanges::put_bin(FileId recycle_root, const RecycleRootRecord& record) {
  batch_.put(Family::kTrash, keys::recycle_root_key(recycle_root), record.encode());
}
void RecordChanges::remove_bin(FileId recycle_root) {
  batch_.remove(Family::kTrash, keys::recycle_root_key(recycle_root));
}
void RecordChanges::put_item(FileId bin, std::uint64_t serial, const ItemRecord& record) {
  batch_.put(Family::kTrash, keys::item_key(bin, serial), record.encode());
}
void RecordChanges::remove_item(FileId bin, std::uint64_t serial) {
  batch_.remove(Family::kTrash, keys::item_key(bin, serial));
}

void RecordChanges::mark_quota(FileId dir, bool has) {
  if (has) {
    batch_.put(Family::kConfig, keys::quota_key(dir), {});
  } else {
    batch_.remove(Family::kConfig, keys::quota_key(dir));
  }
}

void RecordChanges::mark_sealed(FileId dir, bool sealed) {
  if (sealed) {
    batch_.put(Family::kConfig, keys::sealed_key(dir), {});
  } else {
    batch_.remove(Family::kConfig, keys::sealed_key(dir));
  }
}

void RecordChanges::mark_counting(FileId dir, bool counting) {
  if (counting) {
    batch_.put(Family::kConfig, keys::counting_key(dir), {});
  } else {
    batch_.remove(Family::kConfig, keys::counting_key(dir));
  }
}

void RecordChanges::put_sum_row(BlobId blob, std::uint64_t row, std::string_view value) {
  batch_.put(Family::kChecksum, keys::sum_row_key(blob, row), value);
}
void RecordChanges::remove_sum_row(BlobId blob, std::uint64_t row) {
  batch_.remove(Family::kChecksum, keys::sum_row_key(blob, row));
}
void RecordChanges::mark_garbage(BlobId blob) {
  batch_.put(Family::kGc, keys::be64(static_cast<std::uint64_t>(blob)), {});
}
void RecordChanges::remove_blob(BlobId blob) {
  batch_.remove(Family::kBlob, keys::be64(static_cast<std::uint64_t>(blob)));
}
void RecordChanges::remove_garbage(BlobId blob) {
  batch_.remove(Family::kGc, keys::be64(static_cast<std::uint64_t>(blob)));
}

}  // namespace stoa::core
