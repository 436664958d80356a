// What is answered from the caches.
#include <algorithm>

#include "frontends/native/cache/lease_cache.h"

namespace stoa::native {
namespace {

using core::kReadCaching;

constexpr std::size_t kNameBytesMost = 255;

bool same_rights(const core::Attributes& a, const core::Attributes& b) {
  return !a.has_acl && !b.has_acl && a.uid == b.uid && a.gid == b.gid && a.mode == b.mode;
}

}  // namespace

LeaseCache::Lease* LeaseCache::trusted_directory(core::FileId dir) {
  Lease* lease = lease_on(dir);
  if (lease == nullptr || !lease->of_files) return nullptr;
  return trusted_cover(dir, kReadCaching);
}

std::uint32_t LeaseCache::identity_of(const core::Credentials& cred) {
  return users_.number_of(cred);
}

KeptFile* LeaseCache::kept_file(Lease& lease, core::FileId file) {
  const auto found = lease.kept.files.find(file);
  if (found == lease.kept.files.end()) return nullptr;
  found->second.used = now_;
  return &found->second;
}

bool LeaseCache::search_known(Lease& dir, const core::Credentials& cred, std::uint32_t wanted) {
  const KeptFile* file = kept_file(dir, dir.file);
  if (file == nullptr) return false;
  if ((file->of_everybody & wanted) == wanted) return true;
  const auto known = file->rights.find(identity_of(cred));
  return known && (known->granted & wanted) == wanted;
}

std::optional<Result<core::Attributes>> LeaseCache::lookup(const core::Credentials& cred, core::FileId parent,
                                                           std::string_view name) {
  const std::lock_guard lock(mutex_);
  ++counts_.misses;
  if (name.size() > kNameBytesMost || name == "." || name == "..") return {};
  Lease* dir = trusted_directory(parent);
  if (dir == nullptr || !search_known(*dir, cred, core::kAccessLookup)) return {};
  const auto found = dir->kept.names.find(name);
  const bool known = found != dir->kept.names.end() && found->second.known;
  // Names that begin with a dot may be there without being listed (the recycle bin).
  const bool absent = known ? found->second.id == core::kNoFile : dir->kept.complete && !name.starts_with('.');
  if (!known && !absent) return {};
  if (absent) {
    --counts_.misses;
    ++counts_.hits;
    return Result<core::Attributes>(fail(Errc::kNotFound));
  }
  Lease* lease = trusted_cover(found->second.id, kReadCaching);
  if (lease == nullptr) return {};
  const KeptFile* file = kept_file(*lease, found->second.id);
  if (file == nullptr || !file->attr) return {};
  --counts_.misses;
  ++counts_.hits;
  ++dir->kept.ahead.found;
  return Result<core::Attributes>(*file->attr);
}

std::optional<core::Attributes> LeaseCache::getattr(core::FileId id) {
  const std::lock_guard lock(mutex_);
  ++counts_.misses;
  Lease* lease = trusted_cover(id, kReadCaching);
  if (lease == nullptr) return {};
  const KeptFile* file = kept_file(*lease, id);
  if (file == nullptr || !file->attr) return {};
  --counts_.misses;
  ++counts_.hits;
  return file->attr;
}

std::optional<std::uint32_t> LeaseCache::access(const core::Credentials& cred, core::FileId id, std::uint32_t wanted) {
  const std::lock_guard lock(mutex_);
  ++counts_.misses;
  Lease* lease = trusted_cover(id, kReadCaching);
  if (lease == nullptr) return {};
  const KeptFile* file = kept_file(*lease, id);
  if (file == nullptr) return {};
  std::uint32_t granted = file->of_everybody;
  if ((granted & wanted) != wanted) {
    const auto known = file->rights.find(identity_of(cred));
    if (!known || (known->known & wanted) != wanted) return {};
    granted = known->granted;
  }
  --counts_.misses;
  ++counts_.hits;
  return granted & wanted;
}

std::optional<std::string> LeaseCache::readlink(core::FileId id) {
  const std::lock_guard lock(mutex_);
  ++counts_.misses;
  Lease* lease = trusted_cover(id, kReadCaching);
  if (lease == nullptr) return {};
  const KeptFile* file = kept_file(*lease, id);
  if (file == nullptr || !file->target) return {};
  --counts_.misses;
  ++counts_.hits;
  return *file->target;
}

std::optional<StorageEntries> LeaseCache::readdir(const core::Credentials& cred, const core::ReaddirRequest& request) {
  const std::lock_guard lock(mutex_);
  ++counts_.misses;
  Lease* dir = trusted_directory(request.dir);
  if (dir == nullptr || !dir->kept.listing.whole || !search_known(*dir, cred, core::kAccessRead)) return {};
  const std::vector<ListedEntry>& all = dir->kept.listing.entries;
  auto at = std::ranges::upper_bound(all, request.cookie, {}, &ListedEntry::cookie);
  StorageEntries reply;
  std::size_t name_bytes = 0;
  for (; at != all.end() && reply.entries.size() < request.entries_max; ++at) {
    name_bytes += at->name.size();
    if (name_bytes > request.name_bytes_max && !reply.entries.empty()) break;
    core::DirectoryEntry entry{.id = at->id, .type = at->type, .cookie = at->cookie, .name = std::string(at->name)};
    if (request.want_attributes && entry.name != "." && entry.name != "..") {
      Lease* lease = trusted_cover(entry.id, kReadCaching);
      if (lease == nullptr) return {};
      const KeptFile* file = kept_file(*lease, entry.id);
      if (file == nullptr || !file->attr) return {};
      entry.attr = file->attr;
    }
    reply.entries.push_back(std::move(entry));
  }
  reply.end = at == all.end();
  --counts_.misses;
  ++counts_.hits;
  return reply;
}

Listed LeaseCache::listed(const core::Credentials& cred, core::FileId directory, const ListedWish& wish) {
  const std::lock_guard lock(mutex_);
  const Lease* dir = trusted_directory(directory);
  if (dir == nullptr) return {.end = true};
  const std::vector<ListedEntry>& all = dir->kept.listing.entries;
  Listed found{.next = wish.after, .entries = all.size()};
  const auto like = dir->kept.files.find(wish.like);
  const KeptFile* const liked = like != dir->kept.files.end() ? &like->second : nullptr;
  auto at = std::ranges::upper_bound(all, wish.after, {}, &ListedEntry::cookie);
  std::uint64_t bytes = 0;
  for (std::size_t looks = 0; at != all.end() && looks < wish.entries_most; ++at, ++looks) {
    const auto under = under_.find(at->id);
    const bool covered = under != under_.end() && under->second == dir->number;
    const auto kept = covered ? dir->kept.files.find(at->id) : dir->kept.files.end();
    if (kept != dir->kept.files.end() && may_tell(kept->second, cred, wish, liked)) {
      const std::uint64_t size = kept->second.attr->size;
      if (found.files.size() >= wish.files_most || size > wish.bytes_most - bytes) break;
      bytes += size;
      found.files.push_back({at->id, size});
    }
    found.next = at->cookie;
  }
  found.end = at == all.end() && dir->kept.listing.whole;
  return found;
}

bool LeaseCache::may_tell(const KeptFile& file, const core::Credentials& cred, const ListedWish& wish,
                          const KeptFile* like) {
  if (!file.attr || file.attr->type != core::FileType::kRegular || (file.opened && !wish.opened)) return false;
  if (file.attr->size == 0 || file.attr->size > wish.size_most) return false;
  if ((file.of_everybody & core::kAccessRead) != 0) return true;
  const auto known = file.rights.find(identity_of(cred));
  if (known && (known->known & core::kAccessRead) != 0) return (known->granted & core::kAccessRead) != 0;
  // Whatever the server makes of the user: it treats alike what looks alike. It must not record a refusal that no
  // program asked for.
  return like != nullptr && like->attr && same_rights(*file.attr, *like->attr);
}

std::uint64_t LeaseCache::place_in_listing(core::FileId directory, core::FileId file) {
  constexpr std::size_t kEntriesMost = 65536;
  const std::lock_guard lock(mutex_);
  const Lease* dir = trusted_directory(directory);
  if (dir == nullptr || dir->kept.listing.entries.size() > kEntriesMost) return 0;
  const auto at = std::ranges::find(dir->kept.listing.entries, file, &ListedEntry::id);
  return at == dir->kept.listing.entries.end() ? 0 : at->cookie;
}

bool LeaseCache::everybody_searches(core::FileId dir) {
  const std::lock_guard lock(mutex_);
  Lease* lease = trusted_directory(dir);
  if (lease == nullptr) return false;
  const KeptFile* file = kept_file(*lease, dir);
  return file != nullptr && (file->of_everybody & core::kAccessLookup) != 0;
}

KnownEntry LeaseCache::known_entry(core::FileId dir, std::string_view name, core::FileId file) {
  const std::lock_guard lock(mutex_);
  Lease* lease = trusted_directory(dir);
  if (lease == nullptr) return {};
  const auto found = lease->kept.names.find(name);
  if (found == lease->kept.names.end() || !found->second.known || found->second.id != file) return {};
  const auto under = under_.find(file);
  const KeptFile* kept = kept_file(*lease, file);
  const bool covered = under != under_.end() && under->second == lease->number;
  return {.name = true, .attributes = covered && kept != nullptr && kept->attr.has_value()};
}

bool LeaseCache::lacks_capability(core::FileId id) {
  const std::lock_guard lock(mutex_);
  Lease* lease = trusted_cover(id, kReadCaching);
  if (lease == nullptr) return false;
  const KeptFile* file = kept_file(*lease, id);
  return file != nullptr && file->no_capability;
}

bool LeaseCache::has_forgotten(core::FileId dir, std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto lease = on_.find(dir);
  if (lease == on_.end()) return false;
  const KeptDirectory& kept = leases_.at(lease->second).kept;
  return !(kept.bare.empty() && kept.bare_opened.empty()) && !kept.names.contains(name);
}

core::FileId LeaseCache::file_of(core::FileId parent, std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto lease = on_.find(parent);
  if (lease == on_.end()) return core::kNoFile;
  const KeptDirectory& kept = leases_.at(lease->second).kept;
  const auto found = kept.names.find(name);
  return found == kept.names.end() || !found->second.known ? core::kNoFile : found->second.id;
}

}  // namespace stoa::native
