// One metadata transaction: gathers changes, then commits them together. Dropped uncommitted, it leaves no trace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "core/journal/note.h"
#include "core/txn/record_changes.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// Whether a change of a file can be seen through a protocol. Visible changes break the leases of others.
enum class Visible : bool { kNo, kYes };

class MetaTxn {
 public:
  MetaTxn(VolumeContext& volume, const OpContext& ctx) : volume_(volume), ctx_(ctx), now_(volume.time.wall()) {}
  ~MetaTxn();
  MetaTxn(const MetaTxn&) = delete;
  MetaTxn& operator=(const MetaTxn&) = delete;

  // Changes that no step below stages: marks, content and attributes.
  RecordChanges& records() { return records_; }
  Timestamp now() const { return now_; }

  // Nodes given to these are locked exclusively by the caller until after commit().
  // The new record of a node and its ACL, in the store and, after commit, in memory. Lazy changes of the node go along.
  void put_inode(const NodeRef& node, Inode next, Visible visible = Visible::kYes);
  // A new file: its node is made with the commit. Returns it, so that later steps can name it.
  NodeRef new_inode(Inode record, Chains chains);
  // The directory charged for the file from this commit on; null: none.
  void set_chains(const NodeRef& node, Chains chains);
  // The file is gone: record, extended attributes, usage. Content is core/data/content.h's.
  Status delete_inode(const NodeRef& node, Visible visible = Visible::kYes);

  // A name. `dir_next` is the caller's new record of the directory: gets its cookie, entry count and times. `cookie`:
  // that of the entry replaced, so that a listing in progress meets the name once; 0: a new one.
  Status insert_entry(const NodeRef& dir, Inode& dir_next, std::string_view raw, FileId id, FileType type,
                      std::uint64_t cookie = 0);
  // The same for a name that the directory has in neither form, which is not looked up.
  void insert_unique_entry(const NodeRef& dir, Inode& dir_next, std::string_view raw, FileId id, FileType type,
                           std::uint64_t cookie = 0);
  Status remove_entry(const NodeRef& dir, Inode& dir_next, std::string_view raw, const EntryRecord& record);

  // Usage. kQuota leaves no trace. release never fails. The freed usage is available to this transaction at once, to
  // others with the commit.
  Status reserve(const ChargeTarget& target, const Usage& delta);
  void release(const ChargeTarget& target, const Usage& delta);
  // Moves the charge of a locked file, and the reservations of its writes in progress, to another target; `usage`: of
  // its new record. The caller makes that charge target the file's own with the same commit.
  Status move_charge(const NodeRef& node, const ChargeTarget& to, const Usage& usage);
  // Ends the charge: the file is gone.
  void end_charge(const NodeRef& node, const Usage& usage);
  // Changes the charge of data stored beside the content of a file or directory: `next` is its new record.
  Status change_attribute_bytes(const NodeRef& node, Inode& next, std::uint64_t from, std::uint64_t to);
  // Between the two, the charges of files and directories that move leave where they are, and arrive together at the
  // end: two that change places need no more room than they have. kQuota, kNoSpace: they do not fit.
  void begin_exchange() { exchanging_ = true; }
  Status end_exchange();
  // The charge of a directory itself, of its new record, goes to its new owner.
  Status move_owner(const NodeRef& dir, const Owner& to, const Usage& itself);
  // A directory and all below it changes parents, with the commit; needs the exclusive tree lock. kCrossDevice: its
  // files belong to users and groups that are counted on one side only, and the amounts of each are unknown. `itself`:
  // the directory's own usage (a recycle bin: nothing). kInvalid: the directory of a multipart upload, or into or out
  // of one.
  // A recycle bin keeps its place, and counts in `parent` from then on.
  Status move_directory(const NodeRef& dir, const NodeRef& parent, const Usage& itself);
  // The same with the tree lock shared, for a locked directory without entries and without a bin, whose account is zero
  // and has no limits. It gets a new account, below another parent. Queued changes of the old account still go up its
  // old chain.
  Status move_bare_directory(const NodeRef& dir, const NodeRef& to);
  // A directory that is made in another one, or moves there without limits of its own, gets those that the other one
  // has for its children. kQuota: it is beyond them already.
  Status give_child_limits(const AccountRef& child, const AccountRef& parent);
  // New limits of a directory: stored with the commit, and true from then on for the locked directory. If they exclude
  // other classes, it needs the exclusive tree lock, or a directory that is new.
  void change_account(AccountChange change);
  // Charges that were reserved before and become part of this commit.
  void commit_pending(const ChargeTarget& target, const Usage& delta) { charges_.push_back({target, delta}); }

  // The file that this transaction writes begins (+1) or ends (-1) to use a blob.
  void reference(BlobId blob, std::int32_t delta) { references_.push_back({blob, delta}); }

  // With the commit, uncommitted content of the locked file becomes garbage.
  void forget_writing(const NodeRef& node) { forgotten_.push_back(node); }

  // `by`: the user recorded, if not the caller (a flush of others' writes); must live until the commit returns.
  void note(const JournalNote& note) { this->note(note, ctx_); }
  void note(const JournalNote& note, const OpContext& by) { notes_.push_back({note, &by}); }
  // A change of a locked file itself: the record has one of its names.
  Status note_change(const NodeRef& node, JournalNote note) { return note_change(node, std::move(note), ctx_); }
  Status note_change(const NodeRef& node, JournalNote note, const OpContext& by);

  // Holds `lock` until the transaction ends. It must not live longer: rollback takes the tree lock, which precedes node
  // locks.
  void keep_locked(NodeRef node, std::unique_lock<RwLock> lock) {
    STOA_ASSERT(lock.owns_lock(), "what is kept locked is locked");
    locks_.emplace_back(std::move(node), std::move(lock));
  }

  // Applies everything and publishes it to the caches. The nodes are still locked on return. kRecallPending: another
  // holder has a lease on one of the files. kNoSpace: the disk is full (metadata_room.h). Nothing was changed.
  Result<CommitTicket> commit();

 private:
  struct Publication {
    NodeRef node;
    Inode next;
    bool remove = false;
    Visible visible = Visible::kYes;
  };
  struct EntryChange {
    std::string key;
    EntryRecord record;
    FileId gone = kNoFile;  // the file that had this name
  };
  Status break_leases();
  std::vector<std::string> journal() const;
  Status reserve_move(const ChargeTarget& from, const ChargeTarget& to, const Usage& reserved);
  Status move(const ChargeTarget& from, const ChargeTarget& to, const Usage& usage, const Usage& uncommitted);
  Status move_below(const ChargeTarget& from, const AccountRef& to, const Usage& reserved, const Usage& committed);
  void put_acl(Inode& next);
  void put_entry(FileId dir, Inode& dir_next, std::string_view raw, const EntryRecord& record);
  void publish_entry(FileId dir, std::string_view raw, bool directory, const EntryRecord& record,
                     FileId gone = kNoFile);
  void publish_name(Node& node) const;

  VolumeContext& volume_;
  const OpContext& ctx_;
  const Timestamp now_;
  RecordChanges records_;
  std::vector<Charge> charges_;
  std::vector<BlobReference> references_;
  std::vector<AccountChange> account_changes_;
  Reservations reservations_;
  std::vector<Charge> arrivals_;  // of an exchange
  std::vector<std::pair<JournalNote, const OpContext*>> notes_;
  std::vector<Publication> publications_;
  std::vector<EntryChange> entry_changes_;
  std::vector<FileId> renamed_;                     // lost a name
  std::vector<std::pair<FileId, FileType>> named_;  // got or lost a name
  std::vector<NodeRef> created_;
  std::vector<NodeRef> forgotten_;
  std::vector<std::pair<NodeRef, Chains>> chains_;
  std::vector<std::pair<NodeRef, NodeRef>> moves_;  // of directories, to their new parents
  std::vector<std::pair<NodeRef, std::unique_lock<RwLock>>> locks_;
  std::int64_t name_bytes_ = 0;  // growth by names that clients choose
  bool has_acls_ = false;        // new ones, which take memory
  bool exchanging_ = false;
  bool checkpoints_ = false;  // directories get other ones above them
  bool committed_ = false;
};

}  // namespace stoa::core
