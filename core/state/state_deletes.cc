// Files that are deleted by their last close: delete pending, delete on close.
#include "base/assert.h"
#include "base/log.h"
#include "core/state/state_table.h"

namespace stoa::core {

Status VolumeState::set_delete(OpenId open, DeleteWhen when) {
  Shard& shard = shard_of(open);
  const Status set = [&]() -> Status {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.opens.find(open);
    if (found == shard.opens.end()) return fail(Errc::kInvalid, "no such open");
    Open& mine = found->second;
    if ((mine.modes & kOpenDeletes) == 0) return fail(Errc::kAccess, "not opened for deleting");
    if (mine.name == nullptr) return fail(Errc::kInvalid, "opened by no name");
    FileState& file = shard.files.at(mine.file);
    STOA_ASSERT(!file.shares.empty(), "a file that is open has opens");
    if (when == DeleteWhen::kPending) {
      STOA_CHECK_OK(ask_leases(shard, mine.file, file, mine.owner, kTakesName));
      file.doomed = mine.name;
      return {};
    }
    mine.delete_on_close = when == DeleteWhen::kAtClose;
    if (when == DeleteWhen::kNever) file.doomed.reset();
    return {};
  }();
  send_recalls();
  return set;
}

bool VolumeState::delete_pending(FileId id) const {
  const Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  return found != shard.files.end() && found->second.doomed != nullptr;
}

void VolumeState::delete_doomed(FileId id) {
  Shard& shard = shard_of(id);
  for (;;) {
    std::shared_ptr<const OpenedName> name;
    {
      const std::lock_guard lock(shard.mutex);
      const auto found = shard.files.find(id);
      // It cannot be opened while it is doomed, but another thread may have come first.
      if (found == shard.files.end() || found->second.doomed == nullptr || !found->second.shares.empty()) return;
      name = found->second.doomed;
    }
    const Status gone = files_.delete_name(id, *name);
    if (!gone && gone.error().code == Errc::kRecallPending) {
      {
        const std::lock_guard lock(undeleted_mutex_);
        if (!undeleted_.insert(id).second) return;  // retry_waits() comes again
      }
      const auto waits = when_clear(FileId{gone.error().subject}, [this, id] { delete_doomed(id); });
      if (!waits || *waits) return;  // retry_waits() finds removals that no event wakes
      continue;
    }
    if (!gone && gone.error().code != Errc::kNotFound) {
      log_warning("state", "a file that was to be deleted by its last close stays",
                  {{"file", static_cast<std::uint64_t>(id)}, {"error", describe(gone.error())}});
    }
    {
      const std::lock_guard lock(undeleted_mutex_);
      undeleted_.erase(id);
    }
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.files.find(id);
    if (found == shard.files.end()) return;
    found->second.doomed.reset();
    forget_if_empty(shard, id);
    return;
  }
}

}  // namespace stoa::core
