// Recycle bins, written from core/api/recycle.h and core/recycle/README.md.
#include <algorithm>

#include "core/inode/posix_name.h"
#include "tests/model/twin.h"

namespace stoa::model {
namespace {

const Stored kUserBinName = "0/";  // the model deletes as the superuser
constexpr std::uint32_t kUserBinMode = 0700, kBinMode = 0755;

std::string raw_of(const Stored& stored) {
  return stored.ends_with('/') ? stored.substr(0, stored.size() - 1) : stored;
}
std::string shown_raw(const std::string& raw) {
  return "/" + core::posix_name_of(raw, false);
}

}  // namespace

const core::RecyclePolicy* Twin::find_policy(FileId dir, FileId* recycle_root) const {
  *recycle_root = core::kNoFile;
  for (; dir != core::kNoFile; dir = above(dir)) {
    if ((exists(dir) && at(dir).is_bin) || is_upload(dir)) break;
    const auto policy = policies.find(dir);
    if (*recycle_root == core::kNoFile && (policy != policies.end() || export_roots.contains(dir))) *recycle_root = dir;
    if (policy != policies.end()) return &policy->second;
  }
  *recycle_root = core::kNoFile;
  return nullptr;
}

// A file is where its charge is.
bool Twin::recycled(FileId id) const {
  FileId dir = exists(id) && !at(id).is_directory() ? at(id).charged_in : id;
  for (; dir != core::kNoFile; dir = above(dir)) {
    if (is_upload(dir)) return false;
    if (exists(dir) && at(dir).is_bin) return true;
  }
  return false;
}

bool Twin::bin_is_empty(FileId recycle_root) const {
  const FileId bin = at(recycle_root).bin;
  if (bin == core::kNoFile) return true;
  if (usage(bin) != core::Usage{}) return false;
  return std::ranges::all_of(at(bin).names, [&](const auto& user_bin) { return at(user_bin.second).names.empty(); });
}

void Twin::add_bin(FileId recycle_root, FileId id, bool counted) {
  TwinInode bin;
  bin.id = id;
  bin.type = FileType::kDirectory;
  bin.mode = kBinMode;
  bin.parent = recycle_root;
  bin.is_bin = true;
  bin.counted = counted;
  inodes[id] = bin;
  at(recycle_root).bin = id;
}

void Twin::add_user_bin(FileId bin, FileId id) {
  TwinInode user_bin;
  user_bin.id = id;
  user_bin.type = FileType::kDirectory;
  user_bin.mode = kUserBinMode;
  user_bin.parent = bin;
  user_bin.is_bin = true;
  inodes[id] = user_bin;
  at(bin).names[kUserBinName] = id;
}

void Twin::drop_bin(FileId recycle_root) {
  const FileId bin = at(recycle_root).bin;
  for (const auto& [stored, user_bin] : at(bin).names) inodes.erase(user_bin);
  inodes.erase(bin);
  at(recycle_root).bin = core::kNoFile;
}

FileId Twin::user_bin_for(FileId dir) {
  FileId recycle_root = core::kNoFile;
  const core::RecyclePolicy* const policy = find_policy(dir, &recycle_root);
  if (policy == nullptr || !policy->enabled) return core::kNoFile;
  if (at(recycle_root).bin == core::kNoFile) add_bin(recycle_root, fresh_id(), policy->counted);
  const FileId bin = at(recycle_root).bin;
  if (at(bin).names.empty()) add_user_bin(bin, fresh_id());
  return at(bin).names.at(kUserBinName);
}

bool Twin::can_move(const TwinInode& dir) const {
  core::Usage within;
  for (const auto& [name, id] : dir.names) {
    const core::Usage own = own_usage(at(id));
    within = {within.bytes + own.bytes, within.files + own.files, within.directories + own.directories};
  }
  if (dir.bin != core::kNoFile && at(dir.bin).counted) {
    const core::Usage own = usage(dir.bin);
    within = {within.bytes + own.bytes, within.files + own.files, within.directories + own.directories};
  }
  return usage(dir.id) == within;
}

bool Twin::can_go(FileId parent, const TwinInode& dir) const {
  FileId recycle_root = core::kNoFile;
  const core::RecyclePolicy* const policy = find_policy(parent, &recycle_root);
  return bin_is_empty(dir.id) || (policy != nullptr && policy->enabled && can_move(dir));
}

// The name goes to the user's bin; returns its name there.
Stored Twin::recycle(FileId dir, const Stored& stored, TwinItem item) {
  const FileId user_bin = user_bin_for(dir);
  item.recycle_root = at(at(user_bin).parent).parent;
  item.parent = dir;
  item.raw = raw_of(stored);
  item.bytes = at(item.id).type == FileType::kRegular ? at(item.id).size() : 0;
  item.stored = "\1pending " + std::to_string(pending.size()) + (at(item.id).is_directory() ? "/" : "");
  at(user_bin).names[item.stored] = item.id;
  pending.push_back(item);
  return item.stored;
}

void Twin::remove_name(FileId dir, const Stored& stored, Verdict& verdict, const TwinItem& origin) {
  const FileId id = at(dir).names.at(stored);
  const bool directory = at(id).is_directory();
  if (directory && at(id).bin != core::kNoFile && bin_is_empty(id)) drop_bin(id);
  const FileId user_bin = user_bin_for(dir);
  if (user_bin == core::kNoFile || (directory && !can_move(at(id)))) {
    // The rest of a directory that looks empty is its folder marker, which goes with it.
    while (directory && !at(id).names.empty()) drop_link(id, at(id).names.begin()->first, verdict);
    drop_link(dir, stored, verdict);
    if (directory) verdict.touched.erase(id);
    return;
  }
  TwinItem item = origin;
  item.id = id;
  at(dir).names.erase(stored);
  const Stored there = recycle(dir, stored, item);
  verdict.touched[dir] = Touch::kContent;
  verdict.touched[id] = Touch::kAttributes;
  TwinInode& inode = at(id);
  if (directory) {
    inode.parent = user_bin;
    return;
  }
  inode.links.erase({dir, stored});
  const bool lives = std::ranges::any_of(inode.links, [&](const auto& link) { return !recycled(link.first); });
  inode.links.emplace(user_bin, there);
  if (lives) {
    leave_home(inode, dir);
  } else if (has_room_for_charge(inode, inode.charged_in, user_bin)) {
    inode.charged_in = user_bin;
  }
}

void Twin::keep_content(FileId dir, const Stored& stored, const TwinItem& origin) {
  const FileId user_bin = user_bin_for(dir);
  if (user_bin == core::kNoFile) return;
  TwinInode copy = at(at(dir).names.at(stored));
  TwinItem item = origin;
  item.copy_of = copy.id;
  item.id = copy.id = fresh_id();
  copy.open = false;
  inodes[copy.id] = copy;
  const Stored there = recycle(dir, stored, item);
  at(copy.id).links = {{user_bin, there}};
  at(copy.id).charged_in = user_bin;
}

void Twin::settle_item(const TwinItem& waiting, std::uint64_t serial, const std::string& name) {
  TwinItem item = waiting;
  item.bin = at(item.recycle_root).bin;
  const FileId user_bin = at(item.bin).names.at(kUserBinName);
  item.stored = name + (at(item.id).is_directory() ? "/" : "");
  at(user_bin).names.erase(waiting.stored);
  at(user_bin).names[item.stored] = item.id;
  if (!at(item.id).is_directory()) {
    at(item.id).links.erase({user_bin, waiting.stored});
    at(item.id).links.emplace(user_bin, item.stored);
  }
  items[serial] = item;
}

std::optional<Twin::Origin> Twin::origin(const TwinItem& start) const {
  TwinItem item = start;
  Origin origin{.path = shown_raw(item.raw), .directories = {core::kRootId}};
  FileId at_dir = item.parent;
  while (at_dir != core::kRootId) {
    if (!exists(at_dir)) {
      // Directories that only the key implied went with it.
      if (at_dir != item.parent || item.base == core::kNoFile || item.base == at_dir) return std::nullopt;
      std::string below;
      FileId present = item.base;
      for (std::string_view rest = item.below; !rest.empty(); rest.remove_prefix(rest.find('/') + 1)) {
        const std::string part(rest.substr(0, rest.find('/')));
        below += shown_raw(part);
        if (!exists(present) || !at(present).names.contains(part + "/")) {
          present = core::kNoFile;
          continue;
        }
        present = at(present).names.at(part + "/");
        origin.directories.insert(present);
      }
      origin.path = below + origin.path;
      at_dir = item.base;
      continue;
    }
    origin.directories.insert(at_dir);
    const FileId parent = at(at_dir).parent;
    if (!exists(parent) || parent == at_dir) return std::nullopt;
    if (at(parent).is_bin) {
      const auto outer = std::ranges::find_if(items, [&](const auto& one) { return one.second.id == at_dir; });
      const auto waiting = std::ranges::find(pending, at_dir, &TwinItem::id);
      if (outer == items.end() && waiting == pending.end()) return std::nullopt;
      item = outer != items.end() ? outer->second : *waiting;
      origin.path = shown_raw(item.raw) + origin.path;
      at_dir = item.parent;
      continue;
    }
    for (const auto& [stored, id] : at(parent).names) {
      if (id == at_dir) origin.path = shown_raw(raw_of(stored)) + origin.path;
    }
    at_dir = parent;
  }
  return origin;
}

std::string Twin::original_path(const TwinItem& item) const {
  const auto known = origin(item);
  return known ? known->path : std::string();
}

bool Twin::deleted_below(const TwinItem& item, FileId dir) const {
  if (is_below(item.recycle_root, dir)) return true;
  if (!is_below(dir, item.recycle_root)) return false;
  const auto known = origin(item);
  return known && known->directories.contains(dir);
}

Verdict Twin::restore_into(std::uint64_t serial, FileId dir, std::string_view name, const core::Credentials& cred) {
  return within_quota([&](Twin& twin) -> Verdict {
    const TwinItem item = twin.items.at(serial);
    const bool directory = twin.at(item.id).is_directory();
    if (!twin.exists(dir)) return {.errors = {Errc::kStale}};
    if (!twin.at(dir).is_directory()) return {.errors = {Errc::kNotDirectory}};
    Verdict verdict;
    if (twin.recycled(dir)) verdict.errors.push_back(Errc::kReadOnly);
    if (directory && twin.is_of_upload(dir)) verdict.errors.push_back(Errc::kInvalid);
    Stored stored = item.raw + (directory ? "/" : "");
    const auto& names = twin.at(dir).names;
    if (name.empty()) {
      // Keys may have a file and a directory of one name; POSIX protocols never make both.
      const Stored other = item.raw + (directory ? "" : "/");
      if (names.contains(stored) || (!item.by_key && names.contains(other))) verdict.errors.push_back(Errc::kExists);
    } else {
      const Verdict named = TwinNames::new_name(twin, dir, name, cred, directory, &stored);
      verdict.errors.insert(verdict.errors.end(), named.errors.begin(), named.errors.end());
      if (twin.find(twin.at(dir), name)) verdict.errors.push_back(Errc::kExists);
    }
    if (!verdict.ok()) return verdict;
    const FileId user_bin = twin.at(item.bin).names.at(kUserBinName);
    twin.at(user_bin).names.erase(item.stored);
    twin.at(dir).names[stored] = item.id;
    TwinInode& inode = twin.at(item.id);
    if (directory) {
      inode.parent = dir;
    } else {
      inode.links.erase({user_bin, item.stored});
      inode.links.emplace(dir, stored);
      if (twin.recycled(item.id)) inode.charged_in = dir;
    }
    twin.items.erase(serial);
    verdict.touched[dir] = Touch::kContent;
    verdict.touched[item.id] = Touch::kAttributes;
    verdict.subject = item.id;
    return verdict;
  });
}

Verdict Twin::restore_in_place(std::uint64_t serial, const core::Credentials& cred) {
  const TwinItem item = items.at(serial);
  if (exists(item.parent)) {
    if (!recycled(item.parent)) return restore_into(serial, item.parent, {}, cred);
    const auto outer = std::ranges::find_if(items, [&](const auto& one) { return one.second.id == item.parent; });
    if (outer == items.end()) return {.errors = {Errc::kNotFound}};
    Verdict first = restore_in_place(outer->first, cred);
    if (!first.ok()) return first;
    Verdict second = restore_into(serial, item.parent, {}, cred);
    first.touched.merge(second.touched);
    second.touched = std::move(first.touched);
    return second;
  }
  if (item.base == core::kNoFile || !exists(item.base)) return {.errors = {Errc::kNotFound}};
  if (recycled(item.base)) return {.errors = {Errc::kReadOnly}};
  std::vector<std::string> directories;
  for (std::string rest = item.below; !rest.empty(); rest.erase(0, rest.find('/') + 1))
    directories.push_back(rest.substr(0, rest.find('/')));
  Twin saved = *this;
  Verdict made;
  const FileId dir = make_implicit(item.base, directories, made);
  *this = saved;
  Verdict verdict = within_quota([&](Twin& twin) {
    Verdict whole;
    (void)twin.make_implicit(item.base, directories, whole);
    Verdict into = twin.restore_into(serial, dir, {}, cred);
    whole.touched.merge(into.touched);
    into.touched = std::move(whole.touched);
    return into;
  });
  if (!verdict.ok()) *this = std::move(saved);
  return verdict;
}

Verdict Twin::restore(std::uint64_t serial, FileId to_parent, std::string_view to_name, const core::Credentials& cred) {
  if (!items.contains(serial)) return {.errors = {Errc::kNotFound}};
  return to_parent == core::kNoFile ? restore_in_place(serial, cred) : restore_into(serial, to_parent, to_name, cred);
}

void Twin::purge_item(std::uint64_t serial) {
  const TwinItem item = items.at(serial);
  items.erase(serial);
  Verdict unused;
  if (at(item.id).is_directory()) {
    const FileId bin = at(item.id).bin;
    for (const auto& [inner, one] : std::map(items)) {
      if (bin != core::kNoFile && one.bin == bin && items.contains(inner)) purge_item(inner);
    }
    while (!at(item.id).names.empty()) drop_link(item.id, at(item.id).names.begin()->first, unused);
  }
  drop_link(at(item.bin).names.at(kUserBinName), item.stored, unused);
}

std::vector<FileId> Twin::recycle_roots_below(FileId dir) const {
  std::vector<FileId> recycle_roots;
  for (const auto& [id, inode] : inodes) {
    if (inode.bin != core::kNoFile && is_below(id, dir)) recycle_roots.push_back(id);
  }
  return recycle_roots;
}

std::uint64_t Twin::purge(FileId dir, const std::set<std::uint64_t>& wanted) {
  std::set<std::uint64_t> going;
  for (const auto& [serial, item] : items) {
    if ((wanted.empty() || wanted.contains(serial)) && deleted_below(item, dir)) going.insert(serial);
  }
  std::vector<FileId> bins;
  for (const FileId recycle_root : recycle_roots_below(dir)) bins.push_back(at(recycle_root).bin);
  while (dir != at(dir).parent) {
    dir = at(dir).parent;
    if (at(dir).bin != core::kNoFile) bins.push_back(at(dir).bin);
  }
  std::uint64_t removed = 0;
  for (const FileId bin : bins) {
    for (const std::uint64_t serial : going) {
      const auto item = items.find(serial);
      if (item == items.end() || item->second.bin != bin) continue;  // it went with one before
      purge_item(serial);
      ++removed;
    }
  }
  return removed;
}

void Twin::age(std::uint32_t days) {
  for (const FileId recycle_root : recycle_roots_below(core::kRootId)) {
    if (!exists(recycle_root)) continue;
    const FileId bin = at(recycle_root).bin;
    FileId unused = core::kNoFile;
    const core::RecyclePolicy* const found = find_policy(recycle_root, &unused);
    // Items of a removed policy age by the rules that apply without one.
    const std::uint32_t days_max = found != nullptr ? found->days : core::RecyclePolicy{}.days;
    const std::uint64_t bytes_max = found != nullptr ? found->bytes_max.value_or(~0ull) : ~0ull;
    const bool counted = found != nullptr && found->enabled ? found->counted : at(bin).counted;
    if (counted != at(bin).counted) {
      // If there is room for it.
      (void)within_quota([&](Twin& twin) {
        twin.at(bin).counted = counted;
        return Verdict{};
      });
    }
    for (const auto& [serial, item] : std::map(items)) {
      if (item.bin != bin || !items.contains(serial)) continue;
      const bool too_old = days_max != 0 && days >= days_max;
      const bool too_much = static_cast<std::uint64_t>(usage(bin).bytes) > bytes_max;
      if (!too_old && !too_much) break;
      purge_item(serial);
    }
  }
}

Verdict Twin::remove_tree(FileId parent, std::string_view name, const core::Credentials& cred) {
  FileId dir = core::kNoFile;
  Verdict verdict = lookup(parent, name, cred, &dir);
  if (!verdict.ok()) return verdict;
  if (!at(dir).is_directory()) return {.errors = {Errc::kNotDirectory}};
  for (const auto& [stored, id] : std::map(at(dir).names)) {
    if (hidden(at(dir), stored)) continue;
    Verdict one = at(id).is_directory() ? remove_tree(dir, shown(at(dir), stored), cred)
                                        : unlink(dir, shown(at(dir), stored), cred);
    if (!one.ok()) return one;
    verdict.touched.merge(one.touched);
  }
  Verdict last = rmdir(parent, name, cred);
  last.touched.merge(verdict.touched);
  std::erase_if(last.touched, [&](const auto& one) { return !exists(one.first); });
  return last;
}

}  // namespace stoa::model
