#include <span>

#include "tests/model/twin.h"

namespace stoa::model {
namespace {

// "a//b" is the directories "a/" and "/" and the file "b"; "a/" is the file "" in "a/".
std::vector<std::string> components(std::string_view key) {
  std::vector<std::string> out;
  for (;;) {
    const auto slash = key.find('/');
    out.emplace_back(key.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    key.remove_prefix(slash + 1);
  }
}

TwinItem key_origin(FileId root, std::span<const std::string> directories) {
  TwinItem origin{.base = root, .by_key = true};
  for (const std::string& directory : directories) origin.below += directory + "/";
  return origin;
}

}  // namespace

// New directories are numbered down from the placeholder of the file; the driver learns them.
FileId Twin::make_implicit(FileId root, const std::vector<std::string>& directories, Verdict& verdict) {
  FileId dir = root;
  std::uint64_t placeholder = static_cast<std::uint64_t>(kPlaceholder);
  for (const std::string& name : directories) {
    TwinInode& parent = at(dir);
    const auto it = parent.names.find(name + "/");
    if (it != parent.names.end()) {
      dir = it->second;
      continue;
    }
    TwinInode fresh;
    fresh.id = FileId{--placeholder};
    fresh.type = FileType::kDirectory;
    fresh.implied = true;
    verdict.touched[dir] = Touch::kContent;
    dir = fresh.id;
    insert(parent, name + "/", inodes[fresh.id] = fresh);
  }
  return dir;
}

FileId Twin::find_key(FileId root, std::string_view key) const {
  const auto parts = components(key);
  FileId dir = root;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto it = at(dir).names.find(parts[i] + "/");
    if (it == at(dir).names.end()) return core::kNoFile;
    dir = it->second;
  }
  const auto it = at(dir).names.find(parts.back());
  return it == at(dir).names.end() ? core::kNoFile : it->second;
}

Verdict Twin::put_key(FileId root, std::string_view key, const TwinContent& content, std::string_view meta,
                      std::uint32_t mode, const std::optional<core::ObjectExpectation>& expect,
                      const std::optional<core::ObjectVersion>& present, FileId charged_to) {
  return within_quota([&](Twin& twin) {
    Verdict verdict = twin.place_key(root, key, content, meta, mode, expect, present);
    if (verdict.ok() && charged_to != core::kNoFile)
      twin.at(twin.at(root).names.at(components(key).front() + "/")).charged_to = charged_to;
    return verdict;
  });
}

Verdict Twin::place_key(FileId root, std::string_view key, const TwinContent& content, std::string_view meta,
                        std::uint32_t mode, const std::optional<core::ObjectExpectation>& expect,
                        const std::optional<core::ObjectVersion>& present) {
  if (!exists(root)) return {.errors = {Errc::kStale}};
  if (!at(root).is_directory()) return {.errors = {Errc::kNotDirectory}};
  if (key.empty() || key.size() > core::kKeyBytesMax)
    return {.errors = {Errc::kInvalid, Errc::kNameTooLong, Errc::kTooLarge}};
  Verdict verdict;
  const FileId old = find_key(root, key);
  const bool is_file = old != core::kNoFile && at(old).type == FileType::kRegular;
  if (expect && expect->must_not_exist && is_file) verdict.errors.push_back(Errc::kPreconditionFailed);
  if (expect && expect->version && (!is_file || expect->version != present)) {
    // The directories of the key are made first, and may be refused first.
    verdict.errors.insert(verdict.errors.end(), {Errc::kPreconditionFailed, Errc::kNotFound, Errc::kQuota});
  }
  if (recycled(root)) verdict.errors.push_back(Errc::kReadOnly);
  if (!verdict.ok()) return verdict;
  auto parts = components(key);
  const Stored last = parts.back();
  parts.pop_back();
  const FileId dir = make_implicit(root, parts, verdict);
  const TwinItem origin = key_origin(root, parts);
  if (is_file) keep_content(dir, last, origin);
  if (!is_file) {
    // A symlink or device of that name makes room, as it would for a rename.
    if (old != core::kNoFile) remove_name(dir, last, verdict, origin);
    TwinInode fresh;
    fresh.id = kPlaceholder;
    fresh.mode = mode;
    insert(at(dir), last, inodes[kPlaceholder] = fresh);
    verdict.touched[dir] = Touch::kContent;
    verdict.created = true;
    verdict.subject = kPlaceholder;
  } else {
    verdict.touched[old] = Touch::kContent;
    verdict.subject = old;
  }
  TwinInode& inode = at(verdict.subject);
  inode.content = content;
  inode.meta = TwinMeta{.bytes = std::string(meta)};
  return verdict;
}

Verdict Twin::remove_key(FileId root, std::string_view key, bool* removed) {
  if (!exists(root)) return {.errors = {Errc::kStale, Errc::kInvalid}};
  if (!at(root).is_directory()) return {.errors = {Errc::kNotDirectory, Errc::kInvalid}};
  if (key.empty()) return {.errors = {Errc::kInvalid}};
  const FileId id = find_key(root, key);
  *removed = id != core::kNoFile && at(id).type == FileType::kRegular;
  Verdict verdict{.subject = id};
  if (!*removed) return verdict;
  const auto parts = components(key);
  std::vector<FileId> path{root};
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) path.push_back(at(path.back()).names.at(parts[i] + "/"));
  if (recycled(path.back())) return {.errors = {Errc::kReadOnly}};
  remove_name(path.back(), parts.back(), verdict, key_origin(root, std::span(parts).first(parts.size() - 1)));
  // Directories that only keys implied go with the last key below them, but for those that have a recycle bin.
  while (path.size() > 1 && at(path.back()).implied && at(path.back()).names.empty() &&
         at(path.back()).bin == core::kNoFile) {
    const FileId gone = path.back();
    path.pop_back();
    drop_link(path.back(), parts[path.size() - 1] + "/", verdict);
    verdict.touched.erase(gone);
  }
  return verdict;
}

Verdict Twin::concatenate(const core::ConcatenateRequest& request, const std::optional<core::ObjectVersion>& present) {
  TwinContent joined;
  for (const core::ConcatenatePart& part : request.parts) {
    if (!exists(part.id)) return {.errors = {Errc::kStale, Errc::kNotFound}};
    if (at(part.id).type != FileType::kRegular)
      return {.errors = {Errc::kWrongType, Errc::kIsDirectory, Errc::kInvalid}};
    const TwinContent& content = at(part.id).content;
    const std::uint64_t length = part.length.value_or(content.size() - part.offset);
    if (part.offset + length > content.size()) return {.errors = {Errc::kInvalid}};
    const std::uint64_t base = joined.size();
    for (const auto& [offset, count] : content.ranges()) {
      const std::uint64_t begin = std::max(offset, part.offset);
      const std::uint64_t end = std::min(offset + count, part.offset + length);
      if (begin < end) joined.write(base + begin - part.offset, content.read(begin, end - begin));
    }
    joined.truncate(base + length);
  }
  // The directories come first, each for itself; then, room freed by the parts is there for the object.
  auto directories = components(request.key);
  directories.pop_back();
  Twin probe = *this;
  const bool room = probe
                        .within_quota([&](Twin& twin) {
                          Verdict made;
                          twin.make_implicit(request.root, directories, made);
                          return made;
                        })
                        .ok();
  const Twin saved = *this;
  Verdict verdict = within_quota([&](Twin& twin) {
    Verdict consumed;
    if (request.consume_dir != core::kNoFile) twin.consume(request.consume_dir, consumed);
    Verdict verdict =
        twin.place_key(request.root, request.key, joined, request.meta, request.mode, request.expect, present);
    verdict.touched.merge(consumed.touched);
    return verdict;
  });
  if (!room) verdict.errors.push_back(Errc::kQuota);
  if (!verdict.ok()) *this = saved;
  return verdict;
}

void Twin::consume(FileId dir, Verdict& verdict) {
  while (!at(dir).names.empty()) {
    const Stored stored = at(dir).names.begin()->first;
    const FileId id = at(dir).names.begin()->second;
    drop_link(dir, stored, verdict);
    if (!exists(id)) verdict.touched.erase(id);
  }
  const FileId parent = at(dir).parent;
  for (const auto& [stored, id] : std::map(at(parent).names)) {
    if (id == dir) drop_link(parent, stored, verdict);
  }
  verdict.touched.erase(dir);
}

void Twin::collect(FileId dir, const std::string& path, bool directories, std::map<std::string, FileId>& keys) const {
  for (const auto& [stored, id] : at(dir).names) {
    const TwinInode& inode = at(id);
    if (inode.is_directory()) {
      if (directories) keys.try_emplace(path + stored, core::kNoFile);
      collect(id, path + stored, directories, keys);
    } else if (inode.type == FileType::kRegular) {
      keys[path + stored] = id;
    }
  }
}

std::vector<Twin::KeyOrPrefix> Twin::list(FileId root, std::string_view prefix, std::string_view delimiter) const {
  std::map<std::string, FileId> keys;
  collect(root, "", delimiter == "/", keys);
  std::vector<KeyOrPrefix> out;
  for (const auto& [key, id] : keys) {
    if (!key.starts_with(prefix)) continue;
    const auto cut = delimiter.empty() ? std::string::npos : key.find(delimiter, prefix.size());
    if (cut == std::string::npos) {
      if (id != core::kNoFile) out.push_back({key, id});
      continue;
    }
    const std::string rolled = key.substr(0, cut + delimiter.size());
    if (out.empty() || out.back().id != core::kNoFile || out.back().text != rolled)
      out.push_back({rolled, core::kNoFile});
  }
  return out;
}

}  // namespace stoa::model
