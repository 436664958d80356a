// The opens of the table: share reservations, and files that live on because they are open.
#include "base/assert.h"
#include "core/state/state_table.h"

namespace stoa::core {

namespace {

bool valid_share(std::uint32_t access, std::uint32_t deny) {
  return access <= kShareAll && deny <= kShareAll;
}

}  // namespace

Status VolumeState::may_open(Shard& shard, FileId id, FileState& file, const LeaseOwner& owner, Modes asked,
                             Modes others) {
  if ((others & conflicts_with(asked)) != 0) {
    // It may be open for no user any more.
    if (handle_caching_in_the_way(shard, id, file, owner, asked)) return recall_pending(id);
    return fail(Errc::kShareConflict);
  }
  return ask_leases(shard, id, file, owner, asked);
}

Result<OpenId> VolumeState::open_unmade(const OpenSpec& spec) {
  if (!valid_share(spec.access, spec.deny)) return fail(Errc::kInvalid, "access or deny of an open");
  const Modes modes = modes_of_open(spec.access, spec.deny);
  Shard& shard = shard_of(spec.file);
  const std::lock_guard lock(shard.mutex);
  if (!holders_.alive(spec.holder)) return fail(Errc::kInvalid, "no such holder");
  STOA_CHECK_OK(take_opens(spec.holder, 1));
  FileState& file = shard.files[spec.file];
  if (file.doomed) {
    (void)take_opens(spec.holder, -1);
    return fail(Errc::kShareConflict, "it is to be deleted");
  }
  const LeaseOwner owner{spec.holder, spec.lease_key};
  if (const Status may = may_open(shard, spec.file, file, owner, modes, file.shares.modes()); !may) {
    (void)take_opens(spec.holder, -1);
    forget_if_empty(shard, spec.file);
    return fail(may.error());
  }
  const OpenId id{new_id(shard, spec.file)};
  add_open(shard, id, {spec.file, owner, modes, spec.name});
  return id;
}

void VolumeState::add_open(Shard& shard, OpenId id, const Open& open) {
  shard.files[open.file].shares.add(open.owner, open.modes);
  count_denying(open.modes, +1);
  const bool added = shard.opens.emplace(id, open).second;
  STOA_ASSERT(added, "no number of an open is given twice");
  const bool held = shard.holdings[open.owner.holder].opens.insert(id).second;
  STOA_ASSERT(held, "an open is its holder's once");
  holders_.count(open.owner.holder, 1);
}

Result<OpenId> VolumeState::open(const OpenSpec& spec) {
  auto opened = [&]() -> Result<OpenId> {
    if (!valid_share(spec.access, spec.deny)) return fail(Errc::kInvalid, "access or deny of an open");
    const Modes modes = modes_of_open(spec.access, spec.deny);
    const DenyAnnounced announced(*this, modes);
    STOA_CHECK_OK(ask_files_leases(spec.file, spec.holder, modes));
    return open_unmade(spec);
  }();
  send_recalls();
  if (opened) STOA_CHECK_OK(look_at_opened(*opened, spec.file));
  return opened;
}

// The open is registered before the look at the file. An unlink asks keeps() with the file locked. If it asked before
// we registered, the look comes after its commit and finds the file gone; if later, it has kept the file.
Status VolumeState::look_at_opened(OpenId open, FileId id) {
  const auto orphan = files_.orphan(id);
  if (!orphan) {
    close(open);
    return fail(orphan.error());
  }
  if (*orphan) {
    // Kept by an earlier open, perhaps one of before a restart: the last of all closes deletes it.
    Shard& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    const auto it = shard.files.find(id);
    if (it != shard.files.end()) it->second.orphan = true;
  }
  return {};
}

Status VolumeState::change_open(OpenId open, std::uint32_t access, std::uint32_t deny) {
  if (!valid_share(access, deny)) return fail(Errc::kInvalid, "access or deny of an open");
  const Modes modes = modes_of_open(access, deny);
  Shard& shard = shard_of(open);
  const DenyAnnounced announced(*this, modes);
  const auto changed = [&]() -> Status {
    STOA_CHECK_OK(ask_files_leases(open, modes));
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.opens.find(open);
    if (found == shard.opens.end()) return fail(Errc::kInvalid, "no such open");
    Open& mine = found->second;
    FileState& file = shard.files.at(mine.file);
    file.shares.remove(mine.owner, mine.modes);
    const Status may = may_open(shard, mine.file, file, mine.owner, modes, file.shares.modes());
    if (may) {
      count_denying(mine.modes, -1);
      count_denying(modes, +1);
      mine.modes = modes;
    }
    file.shares.add(mine.owner, mine.modes);
    return may;
  }();
  send_recalls();
  return changed;
}

void VolumeState::join_opens(OpenId into, OpenId from) {
  Shard& shard = shard_of(into);
  if (&shard != &shard_of(from) || into == from) return;
  const std::lock_guard lock(shard.mutex);
  const auto stays = shard.opens.find(into);
  const auto goes = shard.opens.find(from);
  if (stays == shard.opens.end() || goes == shard.opens.end()) return;
  Open& mine = stays->second;
  if (mine.file != goes->second.file || mine.owner != goes->second.owner) return;
  STOA_ASSERT(shard.holdings.at(mine.owner.holder).opens.contains(from), "an open is its holder's");
  ShareTable& shares = shard.files.at(mine.file).shares;
  const Modes both = mine.modes | goes->second.modes;
  shares.remove(mine.owner, mine.modes);
  shares.add(mine.owner, both);
  count_denying(mine.modes, -1);
  count_denying(both, +1);
  mine.modes = both;
  mine.delete_on_close |= std::exchange(goes->second.delete_on_close, false);
  if (mine.name == nullptr) mine.name = goes->second.name;
  (void)end_open(shard, from);  // not the last one
}

void VolumeState::count_denying(Modes open, std::int64_t more) {
  if ((open & (kOpenDeniesRead | kOpenDeniesWrite)) == 0) return;
  const std::int64_t before = denying_opens_.fetch_add(more);
  STOA_ASSERT(before + more >= 0, "no more opens stop denying than denied");
}

Status VolumeState::check_denied(FileId id, OpenId through, std::uint32_t access) const {
  if (denying_opens_.load(std::memory_order_relaxed) == 0) return {};
  const Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  if (found == shard.files.end()) return {};
  const auto mine = through == kNoOpen ? shard.opens.end() : shard.opens.find(through);
  const bool known = mine != shard.opens.end() && mine->second.file == id;
  const Modes others = known ? found->second.shares.modes_without(mine->second.modes) : found->second.shares.modes();
  return (others & conflicts_with(modes_of_open(access, kShareNone)) & kOpenModes) == 0 ? Status{}
                                                                                        : fail(Errc::kShareConflict);
}

VolumeState::Ended VolumeState::end_open(Shard& shard, OpenId open) {
  const auto found = shard.opens.find(open);
  if (found == shard.opens.end()) return {};
  const Open gone = found->second;
  shard.opens.erase(found);
  const HolderId holder = gone.owner.holder;
  const std::size_t known = shard.holdings[holder].opens.erase(open);
  STOA_ASSERT(known == 1, "an open is its holder's");
  forget_if_empty(shard, holder);
  holders_.count(holder, -1);
  (void)take_opens(holder, -1);
  FileState& file = shard.files.at(gone.file);
  end_mandatory(holder, file.mandatory.remove(open));
  file.shares.remove(gone.owner, gone.modes);
  count_denying(gone.modes, -1);
  if (gone.delete_on_close && !file.doomed) {
    file.doomed = gone.name;
    (void)ask_leases(shard, gone.file, file, gone.owner, kTakesName);
  }
  const bool last = file.shares.empty();
  STOA_ASSERT(!last || file.mandatory.empty(), "mandatory locks go with their opens");
  const Ended ended{.orphan = last && std::exchange(file.orphan, false), .doomed = last && file.doomed != nullptr};
  forget_if_empty(shard, gone.file);
  return ended;
}

void VolumeState::finish_close(FileId file, const Ended& ended) {
  if (ended.orphan) files_.last_closed(file);
  if (ended.doomed) delete_doomed(file);
}

void VolumeState::close(OpenId open) {
  Shard& shard = shard_of(open);
  FileId mine = kNoFile;
  Ended ended;
  bool waited_for = false;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.opens.find(open);
    if (found == shard.opens.end()) return;
    mine = found->second.file;
    const FileState& file = shard.files.at(mine);
    waited_for = file.waited_for && !file.mandatory.empty();
    ended = end_open(shard, open);
  }
  send_recalls();
  if (waited_for) serve_waits(mine);
  finish_close(mine, ended);
}

bool VolumeState::keeps(FileId id) {
  // Clients that had it open before the restart may still reclaim it; unclaimed files are deleted when grace is over.
  const bool reclaimable = !reclaim_.grace_is_over();
  if (opens_.load(std::memory_order_relaxed) == 0) return reclaimable;
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  if (found == shard.files.end() || found->second.shares.empty()) return reclaimable;
  found->second.orphan = true;
  return true;
}

bool VolumeState::is_open(FileId id) const {
  if (opens_.load(std::memory_order_relaxed) == 0) return false;
  const Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  return found != shard.files.end() && !found->second.shares.empty();
}

}  // namespace stoa::core
