// The entries of a listing as the kernel may keep them: what a lease covers, as it is now.
#pragma once

#include "frontends/native/fuse/file_system.h"
#include "frontends/native/mount/kernel_times.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native::mount {

// For one reply. A listing is fetched in larger pieces than one reply has, so an entry may be older than what is known
// of its file by now. All it is made with outlives it.
class ListedEntries : public fuse::EntrySink {
 public:
  ListedEntries(const KernelTimes& times, Storage& storage, const fuse::Call& call, const Asker& asker,
                core::FileId directory, fuse::EntrySink& to)
      : times_(times), storage_(storage), call_(call), asker_(asker), directory_(directory), to_(to) {}

  bool add(const core::DirectoryEntry& entry, const fuse::Validity& none) override;

 private:
  const KernelTimes& times_;
  Storage& storage_;
  const fuse::Call& call_;
  const Asker& asker_;
  const core::FileId directory_;
  fuse::EntrySink& to_;
  bool begun_ = false;
  bool keeps_names_ = false;
  std::function<KnownEntry(std::string_view, core::FileId)> known_{};
};

}  // namespace stoa::native::mount
