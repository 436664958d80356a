#include "frontends/native/lib/paths.h"

#include <cerrno>

namespace stoa::native::lib {
namespace {

// Takes the first name off a path that does not begin with a slash.
std::string_view first_name(std::string_view& path) {
  const std::size_t end = path.find('/');
  const std::string_view name = path.substr(0, end);
  path.remove_prefix(name.size());
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return name;
}

class Walk {
 public:
  Walk(LibraryFileSystem& fs, core::FileId start) : fs_(fs), at_(start) {}

  // Resolves all but the last name of the path.
  Result<Place> to_place(std::string path) {
    std::string_view left = begin(path);
    while (!left.empty()) {
      const bool slash_behind = left.find('/') != left.npos;
      const std::string_view name = first_name(left);
      if (name == "." || name == "..") {
        STOA_CHECK_OK(step_dots(name));
        continue;
      }
      if (left.empty()) return Place{.parent = at_, .name = std::string(name), .must_be_directory = slash_behind};
      STOA_TRY(found, fs_.storage().lookup(fs_.asker(), at_, name));
      if (found.type == core::FileType::kSymlink) {
        STOA_TRY(target, target_of(found.id));
        path = target + "/" + std::string(left);
        left = begin(path);
        continue;
      }
      if (found.type != core::FileType::kDirectory) return fail(Errc::kNotDirectory);
      at_ = found.id;
    }
    return Place{.parent = at_, .must_be_directory = true};
  }

  Result<std::string> target_of(core::FileId link) {
    if (++links_ > kLinksFollowedMax) return fail_errno(ELOOP, "symbolic links");
    STOA_TRY(target, fs_.storage().readlink(fs_.asker(), link));
    if (target.empty()) return fail(Errc::kNotFound);
    return std::move(target);
  }
  void go_to(core::FileId directory) { at_ = directory; }

 private:
  std::string_view begin(std::string_view path) {
    if (path.starts_with('/')) at_ = fs_.storage().root();
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    return path;
  }
  // Also "." asks the server: the caller has to be allowed to search the directory, and it has to be one.
  Status step_dots(std::string_view name) {
    if (name == ".." && at_ == fs_.storage().root()) name = ".";
    STOA_TRY(found, fs_.storage().lookup(fs_.asker(), at_, name));
    at_ = found.id;
    return {};
  }

  LibraryFileSystem& fs_;
  core::FileId at_;
  int links_ = 0;
};

Result<std::string> checked(const char* path) {
  if (path == nullptr) return fail_errno(EFAULT, "no path");
  std::string text = path;
  if (text.empty()) return fail(Errc::kNotFound);
  if (text.size() > kPathBytesMax) return fail(Errc::kNameTooLong);
  return text;
}

core::FileId beginning(LibraryFileSystem& fs, const stoa_dir* at) {
  return at == nullptr ? fs.storage().root() : at->id;
}

// The file at a place; links at its end lead on.
Result<core::Attributes> follow_to_end(LibraryFileSystem& fs, Walk& walk, Place place, bool follow) {
  for (;;) {
    if (place.name.empty()) return fs.storage().getattr(fs.asker(), place.parent);
    STOA_TRY(found, fs.storage().lookup(fs.asker(), place.parent, place.name));
    const bool leads_on = found.type == core::FileType::kSymlink && (follow || place.must_be_directory);
    if (!leads_on) {
      if (place.must_be_directory && found.type != core::FileType::kDirectory) return fail(Errc::kNotDirectory);
      return std::move(found);
    }
    STOA_TRY(target, walk.target_of(found.id));
    walk.go_to(place.parent);
    const bool must_be_directory = place.must_be_directory;
    STOA_TRY(next, walk.to_place(std::move(target)));
    place = std::move(next);
    place.must_be_directory |= must_be_directory;
  }
}

}  // namespace

Result<Place> find_place(LibraryFileSystem& fs, const stoa_dir* at, const char* path) {
  STOA_TRY(text, checked(path));
  return Walk(fs, beginning(fs, at)).to_place(std::move(text));
}

Result<core::Attributes> find_file(LibraryFileSystem& fs, const stoa_dir* at, const char* path, bool follow) {
  STOA_TRY(text, checked(path));
  Walk walk(fs, beginning(fs, at));
  STOA_TRY(place, walk.to_place(std::move(text)));
  return follow_to_end(fs, walk, std::move(place), follow);
}

Result<core::Attributes> find_in(LibraryFileSystem& fs, const Place& place, bool follow) {
  Walk walk(fs, place.parent);
  return follow_to_end(fs, walk, place, follow);
}

Result<Place> behind_link(LibraryFileSystem& fs, const Place& place, core::FileId link) {
  Walk walk(fs, place.parent);
  STOA_TRY(target, walk.target_of(link));
  return walk.to_place(std::move(target));
}

Result<Place> find_name(LibraryFileSystem& fs, const stoa_dir* at, const char* path, Error taken) {
  STOA_TRY(place, find_place(fs, at, path));
  if (place.name.empty()) return fail(std::move(taken));
  return std::move(place);
}

}  // namespace stoa::native::lib
