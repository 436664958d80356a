#include "core/inode/posix_name.h"
#include "tests/model/twin.h"

namespace stoa::model {
namespace {

using core::Credentials;

Stored directory_form(std::string_view raw) {
  return std::string(raw) + "/";
}
bool is_directory_form(const Stored& stored) {
  return stored.ends_with('/');
}

// Errors of a name before any look-up. Two answers are right for a name that only the store may generate: it does
// not exist, and it cannot be made.
std::vector<Errc> name_errors(std::string_view name) {
  if (name.size() > core::kNameBytesMax) return {Errc::kNameTooLong};
  if (auto parsed = core::parse_posix_name(name); !parsed) return {Errc::kInvalid, Errc::kNotFound};
  return {};
}

}  // namespace

bool denied(const Credentials& cred, const TwinInode& inode, std::uint32_t wanted) {
  if (cred.is_superuser()) return false;
  std::uint32_t bits = inode.mode & 7;
  if (cred.uid == inode.uid) {
    bits = inode.mode >> 6 & 7;
  } else if (cred.in_group(inode.gid)) {
    bits = inode.mode >> 3 & 7;
  }
  return (bits & wanted) != wanted;
}

Twin::Twin() {
  TwinInode root;
  root.id = core::kRootId;
  root.type = FileType::kDirectory;
  root.mode = 0755;
  root.parent = core::kRootId;
  inodes[core::kRootId] = root;
  root.id = root.parent = core::kMultipartId;
  inodes[core::kMultipartId] = root;
}

std::string Twin::shown(const TwinInode& dir, const Stored& stored) const {
  if (is_directory_form(stored))
    return core::posix_name_of(std::string_view(stored).substr(0, stored.size() - 1), false);
  return core::posix_name_of(stored, dir.names.contains(directory_form(stored)));
}

bool Twin::hidden(const TwinInode& dir, const Stored& stored) const {
  const FileId id = dir.names.at(stored);
  return stored.empty() && at(id).type == FileType::kRegular && at(id).size() == 0;
}

std::optional<Stored> Twin::find(const TwinInode& dir, std::string_view name) const {
  for (const auto& [stored, id] : dir.names) {
    if (shown(dir, stored) == name) return stored;
  }
  return std::nullopt;
}

bool Twin::empty_for_posix(const TwinInode& dir) const {
  for (const auto& [stored, id] : dir.names) {
    // A folder marker that has another name, too, is no mere marker any more.
    if (!hidden(dir, stored) || at(id).links.size() > 1) return false;
  }
  return true;
}

Verdict Twin::lookup(FileId parent, std::string_view name, const Credentials& cred, FileId* found) const {
  if (!exists(parent)) return {.errors = {Errc::kStale}};
  const TwinInode& dir = at(parent);
  if (!dir.is_directory()) return {.errors = {Errc::kNotDirectory}};
  Verdict verdict;
  if (denied(cred, dir, 1)) verdict.errors.push_back(Errc::kAccess);
  if (name == "." || name == "..") {
    *found = name == "." ? parent : dir.parent;
    return verdict;
  }
  for (const Errc error : name_errors(name)) verdict.errors.push_back(error);
  const auto stored = find(dir, name);
  if (!stored) verdict.errors.push_back(Errc::kNotFound);
  if (verdict.ok()) *found = dir.names.at(*stored);
  return verdict;
}

void Twin::insert(TwinInode& dir, const Stored& stored, TwinInode& child) {
  dir.names[stored] = child.id;
  if (child.is_directory()) {
    child.parent = dir.id;
  } else {
    if (child.links.empty()) child.charged_in = dir.id;
    child.links.emplace(dir.id, stored);
  }
}

void Twin::drop_link(FileId dir, const Stored& stored, Verdict& verdict) {
  const FileId id = at(dir).names.at(stored);
  at(dir).names.erase(stored);
  verdict.touched[dir] = Touch::kContent;
  TwinInode& inode = at(id);
  if (inode.is_directory()) {
    if (inode.bin != core::kNoFile) drop_bin(id);
    ended[id] = inode.charged_to != core::kNoFile ? inode.charged_to : dir;
    if (inode.charged_to != core::kNoFile) ended_uploads.insert(id);
    inodes.erase(id);
    return;
  }
  inode.links.erase({dir, stored});
  if (inode.links.empty() && !inode.open) {
    inodes.erase(id);
    return;
  }
  verdict.touched[id] = Touch::kAttributes;
  if (inode.links.empty()) {
    const FileId outside = outside_trash(inode.charged_in);
    // It may count there for more than in the bin: then it stays, if there is no room.
    if (has_room_for_charge(inode, inode.charged_in, outside, core::UsageClass::kOrphans)) inode.charged_in = outside;
  } else {
    leave_home(inode, dir);
  }
}

// The directory that an orphan counts in: no bin keeps it.
FileId Twin::outside_trash(FileId dir) const {
  FileId beyond = dir;
  for (FileId up = dir; up != core::kNoFile; up = above(up)) {
    if (exists(up) && at(up).is_bin) beyond = above(up);
  }
  return beyond;
}

// The charge of a file that lost a name in its home follows it to the first remaining name with room, by directory
// id and name; names outside of recycle bins come first.
void Twin::leave_home(TwinInode& inode, FileId dir) {
  if (inode.charged_in != dir) return;
  FileId other = core::kNoFile;
  for (const auto& [parent, name] : inode.links) {
    if (recycled(parent)) continue;
    if (parent == dir) return;
    if (other == core::kNoFile) other = parent;
  }
  if (other == core::kNoFile) other = inode.links.begin()->first;
  if (has_room_for_charge(inode, dir, other)) inode.charged_in = other;
}

void Twin::close(FileId id) {
  at(id).open = false;
  if (at(id).orphan()) inodes.erase(id);
}

void Twin::adopt(FileId placeholder, FileId real) {
  auto node = inodes.extract(placeholder);
  if (node.empty()) return;
  node.key() = real;
  node.mapped().id = real;
  const TwinInode& inode = node.mapped();
  if (inode.is_directory()) {
    for (auto& [stored, id] : at(inode.parent).names) {
      if (id == placeholder) id = real;
    }
    if (at(inode.parent).bin == placeholder) at(inode.parent).bin = real;
    for (const auto& [stored, id] : inode.names) {
      TwinInode& child = at(id);
      if (child.is_directory()) {
        child.parent = real;
        continue;
      }
      if (child.charged_in == placeholder) child.charged_in = real;
      child.links.erase({placeholder, stored});
      child.links.emplace(real, stored);
    }
  } else {
    for (const auto& [parent, stored] : inode.links) at(parent).names[stored] = real;
  }
  inodes.insert(std::move(node));
}

Verdict TwinNames::new_name(const Twin& twin, FileId parent, std::string_view name, const Credentials& cred,
                            bool directory, Stored* stored) {
  if (!twin.exists(parent)) return {.errors = {Errc::kStale}};
  const TwinInode& dir = twin.at(parent);
  if (!dir.is_directory()) return {.errors = {Errc::kNotDirectory}};
  Verdict verdict;
  if (denied(cred, dir, 3)) verdict.errors.push_back(Errc::kAccess);
  if (twin.recycled(parent)) verdict.errors.push_back(Errc::kReadOnly);
  for (const Errc error : name_errors(name)) verdict.errors.push_back(error);
  if (!verdict.errors.empty() && name.size() > core::kNameBytesMax) return verdict;
  const auto parsed = core::parse_posix_name(name);
  if (!parsed) return verdict;
  if (auto present = twin.find(dir, name)) {
    if (is_directory_form(*present)) present->pop_back();
    *stored = directory ? directory_form(*present) : *present;
    return verdict;
  }
  // These aliases name only existing files; no POSIX protocol can make their components.
  if (parsed->long_prefix || parsed->file_beside_directory) {
    verdict.errors.insert(verdict.errors.end(), {Errc::kInvalid, Errc::kNotFound});
    return verdict;
  }
  *stored = directory ? directory_form(parsed->raw) : parsed->raw;
  return verdict;
}

Verdict Twin::make(FileId parent, std::string_view name, TwinInode fresh, const Credentials& cred) {
  return within_quota([&](Twin& twin) {
    Stored stored;
    Verdict verdict = TwinNames::new_name(twin, parent, name, cred, fresh.is_directory(), &stored);
    if (twin.exists(parent) && twin.at(parent).is_directory() && twin.find(twin.at(parent), name)) {
      verdict.errors.push_back(Errc::kExists);
    }
    if (!verdict.ok()) return verdict;
    fresh.id = kPlaceholder;
    twin.insert(twin.at(parent), stored, twin.inodes[kPlaceholder] = std::move(fresh));
    verdict.touched[parent] = Touch::kContent;
    verdict.created = true;
    verdict.subject = kPlaceholder;
    return verdict;
  });
}

Verdict Twin::create(const core::CreateRequest& request, const Credentials& cred) {
  FileId found = core::kNoFile;
  const Verdict look = lookup(request.parent, request.name, cred, &found);
  if (look.ok()) {
    TwinInode& inode = at(found);
    if (request.mode == core::CreateMode::kGuarded) return {.errors = {Errc::kExists}};
    if (request.mode == core::CreateMode::kExclusive) {
      if (inode.type != FileType::kRegular || inode.verifier != request.verifier) return {.errors = {Errc::kExists}};
      return {.subject = found};
    }
    if (inode.type != FileType::kRegular) return {.errors = {Errc::kExists, Errc::kIsDirectory, Errc::kWrongType}};
    if (request.set.size && denied(cred, inode, 2)) return {.errors = {Errc::kAccess}};
    if (request.set.size && recycled(found)) return {.errors = {Errc::kReadOnly}};
    Verdict verdict{.subject = found};
    if (request.set.size == 0) {
      verdict.touched[found] = inode.size() == 0 ? Touch::kMaybe : Touch::kContent;
      inode.content.truncate(0);
      if (inode.meta && verdict.touched[found] == Touch::kContent) inode.meta->current = false;
    }
    return verdict;
  }
  TwinInode fresh;
  fresh.mode = request.set.mode.value_or(0);
  fresh.uid = request.set.uid.value_or(cred.uid);
  fresh.gid = request.set.gid.value_or(cred.gid);
  if (request.set.size) fresh.content.truncate(*request.set.size);
  if (request.mode == core::CreateMode::kExclusive) fresh.verifier = request.verifier;
  return make(request.parent, request.name, std::move(fresh), cred);
}

Verdict Twin::open(const core::OpenRequest& request, const Credentials& cred) {
  using core::OpenDisposition;
  FileId found = core::kNoFile;
  const Verdict look = lookup(request.parent, request.name, cred, &found);
  const bool create_allowed = request.disposition == OpenDisposition::kCreate ||
                              request.disposition == OpenDisposition::kOpenOrCreate ||
                              request.disposition == OpenDisposition::kOverwriteOrCreate;
  if (!look.ok()) {
    if (!create_allowed || !look.allows(Errc::kNotFound)) return look;
    TwinInode fresh;
    fresh.mode = request.set.mode.value_or(0);
    fresh.uid = request.set.uid.value_or(cred.uid);
    fresh.gid = request.set.gid.value_or(cred.gid);
    if (request.set.size) fresh.content.truncate(*request.set.size);
    return make(request.parent, request.name, std::move(fresh), cred);
  }
  if (request.disposition == OpenDisposition::kCreate) return {.errors = {Errc::kExists}};
  TwinInode& inode = at(found);
  // The contract is for files; other types of that name are refused.
  if (inode.is_directory()) return {.errors = {Errc::kIsDirectory, Errc::kExists}};
  const bool overwrite =
      request.disposition == OpenDisposition::kOverwrite || request.disposition == OpenDisposition::kOverwriteOrCreate;
  Verdict verdict{.subject = found};
  const bool writes = (request.access & core::kShareWrite) != 0 || overwrite;
  // Execute permission allows reading.
  const bool may_read = !denied(cred, inode, 4) || !denied(cred, inode, 1);
  if (((request.access & core::kShareRead) != 0 && !may_read) || (writes && denied(cred, inode, 2))) {
    verdict.errors.push_back(Errc::kAccess);
  }
  if (writes && recycled(found)) verdict.errors.push_back(Errc::kReadOnly);
  if (!verdict.ok() || !overwrite) return verdict;
  verdict.touched[found] = inode.size() == 0 ? Touch::kMaybe : Touch::kContent;
  if (inode.meta && inode.size() != 0) inode.meta->current = false;
  inode.content.truncate(0);
  return verdict;
}

Verdict Twin::link(const core::LinkRequest& request, const Credentials& cred) {
  Stored stored;
  if (!exists(request.id)) return {.errors = {Errc::kStale}};
  Verdict verdict = TwinNames::new_name(*this, request.parent, request.name, cred, false, &stored);
  if (exists(request.parent) && at(request.parent).is_directory() && find(at(request.parent), request.name)) {
    verdict.errors.push_back(Errc::kExists);
  }
  if (at(request.id).is_directory()) {
    verdict.errors.insert(verdict.errors.end(), {Errc::kIsDirectory, Errc::kAccess, Errc::kInvalid, Errc::kWrongType});
  }
  if (recycled(request.id)) verdict.errors.push_back(Errc::kReadOnly);
  if (at(request.id).orphan()) verdict.errors.push_back(Errc::kNotFound);
  if (!verdict.ok()) return verdict;
  insert(at(request.parent), stored, at(request.id));
  verdict.touched[request.parent] = Touch::kContent;
  verdict.touched[request.id] = Touch::kAttributes;
  verdict.subject = request.id;
  verdict.created = true;
  return verdict;
}

namespace {

bool sticky_denies(const Credentials& cred, const TwinInode& dir, const TwinInode& victim) {
  return !cred.is_superuser() && (dir.mode & 01000) != 0 && cred.uid != dir.uid && cred.uid != victim.uid;
}

}  // namespace

Verdict Twin::unlink(FileId parent, std::string_view name, const Credentials& cred) {
  FileId found = core::kNoFile;
  Verdict verdict = lookup(parent, name, cred, &found);
  if (exists(parent) && at(parent).is_directory() && denied(cred, at(parent), 3))
    verdict.errors.push_back(Errc::kAccess);
  if (found == core::kNoFile) return verdict;
  if (at(found).is_directory()) verdict.errors.push_back(Errc::kIsDirectory);
  if (sticky_denies(cred, at(parent), at(found))) verdict.errors.push_back(Errc::kAccess);
  if (recycled(parent)) verdict.errors.push_back(Errc::kReadOnly);
  if (!verdict.ok()) return verdict;
  remove_name(parent, *find(at(parent), name), verdict);
  verdict.subject = found;
  return verdict;
}

Verdict Twin::rmdir(FileId parent, std::string_view name, const Credentials& cred) {
  FileId found = core::kNoFile;
  Verdict verdict = lookup(parent, name, cred, &found);
  if (exists(parent) && at(parent).is_directory() && denied(cred, at(parent), 3))
    verdict.errors.push_back(Errc::kAccess);
  if (found == core::kNoFile) return verdict;
  if (!at(found).is_directory()) verdict.errors.push_back(Errc::kNotDirectory);
  if (sticky_denies(cred, at(parent), at(found))) verdict.errors.push_back(Errc::kAccess);
  if (at(found).is_directory() && !(empty_for_posix(at(found)) && can_go(parent, at(found)))) {
    verdict.errors.push_back(Errc::kNotEmpty);
  }
  if (recycled(parent)) verdict.errors.push_back(Errc::kReadOnly);
  if (!verdict.ok()) return verdict;
  remove_name(parent, *find(at(parent), name), verdict);
  verdict.subject = found;
  return verdict;
}

Verdict Twin::rename(const core::RenameRequest& request, const Credentials& cred) {
  return within_quota([&](Twin& twin) {
    FileId moved = core::kNoFile;
    Verdict verdict = twin.lookup(request.from_parent, request.from_name, cred, &moved);
    for (const FileId dir : {request.from_parent, request.to_parent}) {
      if (!twin.exists(dir)) {
        verdict.errors.push_back(Errc::kStale);
      } else if (!twin.at(dir).is_directory()) {
        verdict.errors.push_back(Errc::kNotDirectory);
      } else if (denied(cred, twin.at(dir), 3)) {
        verdict.errors.push_back(Errc::kAccess);
      }
    }
    if (moved == core::kNoFile) {
      for (const Errc error : name_errors(request.to_name)) verdict.errors.push_back(error);
      return verdict;
    }
    if (twin.exists(request.from_parent) && twin.recycled(request.from_parent)) {
      // A move out of a user's bin restores.
      for (const auto& [serial, item] : twin.items) {
        const TwinInode& bin = twin.at(item.bin);
        if (!verdict.ok() || bin.names.empty() || bin.names.begin()->second != request.from_parent) continue;
        const TwinInode& user_bin = twin.at(request.from_parent);
        if (user_bin.names.at(item.stored) != moved || twin.shown(user_bin, item.stored) != request.from_name) continue;
        if (request.to_name.empty()) return Verdict{.errors = {Errc::kInvalid, Errc::kReadOnly}};
        return twin.restore(serial, request.to_parent, request.to_name, cred);
      }
      verdict.errors.push_back(Errc::kReadOnly);
    }
    if (sticky_denies(cred, twin.at(request.from_parent), twin.at(moved))) verdict.errors.push_back(Errc::kAccess);
    Stored stored;
    const bool directory = twin.at(moved).is_directory();
    const Verdict name = TwinNames::new_name(twin, request.to_parent, request.to_name, cred, directory, &stored);
    verdict.errors.insert(verdict.errors.end(), name.errors.begin(), name.errors.end());
    if (directory && twin.exists(request.to_parent) && twin.is_below(request.to_parent, moved)) {
      verdict.errors.push_back(Errc::kInvalid);
    }
    const bool moves = directory && request.from_parent != request.to_parent;
    if (moves && (twin.is_of_upload(moved) || twin.is_of_upload(request.to_parent)))
      verdict.errors.push_back(Errc::kInvalid);
    std::optional<Stored> present;
    if (twin.exists(request.to_parent)) present = twin.find(twin.at(request.to_parent), request.to_name);
    if (present) {
      const TwinInode& target = twin.at(twin.at(request.to_parent).names.at(*present));
      if (request.no_replace) verdict.errors.push_back(Errc::kExists);
      if (sticky_denies(cred, twin.at(request.to_parent), target)) verdict.errors.push_back(Errc::kAccess);
      if (target.id == moved) std::erase(verdict.errors, Errc::kReadOnly);  // no change
      if (target.id == moved && verdict.ok()) return Verdict{.touched = {}, .subject = moved};
      if (directory && !target.is_directory()) {
        verdict.errors.insert(verdict.errors.end(), {Errc::kNotDirectory, Errc::kExists});
      }
      if (!directory && target.is_directory()) {
        verdict.errors.insert(verdict.errors.end(), {Errc::kIsDirectory, Errc::kExists});
      }
      // It may be the directory whose empty bin this is renamed out of, which goes first.
      if (target.bin != core::kNoFile &&
          (request.from_parent == target.bin || twin.at(request.from_parent).parent == target.bin)) {
        verdict.errors.push_back(Errc::kStale);
      }
      if (directory && target.is_directory() &&
          !(twin.empty_for_posix(target) && twin.can_go(request.to_parent, target))) {
        verdict.errors.insert(verdict.errors.end(), {Errc::kNotEmpty, Errc::kExists});
      }
      if (verdict.ok()) {
        twin.remove_name(request.to_parent, *present, verdict);
      }
    }
    if (!verdict.ok()) return verdict;
    TwinInode& inode = twin.at(moved);
    const Stored from = *twin.find(twin.at(request.from_parent), request.from_name);
    twin.at(request.from_parent).names.erase(from);
    twin.at(request.to_parent).names[stored] = moved;
    if (directory) {
      inode.parent = request.to_parent;
    } else {
      inode.links.erase({request.from_parent, from});
      inode.links.emplace(request.to_parent, stored);
      // The charge follows a name in the file's home.
      if (inode.charged_in == request.from_parent) inode.charged_in = request.to_parent;
    }
    verdict.touched[request.from_parent] = Touch::kContent;
    verdict.touched[request.to_parent] = Touch::kContent;
    verdict.touched[moved] = Touch::kMaybe;  // POSIX leaves open whether rename marks the file's ctime.
    verdict.subject = moved;
    return verdict;
  });
}

}  // namespace stoa::model
