// Questions, and names.
#include "frontends/native/cache/leased_storage.h"

#include <thread>

#include "frontends/native/cache/asking.h"
#include "frontends/native/protocol/posix_acl_name.h"

namespace stoa::native {
namespace {

constexpr std::uint32_t kToLook = core::kReadCaching | core::kHandleCaching;
constexpr std::uint32_t kToMake = core::kAllCaching;
// All that may be asked later costs no more than what is asked now.
constexpr std::uint32_t kRightsKept =
    core::kAccessRead | core::kAccessLookup | core::kAccessModify | core::kAccessExtend | core::kAccessExecute;
constexpr std::string_view kCapabilityXattr = "security.capability";

}  // namespace

Result<std::unique_ptr<LeasedStorage>> LeasedStorage::make(Storage& below, LeaseCalls& calls,
                                                           const LeaseCacheLimits& limits) {
  std::unique_ptr<LeasedStorage> made(new LeasedStorage(below, calls, limits));
  STOA_CHECK_OK(made->engine_.start());
  return made;
}

void LeasedStorage::set_kept(KeptUnderLeases* kept) {
  {
    const std::lock_guard lock(kept_mutex_);
    kept_ = kept;
  }
  engine_.set_kept(kept);
}

Status LeasedStorage::give_all_back(std::chrono::steady_clock::time_point until) {
  constexpr std::chrono::milliseconds kLook{2};
  constexpr int kLooksAnew = 50;  // one that was being asked for when it was to end is ended once more
  cache_.set_asking(false);
  for (int looks = 0;; ++looks) {
    const std::vector<std::uint64_t> held = cache_.leases();
    if (held.empty()) return {};
    if (std::chrono::steady_clock::now() >= until) return fail(Errc::kTimeout, "leases are still held");
    if (looks % kLooksAnew == 0) {
      for (const std::uint64_t lease : held) engine_.give_back(lease);
    }
    std::this_thread::sleep_for(kLook);
  }
}

void LeasedStorage::set_kernel(KernelCache* kernel) {
  cache_.set_needs_names(kernel != nullptr && !kernel->forget_all_names());
  engine_.set_kernel(kernel);
}

void LeasedStorage::stay_within_limits() {
  for (const std::uint64_t lease : cache_.superfluous()) engine_.give_back(lease);
}

void LeasedStorage::want(const core::Credentials& cred, core::FileId file, std::uint32_t bits) {
  const std::optional<core::FileId> dir = cache_.directory_of(file);
  if (!dir) return;
  LeaseTicket ticket;
  const auto attr = asking({.cred = cred}, *dir, true, bits | kToLook, ticket, [&](const Asker& with) {
    return with.wish == nullptr ? Result<core::Attributes>(fail(Errc::kNotSupported)) : below_.getattr(with, file);
  });
  if (attr) cache_.learn_attributes(ticket, *attr);
}

Result<core::Attributes> LeasedStorage::lookup(const Asker& asker, core::FileId parent, std::string_view name) {
  if (auto known = cache_.lookup(asker.cred, parent, name)) return *known;
  LeaseTicket ticket;
  LookupWish more{.rights = kRightsKept};
  auto found = asking(asker, parent, true, kToLook, ticket, [&](Asker with) {
    with.more = &more;
    return below_.lookup(with, parent, name);
  });
  cache_.learn_lookup(ticket, asker.cred, parent, name, found);
  if (more.parent) cache_.learn_attributes(ticket, *more.parent);
  if (found && more.granted) cache_.learn_access(ticket, asker.cred, found->id, more.rights, *more.granted);
  if (!found && found.error().code == Errc::kNotFound && cache_.begin_listing(parent)) learn_names(asker, parent);
  if (found) look_ahead(asker, parent);
  return found;
}

// Who asks for names that are not there asks for more of them: makers of files, and programs that search paths.
void LeasedStorage::learn_names(const Asker& asker, core::FileId dir) {
  constexpr std::uint32_t kFew = 256;
  (void)readdir(asker, {.dir = dir, .entries_max = kFew});  // what fails, or is not all of them, teaches nothing
}

// Who asks for some names of a directory asks for more of them: a listing costs less for each.
void LeasedStorage::look_ahead(const Asker& asker, core::FileId dir) {
  const auto piece = cache_.begin_look_ahead(dir);
  if (!piece) return;
  const auto entries =
      readdir(asker, {.dir = dir, .cookie = piece->cookie, .entries_max = piece->entries, .want_attributes = true});
  cache_.end_look_ahead(dir,
                        entries && !entries->end && !entries->entries.empty() ? entries->entries.back().cookie : 0);
}

Result<core::Attributes> LeasedStorage::getattr(const Asker& asker, core::FileId id) {
  if (auto known = cache_.getattr(id)) return *known;
  stay_within_limits();
  const LeaseTicket ticket = cache_.ticket();
  auto attr = below_.getattr(asker, id);
  if (attr) cache_.learn_attributes(ticket, *attr);
  return attr;
}

Result<std::uint32_t> LeasedStorage::access(const Asker& asker, core::FileId id, std::uint32_t wanted) {
  if (auto known = cache_.access(asker.cred, id, wanted)) return *known;
  stay_within_limits();
  const LeaseTicket ticket = cache_.ticket();
  STOA_TRY(granted, below_.access(asker, id, wanted | kRightsKept));
  cache_.learn_access(ticket, asker.cred, id, wanted | kRightsKept, granted);
  return granted & wanted;
}

Result<std::string> LeasedStorage::readlink(const Asker& asker, core::FileId id) {
  if (auto known = cache_.readlink(id)) return *known;
  stay_within_limits();
  const LeaseTicket ticket = cache_.ticket();
  auto target = below_.readlink(asker, id);
  if (target) cache_.learn_target(ticket, id, *target);
  return target;
}

Status LeasedStorage::open_directory(const Asker& asker, core::FileId dir) {
  if (cache_.access(asker.cred, dir, core::kAccessRead)) return Storage::open_directory(asker, dir);
  LeaseTicket ticket;
  STOA_TRY(granted, asking(asker, dir, true, kToLook, ticket,
                           [&](const Asker& with) { return below_.access(with, dir, kRightsKept); }));
  cache_.learn_access(ticket, asker.cred, dir, kRightsKept, granted);
  return (granted & core::kAccessRead) != 0 ? Status{} : fail(Errc::kAccess);
}

Result<StorageEntries> LeasedStorage::readdir(const Asker& asker, const core::ReaddirRequest& request) {
  if (auto known = cache_.readdir(asker.cred, request)) return std::move(*known);
  LeaseTicket ticket;
  auto entries = asking(asker, request.dir, true, kToLook, ticket,
                        [&](const Asker& with) { return below_.readdir(with, request); });
  if (entries) cache_.learn_entries(ticket, asker.cred, request, *entries);
  return entries;
}

template <class Call>
Result<core::Attributes> LeasedStorage::making(const Asker& asker, core::FileId parent, std::string_view name,
                                               const Call& call) {
  const auto change = cache_.begin_name_change(parent, name, false);
  LeaseTicket ticket;
  Result<core::Attributes> made = asking(asker, parent, true, kToMake, ticket, call);
  if (made) {
    cache_.end_name_change(change, KeptName{made->id}, *made);
  } else {
    cache_.end_name_change(change, {}, {});
  }
  return made;
}

Result<core::Attributes> LeasedStorage::mkdir(const Asker& asker, const core::MkdirRequest& request) {
  return making(asker, request.parent, request.name, [&](const Asker& with) { return below_.mkdir(with, request); });
}

Result<core::Attributes> LeasedStorage::mknod(const Asker& asker, const core::MknodRequest& request) {
  return making(asker, request.parent, request.name, [&](const Asker& with) { return below_.mknod(with, request); });
}

Result<core::Attributes> LeasedStorage::create(const Asker& asker, const core::CreateRequest& request) {
  auto made =
      making(asker, request.parent, request.name, [&](const Asker& with) { return below_.create(with, request); });
  // One that existed may have been truncated.
  if (made && request.mode == core::CreateMode::kUnchecked) cache_.forget(made->id);
  return made;
}

Result<core::Attributes> LeasedStorage::symlink(const Asker& asker, const core::SymlinkRequest& request) {
  return making(asker, request.parent, request.name, [&](const Asker& with) { return below_.symlink(with, request); });
}

void LeasedStorage::settle(const std::optional<HeldLease>& lease, core::FileId file) {
  opens_.make_real(file);
  if (!lease) return;
  const std::shared_lock lock(kept_mutex_);
  if (kept_ == nullptr) return;
  if ((lease->bits & core::kWriteCaching) != 0) kept_->write_back(*lease, file);
  kept_->forget(*lease, file);
}

void LeasedStorage::settle(const NameChange& change) {
  opens_.make_real(change.uncovered);
  if (change.lease.number == 0) return;
  const std::shared_lock lock(kept_mutex_);
  if (kept_ == nullptr) return;
  for (const core::FileId file : change.uncovered) {
    if ((change.lease.bits & core::kWriteCaching) != 0) kept_->write_back(change.lease, file);
    kept_->forget(change.lease, file);
  }
}

Result<core::Attributes> LeasedStorage::link(const Asker& asker, const core::LinkRequest& request) {
  settle(cache_.uncover(request.id), request.id);
  auto linked =
      making(asker, request.parent, request.name, [&](const Asker& with) { return below_.link(with, request); });
  cache_.forget(request.id);
  // Look-ups that were sent before may have covered it again.
  settle(cache_.uncover(request.id), request.id);
  return linked;
}

// A name of which nothing is known may be that of any file of the directory: all would have to be settled.
void LeasedStorage::learn_forgotten(const Asker& asker, core::FileId parent, std::string_view name) {
  if (cache_.has_forgotten(parent, name)) (void)lookup(asker, parent, name);  // the change itself tells what is wrong
}

Status LeasedStorage::remove(const Asker& asker, const core::RemoveRequest& request,
                             const std::function<Status()>& call) {
  learn_forgotten(asker, request.parent, request.name);
  const auto change = cache_.begin_name_change(request.parent, request.name, true);
  settle(*change);
  const Status removed = call();
  for (const core::FileId file : change->uncovered) cache_.forget(file);
  cache_.end_name_change(change, removed ? std::optional(KeptName{}) : std::nullopt, {});
  return removed;
}

Status LeasedStorage::unlink(const Asker& asker, const core::RemoveRequest& request) {
  return remove(asker, request, [&] { return below_.unlink(asker, request); });
}

Status LeasedStorage::rmdir(const Asker& asker, const core::RemoveRequest& request) {
  return remove(asker, request, [&] { return below_.rmdir(asker, request); });
}

// Both names are forgotten: of two links of one file neither goes.
Status LeasedStorage::rename(const Asker& asker, const core::RenameRequest& request) {
  learn_forgotten(asker, request.from_parent, request.from_name);
  learn_forgotten(asker, request.to_parent, request.to_name);
  const auto from = cache_.begin_name_change(request.from_parent, request.from_name, true);
  const auto to = cache_.begin_name_change(request.to_parent, request.to_name, true);
  settle(*from);
  settle(*to);
  const Status renamed = below_.rename(asker, request);
  for (const auto& change : {from, to}) {
    for (const core::FileId file : change->uncovered) cache_.forget(file);
    cache_.end_name_change(change, {}, {});
  }
  return renamed;
}

// The names of a directory that everybody might search are in the kernel for everybody.
void LeasedStorage::forget_rights(core::FileId file, bool names_too) {
  cache_.forget(file);
  const std::uint64_t lease = names_too ? cache_.lease_of(file) : 0;
  if (lease != 0) engine_.give_back(lease);
}

// The kernel asks for the capabilities of a program before each write that may end them, and ls -l for the ACL of each
// file; hardly a file has any.
Result<std::string> LeasedStorage::get_xattr(const Asker& asker, const core::GetXattrRequest& request) {
  const bool capability = request.name == kCapabilityXattr;
  if (capability && cache_.lacks_capability(request.id)) return fail(Errc::kNoAttribute);
  if (is_posix_acl(request.name)) {
    const auto attr = cache_.getattr(request.id);
    if (attr && !attr->has_acl && attr->type != core::FileType::kSymlink) return fail(Errc::kNoAttribute);
  }
  const LeaseTicket ticket = cache_.ticket();
  auto value = below_.get_xattr(asker, request);
  if (capability && !value && value.error().code == Errc::kNoAttribute) cache_.learn_no_capability(ticket, request.id);
  return value;
}

Status LeasedStorage::set_xattr(const Asker& asker, const core::SetXattrRequest& request) {
  return change_xattr(request.id, request.name, [&] { return below_.set_xattr(asker, request); });
}

Status LeasedStorage::remove_xattr(const Asker& asker, const core::RemoveXattrRequest& request) {
  return change_xattr(request.id, request.name, [&] { return below_.remove_xattr(asker, request); });
}

Status LeasedStorage::change_xattr(core::FileId file, std::string_view name, const std::function<Status()>& call) {
  const bool rights = is_posix_acl(name);
  if (rights) opens_.make_real(file);  // as setattr() of rights
  const Status changed = call();
  if (rights) {
    forget_rights(file, true);
  } else {
    cache_.forget(file);
  }
  return changed;
}

Result<std::optional<StorageLock>> LeasedStorage::lock(const Asker& asker, const StorageLock& wanted, bool waits) {
  opens_.make_real(wanted.file);
  return below_.lock(asker, wanted, waits);
}

}  // namespace stoa::native
