// The open files and directories of a mount, by the handles that the kernel has of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "core/api/credentials.h"
#include "frontends/native/fuse/file_system.h"
#include "frontends/native/mount/directory_stream.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native::mount {

// Calls through an open file are made for the user who opened it: later changes of the process, or of permissions, do
// not matter.
struct OpenEntry {
  core::FileId id = core::kNoFile;
  OpenNumber open = 0;
  core::Credentials cred;
  std::unique_ptr<DirectoryStream> stream{};  // of a directory
};

// Thread-safe. As large as the number of open files.
class OpenTable {
 public:
  fuse::Handle add(OpenEntry entry);
  // Null: there is none. What was found stays valid while it is held.
  std::shared_ptr<OpenEntry> find(fuse::Handle handle) const;
  // Takes it out.
  std::shared_ptr<OpenEntry> remove(fuse::Handle handle);
  // All of them, and the newest handle that was ever given; for another process, which gives the same.
  struct Kept {
    std::uint64_t handle = 0;
    core::FileId file = core::kNoFile;
    OpenNumber open = 0;
    core::Credentials cred{};
    bool directory = false;
  };
  std::vector<Kept> all(std::uint64_t& last) const;
  void restore(const std::vector<Kept>& all, std::uint64_t last);

 private:
  mutable std::shared_mutex mutex_;  // guards all below
  std::unordered_map<std::uint64_t, std::shared_ptr<OpenEntry>> entries_;
  std::uint64_t last_ = 0;
};

}  // namespace stoa::native::mount
