// What enters the caches.
#include <algorithm>

#include "frontends/native/cache/lease_cache.h"

namespace stoa::native {
namespace {

using core::kReadCaching;

// Of memory, about.
constexpr std::int64_t kNameBytes = 96;
constexpr std::int64_t kFileBytes = 320;
constexpr std::int64_t kEntryBytes = 112;
constexpr std::size_t kRightsMost = 64;  // users of one file

// Rights of a file that only its directory decides are not among what a lease on the file covers.
constexpr std::uint32_t kKeptRights = ~std::uint32_t{core::kAccessDelete};

std::int64_t bytes_of_name(std::string_view name) {
  return kNameBytes + static_cast<std::int64_t>(name.size());
}

}  // namespace

// more.
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
  const auto [at, added] = lease->kept.files.try_emplace(file);
  if (added) {
    add_bytes(*lease, kFileBytes);
    at->second.since = forgot_unplaced_;
  }
  return at->second.since <= ticket.sent ? &at->second : nullptr;
}

void LeaseCache::drop_file(core::FileId file) {
  const auto found = under_.find(file);
  if (found == under_.end()) return;
  forgot_unplaced_ = ++now_;
  Lease& lease = leases_.at(found->second);
  if (lease.kept.files.erase(file) != 0) add_bytes(lease, -kFileBytes);
  under_.erase(found);
}

// `parent`: the directory where the file was found, if its lease may be added to.
void LeaseCache::keep_attributes(const LeaseTicket& ticket, const core::Attributes& attr, Lease* parent) {
  const bool coverable = attr.type != core::FileType::kDirectory && attr.links == 1;
  if (!coverable) drop_file(attr.id);
  if (coverable && parent != nullptr && lease_on(attr.id) == nullptr) {
    const auto found = under_.find(attr.id);
    if (found != under_.end() && found->second != parent->number) drop_file(attr.id);
    if (forgot_unplaced_ <= ticket.sent) under_.try_emplace(attr.id, parent->number);
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
    if (!keep_name(*dir, ticket, name, found ? found->id : core::kNoFile)) return;
    if (found) keep_attributes(ticket, *found, dir);
    return;
  }
  if (found) keep_attributes(ticket, *found, nullptr);
}

// False: this client has changed the name since, and knows better.
bool LeaseCache::keep_name(Lease& dir, const LeaseTicket& ticket, std::string_view name, core::FileId id) {
  const auto [at, added] = dir.kept.names.try_emplace(std::string(name));
  if (added) add_bytes(dir, bytes_of_name(name));
  if (at->second.since > ticket.sent) return false;
  at->second.id = id;
  at->second.known = true;
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
  const std::uint32_t user = identity_of(cred);
  auto at = std::ranges::find(place->rights, user, &KeptRights::user);
  if (at == place->rights.end()) {
    if (place->rights.size() >= kRightsMost) place->rights.clear();
    at = place->rights.insert(place->rights.end(), {.user = user});
  }
  at->known |= wanted;
  at->granted = (at->granted & ~wanted) | (granted & wanted);
}

void LeaseCache::learn_target(const LeaseTicket& ticket, core::FileId id, const std::string& target) {
  const std::lock_guard lock(mutex_);
  KeptFile* place = place_of(ticket, id);
  if (place == nullptr || place->target) return;
  place->target = target;
  Lease* lease = cover(id, kReadCaching);
  add_bytes(*lease, static_cast<std::int64_t>(target.size()));
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
    add_bytes(*dir, -listing.bytes);
    listing = {.sent = ticket.sent};
  }
  const std::uint64_t last = listing.entries.empty() ? 0 : listing.entries.back().cookie;
  const bool goes_on = !listing.whole && listing.sent != 0 && request.cookie == last;
  bool all = true;
  for (const core::DirectoryEntry& one : entries.entries) {
    if (goes_on) {
      core::DirectoryEntry entry = one;
      entry.attr.reset();
      const std::int64_t bytes = kEntryBytes + static_cast<std::int64_t>(entry.name.size());
      listing.bytes += bytes;
      add_bytes(*dir, bytes);
      listing.entries.push_back(std::move(entry));
    }
    if (one.name == "." || one.name == "..") continue;
    if (being_removed(request.dir, one.name)) {
      all = false;
    } else if (keep_name(*dir, ticket, one.name, one.id) && one.attr) {
      keep_attributes(ticket, *one.attr, dir);
    }
  }
  // Nothing has changed since the first piece was asked for: each change ends the listing.
  if (goes_on && entries.end) listing.whole = true;
  // What this client has changed meanwhile, it knows.
  if (entries.end && all && (goes_on || request.cookie == 0)) dir->kept.complete = true;
}

void LeaseCache::note_open(core::FileId id) {
  const std::lock_guard lock(mutex_);
  Lease* lease = cover(id, kReadCaching);
  if (lease == nullptr) return;
  const auto [at, added] = lease->kept.files.try_emplace(id);
  at->second.opened = true;
  if (!added) return;
  at->second.since = forgot_unplaced_;
  add_bytes(*lease, kFileBytes);
}

}  // namespace stoa::native
