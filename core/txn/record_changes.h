// Changes of stored records, one function for each kind of record. Only here do operations name a family and a key, so
// a reader of every change of a kind (a snapshot, a shard's log) hooks in at one place. Keys and values:
// core/kv/keys.h.
#pragma once

#include <string_view>
#include <utility>

#include "core/inode/entry.h"
#include "core/inode/inode.h"
#include "core/inode/trash_record.h"
#include "core/kv/kv_store.h"

namespace stoa::core {

class RecordChanges {
 public:
  void put_inode(const Inode& inode);
  void remove_inode(FileId id);
  // Writes a name of a directory to all its indexes: by name, by cookie, from the file back to its names, and by
  // folded name if that differs.
  void put_entry(FileId dir, std::string_view raw, const EntryRecord& record);
  void remove_entry(FileId dir, std::string_view raw, const EntryRecord& record);
  // Updates an entry that stays (its flags): by name and by cookie.
  void change_entry(FileId dir, std::string_view raw, const EntryRecord& record);

  void put_inline(FileId id, std::string_view value);
  void remove_inline(FileId id);
  void put_xattr(FileId id, std::string_view name,
                 std::string_view value);  // private ones, too: keys::kAclXattr, kMetaXattr
  void remove_xattr(FileId id, std::string_view name);

  // The file is written in place, and has no checksums for that reason (core/data/open_files.h).
  void mark_dirty(FileId id);
  void remove_open_mark(FileId id);
  // The file lost its last name, and stays until it is closed.
  void mark_orphan(FileId id);
  void remove_orphan_mark(FileId id);

  void put_bin(FileId recycle_root, const RecycleRootRecord& record);
  void remove_bin(FileId recycle_root);
  void put_item(FileId bin, std::uint64_t serial, const ItemRecord& record);
  void remove_item(FileId bin, std::uint64_t serial);

  // Directories that have a quota, and those whose owners are being counted: a start finds them without a full scan.
  void mark_quota(FileId dir, bool has);
  void mark_counting(FileId dir, bool counting);
  // Directories that are sealed.
  void mark_sealed(FileId dir, bool sealed);

  void put_sum_row(BlobId blob, std::uint64_t row, std::string_view value);
  void remove_sum_row(BlobId blob, std::uint64_t row);
  // Adds to the gc queue a blob that no file stops using in the same change; and sets the count of a blob that no file
  // uses.
  void mark_garbage(BlobId blob);
  void remove_garbage(BlobId blob);
  void remove_blob(BlobId blob);

  bool empty() const { return batch_.empty(); }
  const WriteBatch& batch() const { return batch_; }
  WriteBatch take() { return std::move(batch_); }

 private:
  WriteBatch batch_;
};

}  // namespace stoa::core
