// A walk of the keys below a root in byte order. Entries are stored so that the order of one directory is the order of
// its keys; the walker strings the directories together. It sees the tree as of its creation and holds no locks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/txn/volume_context.h"

namespace stoa::core {

class KeyWalker {
 public:
  // Follows only directories that the caller may list and search. kAccess: not even the root.
  static Result<std::unique_ptr<KeyWalker>> open(const VolumeView& volume, const OpContext& ctx, FileId root);

  // Moves to the first entry whose key is >= `key`. A directory's key ends in '/'.
  Status seek(std::string_view key);
  // The position of the scan. At a directory, the caller enters it or steps over it.
  bool valid() const { return valid_; }
  const std::string& key() const { return key_; }
  const EntryRecord& entry() const { return entry_; }
  bool at_directory() const { return entry_.type == FileType::kDirectory; }
  Status step_over();
  Status enter();  // Whether the current directory has no entries at all. (Its usage would not tell whether keys are
                   // below: a file with
  // several names is counted at one of them only.)
  Result<bool> is_empty();

 private:
  KeyWalker(const VolumeView& volume, const OpContext& ctx)
      : volume_(volume), ctx_(ctx), it_(volume.kv.scan(Family::kEntry, {}, {})) {}
  struct Frame {
    FileId dir;
    std::string prefix;       // of all keys in it
    std::string stored_name;  // of this directory in the frame below; empty for the root
  };
  Status resolve_here();
  Result<bool> may_list(FileId dir);

  const VolumeView& volume_;
  const OpContext& ctx_;
  std::unique_ptr<KvIterator> it_;
  std::vector<Frame> frames_;
  bool valid_ = false;
  std::string key_;
  EntryRecord entry_;
};

}  // namespace stoa::core
