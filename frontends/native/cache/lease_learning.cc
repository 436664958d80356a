// What enters the caches.
#include <algorithm>

#include "frontends/native/cache/lease_cache.h"

namespace stoa::native {
namespace {

using core::kReadCaching;

constexpr std::int64_t kUnderBytes = bytes_of_element<std::unordered_map<core::FileId, std::uint64_t>>(false);

// Rights of a file that only its directory decides are not among what a lease on the file covers.
constexpr std::uint32_t kKeptRights = ~std::uint32_t{core::kAccessDelete};

}  // namespace

std::uint32_t rights_of_everybody(const core::Attributes& attr) {
  constexpr std::uint32_t kReadByAll = 0444, kExecutedByAll = 0111;
  if (attr.has_acl) return 0;
  std::uint32_t rights = (attr.mode & kReadByAll) == kReadByAll ? core::kAccessRead : 0u;
  if ((attr.mode & kExecutedByAll) == kExecutedByAll)
    rights |= attr.type == core::FileType::kDirectory ? core::kAccessLookup : core::kAccessExecute;
  return rights;
}

void LeaseCache::add_bytes(Lease& lease, std::int64_t more) {
  lease.kept.bytes += more;
  counts_.bytes += static_cast<std::uint64_t>(more);
}

bool LeaseCache::may_keep(const Lease& lease, const LeaseTicket& ticket) {
  return (lease.bits & ~lease.going & kReadCaching) != 0 && lease.since <= ticket.granted;
}

KeptFile* LeaseCache::place_of(const LeaseTicket& ticket, core::FileId file) {
  Lease* lease = cover(file, kReadCaching);
  if (lease == nullptr || !may_keep(*lease, ticket)) return nullptr;
  KeptFile& place = add_file(*lease, file);
  return place.since <= ticket.sent ? &place : nullptr;
}

// Finds it, or adds it.
KeptFile& LeaseCache::add_file(Lease& lease, core::FileId file) {
  const auto [at, added] = lease.kept.files.try_emplace(file);
  at->second.used = now_;
  if (added) {
    at->second.since = forgot_unplaced_;
    add_bytes(lease, KeptDirectory::kFileBytes);
  }
  return at->second;
}

void LeaseCache::cover_by(core::FileId file, Lease& lease) {
  if (under_.try_emplace(file, lease.number).second) add_bytes(lease, kUnderBytes);
}

void LeaseCache::drop_file(core::FileId file) {
  const auto found = under_.find(file);
  if (found == under_.end()) return;
  forgot_unplaced_ = ++now_;
  Lease& lease = leases_.at(found->second);
  if (const auto kept = lease.kept.files.find(file); kept != lease.kept.files.end()) {
    add_bytes(lease, -KeptDirectory::kFileBytes - kept->second.bytes_beside());
    lease.kept.files.erase(kept);
  }
  under_.erase(found);
  add_bytes(lease, -kUnderBytes);
}

// `parent`: the directory where the file was found, if its lease may be added to.
void LeaseCache::keep_attributes(const LeaseTicket& ticket, const core::Attributes& attr, Lease* parent) {
  const bool coverable = attr.type != core::FileType::kDirectory && attr.links == 1;
  if (!coverable) drop_file(attr.id);
  if (coverable && parent != nullptr && lease_on(attr.id) == nullptr) {
    const auto found = under_.find(attr.id);
    if (found != under_.end() && found->second != parent->number) drop_file(attr.id);
    if (forgot_unplaced_ <= ticket.sent) cover_by(attr.id, *parent);
  }
  KeptFile* place = place_of(ticket, attr.id);
  if (place == nullptr) return;
  // Replies may come in another order than the server ran them.
  if (place->attr && place->attr->change > attr.change) return;
  place->attr = attr;
  place->of_everybody = rights_of_everybody(attr);
}

void LeaseCache::learn_lookup(const LeaseTicket& ticket, const core::Credentials& cred, core::FileId parent,
                              std::string_view name, const Result<core::Attributes>& found) {
  if (!found && found.error().code != Errc::kNotFound) return;
  learn_access(ticket, cred, parent, core::kAccessLookup, core::kAccessLookup);
  const std::lock_guard lock(mutex_);
  Lease* dir = lease_on(parent);
  const bool keeps = dir != nullptr && dir->of_files && may_keep(*dir, ticket);
  if (keeps && name != "." && name != ".." && dir->kept.names_since <= ticket.sent && !being_removed(parent, name)) {
    if (!keep_name(*dir, ticket, name, found ? found->id : core::kNoFile).newest) return;
    if (found) keep_attributes(ticket, *found, dir);
    return;
  }
  if (found) keep_attributes(ticket, *found, nullptr);
}

LeaseCache::NamePlace LeaseCache::keep_name(Lease& dir, const LeaseTicket& ticket, std::string_view name,
                                            core::FileId id) {
  const auto [at, added] = dir.kept.names.try_emplace(std::string(name));
  if (added) add_bytes(dir, KeptDirectory::bytes_of_name(name));
  if (at->second.since > ticket.sent) return {at->first, false};
  at->second.id = id;
  at->second.known = true;
  return {at->first, true};
}

bool LeaseCache::note_name(core::FileId dir, std::string_view name) {
  const std::lock_guard lock(mutex_);
  Lease* lease = lease_on(dir);
  if (lease == nullptr || !lease->of_files || (lease->bits & ~lease->going & kReadCaching) == 0) return false;
  const auto [at, added] = lease->kept.names.try_emplace(std::string(name), KeptName{.since = now_, .known = false});
  if (added) {
    add_bytes(*lease, KeptDirectory::bytes_of_name(name));
    lease->kept.complete = false;
  }
  return true;
}

void LeaseCache::learn_attributes(const LeaseTicket& ticket, const core::Attributes& attr) {
  const std::lock_guard lock(mutex_);
  keep_attributes(ticket, attr, nullptr);
}

void LeaseCache::learn_access(const LeaseTicket& ticket, const core::Credentials& cred, core::FileId id,
                              std::uint32_t wanted, std::uint32_t granted) {
  wanted &= kKeptRights;
  const std::lock_guard lock(mutex_);
  KeptFile* place = place_of(ticket, id);
  if (place == nullptr || wanted == 0) return;
  const std::int64_t before = place->rights.bytes_beside();
  place->rights.keep(identity_of(cred), wanted, granted);
  add_bytes(*cover(id, kReadCaching), place->rights.bytes_beside() - before);
}

void LeaseCache::learn_target(const LeaseTicket& ticket, core::FileId id, const std::string& target) {
  const std::lock_guard lock(mutex_);
  KeptFile* place = place_of(ticket, id);
  if (place == nullptr || place->target) return;
  const std::int64_t before = place->bytes_beside();
  place->target = std::make_unique<const std::string>(target);
  add_bytes(*cover(id, kReadCaching), place->bytes_beside() - before);
}

void LeaseCache::learn_no_capability(const LeaseTicket& ticket, core::FileId id) {
  const std::lock_guard lock(mutex_);
  if (KeptFile* place = place_of(ticket, id); place != nullptr) place->no_capability = true;
}

bool LeaseCache::begin_listing(core::FileId dir) {
  constexpr int kListingsMost = 3;  // a change by this client meanwhile spoils one
  const std::lock_guard lock(mutex_);
  Lease* lease = trusted_directory(dir);
  if (lease == nullptr || lease->kept.complete || lease->kept.listings_tried >= kListingsMost) return false;
  ++lease->kept.listings_tried;
  return true;
}

std::optional<LeaseCache::Piece> LeaseCache::begin_look_ahead(core::FileId dir) {
  constexpr std::int64_t kShareOfLimit = 4;  // a directory that is too large for the cache is not fetched into it
  const std::lock_guard lock(mutex_);
  Lease* lease = trusted_directory(dir);
  if (lease == nullptr) return {};
  LookAhead& ahead = lease->kept.ahead;
  ++ahead.asked;
  if (!ahead.is_due() || lease->kept.bytes > static_cast<std::int64_t>(limits_.bytes) / kShareOfLimit) return {};
  ahead.under_way = ahead.begun = true;
  return Piece{ahead.cookie, ahead.entries};
}

void LeaseCache::end_look_ahead(core::FileId dir, std::uint64_t next) {
  const std::lock_guard lock(mutex_);
  Lease* lease = lease_on(dir);
  if (lease == nullptr) return;
  LookAhead& ahead = lease->kept.ahead;
  ahead = {.entries = std::min(ahead.entries * 2, LookAhead::kEntriesMost),
           .cookie = next,
           .begun = true,
           .ended = next == 0};
}

void LeaseCache::learn_entries(const LeaseTicket& ticket, const core::Credentials& cred,
                               const core::ReaddirRequest& request, const StorageEntries& entries) {
  learn_access(ticket, cred, request.dir, core::kAccessRead, core::kAccessRead);
  const std::lock_guard lock(mutex_);
  Lease* dir = lease_on(request.dir);
  if (dir == nullptr || !dir->of_files || !may_keep(*dir, ticket) || dir->kept.names_since > ticket.sent) return;
  KeptListing& listing = dir->kept.listing;
  if (request.cookie == 0 && dir->kept.listed_since <= ticket.sent) {
    forget_listing(*dir);
    listing.sent = ticket.sent;
  }
  const std::uint64_t last = listing.entries.empty() ? 0 : listing.entries.back().cookie;
  bool goes_on = !listing.whole && listing.sent != 0 && request.cookie == last;
  const std::int64_t before = listing.bytes();
  bool all = true;
  for (const core::DirectoryEntry& one : entries.entries) {
    ListedEntry entry{.cookie = one.cookie, .id = one.id, .type = one.type};
    if (one.name == "." || one.name == "..") {
      entry.name = one.name == "." ? "." : "..";
    } else if (being_removed(request.dir, one.name)) {
      all = goes_on = false;  // the end of the change ends the listing
    } else {
      const NamePlace place = keep_name(*dir, ticket, one.name, one.id);
      entry.name = place.name;
      if (place.newest && one.attr) keep_attributes(ticket, *one.attr, dir);
    }
    if (goes_on) listing.entries.push_back(entry);
  }
  add_bytes(*dir, listing.bytes() - before);
  // Nothing has changed since the first piece was asked for: each change ends the listing.
  if (goes_on && entries.end) listing.whole = true;
  // What this client has changed meanwhile, it knows.
  if (entries.end && all && (goes_on || request.cookie == 0)) dir->kept.complete = true;
}

void LeaseCache::forget_listing(Lease& dir) {
  add_bytes(dir, -dir.kept.listing.bytes());
  dir.kept.listing = {};
}

void LeaseCache::note_open(core::FileId id) {
  const std::lock_guard lock(mutex_);
  Lease* lease = cover(id, kReadCaching);
  if (lease == nullptr) return;
  add_file(*lease, id).opened = true;
}

}  // namespace stoa::native
