#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <memory>
#include <vector>

#include "bench/load/die.h"
#include "bench/load/posix_files.h"

namespace stoa::bench {
namespace {

using Stream = std::unique_ptr<DIR, decltype([](DIR* dir) { ::closedir(dir); })>;

// The attributes of all entries of one directory, in the order in which they are listed. Subdirectories are appended
// to `below`. Returns the number of files.
std::expected<std::uint64_t, std::string> look_at(const std::string& path, std::vector<std::string>& below) {
  const Stream dir(::opendir(path.c_str()));
  if (!dir) return failed_call("opendir");
  std::uint64_t files = 0;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) {
      if (errno != 0) return failed_call("readdir");
      return files;
    }
    if (entry->d_name[0] == '.') continue;
    struct stat found{};
    if (::fstatat(::dirfd(dir.get()), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) return failed_call("fstatat");
    if (S_ISDIR(found.st_mode)) {
      below.push_back(path + "/" + entry->d_name);
    } else {
      ++files;
    }
  }
}

std::string root_of(const PosixOptions& options) {
  return options.tree.empty() ? options.directory : options.directory + "/" + options.tree;
}

// One operation is a file; the time of each is that of its directory.
void look_at_all(const PosixOptions& options, std::vector<std::string> directories, Outcome& outcome) {
  std::uint64_t files = 0;
  run_threads(
      {.calls = 1},
      [&](unsigned, std::uint64_t) -> Tried {
        while (!directories.empty()) {
          const std::string path = std::move(directories.back());
          directories.pop_back();
          const auto found = look_at(path, directories);
          if (!found) return std::unexpected(found.error());
          files += *found;
        }
        if (files != options.files) {
          return std::unexpected("found " + std::to_string(files) + " of " + std::to_string(options.files));
        }
        return Finished{.operations = files};
      },
      outcome);
}

}  // namespace

void list_long(const PosixOptions& options, Outcome& outcome) {
  std::vector<std::string> directories;
  if (const auto found = look_at(root_of(options), directories); !found) die(found.error());
  outcome.begin();
  look_at_all(options, std::move(directories), outcome);
  outcome.end();
}

void walk(const PosixOptions& options, Outcome& outcome) {
  outcome.begin();
  look_at_all(options, {root_of(options)}, outcome);
  outcome.end();
}

void walk_once(const PosixOptions& options) {
  Outcome outcome;
  walk(options, outcome);
  must_succeed(outcome, "walk");
}

}  // namespace stoa::bench
