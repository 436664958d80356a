#include "frontends/admin/new_directory.h"

#include <ranges>

namespace stoa::admin {

NewDirectory::~NewDirectory() {
  for (const auto& [parent, name] : made_ | std::views::reverse) {
    // The directory may have got entries since: then it stays.
    if (!ns_.rmdir(ctx_, {.parent = parent, .name = name})) return;
  }
}

Result<core::FileId> NewDirectory::find_or_make(const std::string& path, const Wanted& wanted) {
  auto resolved = ns_.resolve_path(ctx_, {.path = path});
  if (resolved) {
    if (resolved->attr.type == core::FileType::kDirectory) return resolved->attr.id;
    return fail(Cause::kPathNotDirectory, path);
  }
  if (resolved.error().code != Errc::kNotFound) return fail(std::move(resolved).error());
  if (!wanted.create) {
    return fail(Cause::kDirectoryUnknown, path);
  }
  core::FileId at = core::kRootId;
  std::string_view rest = path;
  while (true) {
    while (rest.starts_with('/')) rest.remove_prefix(1);
    if (rest.empty()) return at;
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(name.size());
    const bool last = rest.find_first_not_of('/') == std::string_view::npos;
    core::SetAttributes set{};
    set.mode = last ? wanted.mode : 0755;
    if (last) {
      set.uid = wanted.uid;
      set.gid = wanted.gid;
    }
    auto made = ns_.mkdir(ctx_, {.parent = at, .name = name, .set = set});
    if (made) {
      made_.emplace_back(at, name);
      at = made->attr.id;
      continue;
    }
    if (made.error().code != Errc::kExists) return fail(std::move(made).error());
    STOA_TRY(existing, ns_.lookup(ctx_, {.parent = at, .name = name}));
    if (existing.attr.type != core::FileType::kDirectory) return fail(Cause::kPathThroughFile, path);
    at = existing.attr.id;
  }
}

}  // namespace stoa::admin
