#include "core/journal/path_resolver.h"

#include <ranges>

#include "core/inode/posix_name.h"

namespace stoa::core {
namespace {

// Deeper than any real tree: a cycle would be damage, and must not hang a reader.
constexpr int kDepthMax = 100'000;

bool is_root(FileId id) {
  return id == kRootId || id == kMultipartId;
}

}  // namespace

void PathResolver::look_ahead(std::span<const JournalRecord> records) {
  if (places_.size() > most_) places_.clear();
  if (directories_.size() > most_) directories_.clear();
  for (const JournalRecord& record : records) {
    const bool goes = record.kind == ChangeKind::kRemove || record.kind == ChangeKind::kRename;
    // The first that tells of the file knows where it is until then.
    if (goes && !record.result) places_.try_emplace(record.id, Place{record.parent, record.name});
  }
}

Result<std::optional<Place>> PathResolver::find(FileId id) {
  if (const auto known = places_.find(id); known != places_.end()) return known->second;
  STOA_TRY(place, journal_.place_of(id));
  if (place) places_.emplace(id, *place);
  return std::move(place);
}

Result<std::shared_ptr<const ResolvedPath>> PathResolver::directory(FileId id) {
  if (const auto known = directories_.find(id); known != directories_.end()) return known->second;
  std::vector<std::pair<FileId, std::string>> up;
  auto where = std::make_shared<ResolvedPath>();
  FileId at = id;
  for (int depth = 0; !is_root(at); ++depth) {
    STOA_TRY(place, find(at));
    if (!place || depth == kDepthMax) {
      where->known = false;
      where->path = "(directory " + std::to_string(static_cast<std::uint64_t>(at)) + ", gone)";
      break;
    }
    up.emplace_back(at, posix_name_of(place->name, false));
    at = place->parent;
  }
  if (at == kMultipartId) where->path = "(multipart uploads)";
  where->directories.push_back(at);
  for (const auto& [step, name] : std::views::reverse(up)) {
    where->directories.push_back(step);
    where->path.append("/").append(name);
  }
  // A place unknown now may be known later.
  if (where->known) directories_.emplace(id, where);
  return std::shared_ptr<const ResolvedPath>(std::move(where));
}

Result<ResolvedPath> PathResolver::named(FileId parent, std::string_view name, FileId id) {
  STOA_TRY(above, directory(parent));
  ResolvedPath where;
  where.path.reserve(above->path.size() + 1 + name.size());
  where.path = above->path;
  where.directories.reserve(above->directories.size() + 1);
  where.directories = above->directories;
  where.known = above->known;
  // The name in a record of a request may be a whole key.
  while (name.contains('/')) {
    where.path.append("/").append(posix_name_of(name.substr(0, name.find('/')), false));
    name.remove_prefix(name.find('/') + 1);
  }
  where.path.append("/").append(posix_name_of(name, false));
  if (id != kNoFile) where.directories.push_back(id);
  return where;
}

Result<ResolvedPath> PathResolver::of(const JournalRecord& record) {
  if (record.parent != kNoFile) return named(record.parent, record.name, record.id);
  if (is_root(record.id) || record.kind == ChangeKind::kAdmin || record.kind == ChangeKind::kRefused) {
    STOA_TRY(above, directory(record.id));
    ResolvedPath where = *above;
    if (where.path.empty()) where.path = "/";
    return where;
  }
  STOA_TRY(place, find(record.id));
  if (place) return named(place->parent, place->name, record.id);
  return ResolvedPath{.path = "(file " + std::to_string(static_cast<std::uint64_t>(record.id)) + ", gone)",
                      .directories = {record.id},
                      .known = false};
}

Result<ResolvedPath> PathResolver::target_of(const JournalRecord& record) {
  return named(record.to_parent, record.to_name, record.id);
}

void PathResolver::apply(const JournalRecord& record) {
  if (!record.is_change()) return;
  const bool directory = record.type == FileType::kDirectory;
  switch (record.kind) {
    case ChangeKind::kCreate:
      places_.insert_or_assign(record.id, Place{record.parent, record.name});
      break;
    case ChangeKind::kLink:
      places_.try_emplace(record.id, Place{record.parent, record.name});
      break;  // it keeps its first name
    case ChangeKind::kRename:
      places_.insert_or_assign(record.id, Place{record.to_parent, record.to_name});
      if (directory) directories_.clear();
      break;
    case ChangeKind::kRemove:
      if (const auto known = places_.find(record.id);
          known != places_.end() && known->second == Place{record.parent, record.name})
        places_.erase(known);
      if (directory) directories_.clear();
      break;
    case ChangeKind::kRestore:
    case ChangeKind::kPurge:
      // Its cached place is no longer valid.
      places_.erase(record.id);
      directories_.clear();
      break;
    default:
      break;
  }
}

}  // namespace stoa::core
