// null_fuse: a FUSE mount of a tree that is made up on the spot, for the kernel's own limit. Names, attributes and
// pages are kept for an hour; files hold zeros. Read-only. It serves until it is unmounted.
//
// DIR/d00000/f00000000: `--files` files in all, `--per-directory` of them in each directory.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>

#include "bench/load/die.h"
#include "frontends/native/fuse/device.h"
#include "frontends/native/fuse/mount_point.h"

namespace stoa::bench {
namespace {

using native::fuse::Call;
using native::fuse::Entry;
using native::fuse::Opened;
using native::fuse::OpenFile;

constexpr std::chrono::hours kKept{1};
constexpr native::fuse::Validity kAlways{.entry = kKept, .attr = kKept};
constexpr std::uint64_t kFirstDirectory = 2;
constexpr std::size_t kDirectoryDigits = 5;
constexpr std::size_t kFileDigits = 8;

std::string numbered(char letter, std::uint64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return letter + std::string(digits - std::min(digits, text.size()), '0') + text;
}

// The number of such a name, if it is one below `end`.
std::optional<std::uint64_t> number_of(std::string_view name, char letter, std::size_t digits, std::uint64_t end) {
  std::uint64_t number = 0;
  if (name.size() != digits + 1 || name[0] != letter) return std::nullopt;
  const auto read = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (read.ptr != name.data() + name.size() || number >= end) return std::nullopt;
  return number;
}

class MadeUpTree : public native::fuse::FileSystem {
 public:
  MadeUpTree(std::uint64_t files, std::uint64_t per_directory, std::uint64_t bytes)
      : files_(files),
        per_directory_(per_directory),
        bytes_(bytes),
        directories_((files + per_directory - 1) / per_directory) {}

  core::FileId root() const override { return core::FileId{1}; }
  Result<Entry> lookup(const Call&, core::FileId parent, std::string_view name) override {
    const auto [first, end] = children(parent);
    const auto found = parent == root() ? number_of(name, 'd', kDirectoryDigits, directories_)
                                        : number_of(name, 'f', kFileDigits, files_);
    if (!found || child_id(parent, *found) < first || child_id(parent, *found) >= end) {
      return Entry{.attr = {.id = core::kNoFile}, .valid = kAlways};
    }
    return Entry{.attr = attributes(core::FileId{child_id(parent, *found)}), .valid = kAlways};
  }
  Result<native::fuse::TimedAttributes> getattr(const Call&, const OpenFile& file) override {
    return native::fuse::TimedAttributes{.attr = attributes(file.id), .valid = kKept};
  }
  Status access(const Call&, core::FileId, std::uint32_t) override { return {}; }
  Result<Opened> open(const Call&, core::FileId, std::uint32_t) override {
    return Opened{.handle = native::fuse::Handle{1}, .keep_cache = true, .no_flush = true};
  }
  Result<Opened> opendir(const Call&, core::FileId) override {
    return Opened{.handle = native::fuse::Handle{1}, .keep_cache = true};
  }
  Result<std::size_t> read(const Call&, const OpenFile&, std::uint64_t offset, std::span<std::byte> into) override {
    const std::uint64_t left = offset < bytes_ ? bytes_ - offset : 0;
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(left, into.size()));
    std::fill_n(into.begin(), length, std::byte{0});
    return length;
  }
  // A cookie is the number of entries before the next one.
  Status readdir(const Call&, const OpenFile& dir, std::uint64_t cookie, bool attributes_too,
                 native::fuse::EntrySink& sink) override {
    const auto [first, end] = children(dir.id);
    for (std::uint64_t id = first + cookie; id < end; ++id) {
      core::DirectoryEntry entry;
      entry.id = core::FileId{id};
      entry.name = name_of(id);
      entry.cookie = id - first + 1;
      entry.type = attributes(entry.id).type;
      if (attributes_too) entry.attr = attributes(entry.id);
      if (!sink.add(entry, kAlways)) break;
    }
    return {};
  }
  Result<core::StatfsReply> statfs(const Call&, core::FileId) override { return core::StatfsReply{}; }
  void release(const Call&, const OpenFile&, std::optional<std::uint64_t>) override {}
  void releasedir(const Call&, const OpenFile&) override {}
  Status flush(const Call&, const OpenFile&, std::uint64_t) override { return {}; }
  Status fsync(const Call&, const OpenFile&) override { return {}; }
  Result<std::uint64_t> seek(const Call&, const OpenFile&, std::uint64_t, core::SeekWhat) override { return refused(); }
  Result<std::string> readlink(const Call&, core::FileId) override { return refused(); }
  Result<std::string> get_xattr(const Call&, core::FileId, std::string_view) override {
    return fail(Errc::kNotSupported);
  }
  Result<std::vector<std::string>> list_xattrs(const Call&, core::FileId) override {
    return std::vector<std::string>{};
  }
  Result<std::optional<native::fuse::LockCall>> get_lock(const Call&, const native::fuse::LockCall&) override {
    return refused();
  }
  Result<bool> set_lock(const Call&, const native::fuse::LockCall&, bool) override { return refused(); }
  Status unlock(const Call&, const native::fuse::LockCall&) override { return {}; }

  // --- changes
  Result<native::fuse::TimedAttributes> setattr(const Call&, const OpenFile&, const core::SetAttributes&) override {
    return refused();
  }
  Result<Entry> mknod(const Call&, const native::fuse::NewName&, core::FileType, core::DeviceNumber) override {
    return refused();
  }
  Result<Entry> mkdir(const Call&, const native::fuse::NewName&) override { return refused(); }
  Result<Entry> symlink(const Call&, const native::fuse::NewName&, std::string_view) override { return refused(); }
  Result<Entry> link(const Call&, core::FileId, const native::fuse::NewName&) override { return refused(); }
  Status unlink(const Call&, core::FileId, std::string_view) override { return refused(); }
  Status rmdir(const Call&, core::FileId, std::string_view) override { return refused(); }
  Status rename(const Call&, const native::fuse::RenameCall&) override { return refused(); }
  Result<native::fuse::Created> create(const Call&, const native::fuse::NewName&, std::uint32_t) override {
    return refused();
  }
  Result<native::fuse::Created> create_nameless(const Call&, const native::fuse::NewName&, std::uint32_t) override {
    return refused();
  }
  Result<std::size_t> write(const Call&, const native::fuse::WriteCall&) override { return refused(); }
  Status allocate(const Call&, const OpenFile&, std::uint64_t, std::uint64_t, std::uint32_t) override {
    return refused();
  }
  Result<std::uint64_t> copy_range(const Call&, const native::fuse::CopyCall&) override { return refused(); }
  Status set_xattr(const Call&, core::FileId, std::string_view, std::string_view, core::XattrMode) override {
    return refused();
  }
  Status remove_xattr(const Call&, core::FileId, std::string_view) override { return refused(); }

 private:
  static std::unexpected<Error> refused() { return fail(Errc::kReadOnly); }

  std::uint64_t first_file() const { return kFirstDirectory + directories_; }
  std::uint64_t child_id(core::FileId parent, std::uint64_t number) const {
    return (parent == root() ? kFirstDirectory : first_file()) + number;
  }
  // The ids in a directory: from the first to before the last.
  std::pair<std::uint64_t, std::uint64_t> children(core::FileId dir) const {
    if (dir == root()) return {kFirstDirectory, first_file()};
    const std::uint64_t before = (static_cast<std::uint64_t>(dir) - kFirstDirectory) * per_directory_;
    return {first_file() + before, first_file() + std::min(before + per_directory_, files_)};
  }
  std::string name_of(std::uint64_t id) const {
    if (id < first_file()) return numbered('d', id - kFirstDirectory, kDirectoryDigits);
    return numbered('f', id - first_file(), kFileDigits);
  }
  core::Attributes attributes(core::FileId id) const {
    core::Attributes attr{.id = id, .mode = 0755, .links = 1};
    attr.type = static_cast<std::uint64_t>(id) < first_file() ? core::FileType::kDirectory : core::FileType::kRegular;
    if (attr.type == core::FileType::kRegular) attr.size = attr.allocated = bytes_;
    return attr;
  }

  const std::uint64_t files_, per_directory_, bytes_, directories_;
};

int serve(const std::string& directory, MadeUpTree& tree) {
  auto fd = native::fuse::mount_fuse(
      {.directory = directory, .source = "null_fuse", .read_only = true, .for_all_users = ::geteuid() == 0});
  if (!fd) die(describe(fd.error()));
  auto device = native::fuse::Device::start(std::move(*fd), tree);
  if (!device) die(describe(device.error()));
  native::fuse::raise_read_ahead(directory);
  std::printf("ready\n");
  std::fflush(stdout);
  (*device)->wait();
  return 0;
}

}  // namespace
}  // namespace stoa::bench

int main(int argc, char** argv) {
  std::string directory;
  std::uint64_t files = 1'000'000, per_directory = 1000, bytes = 4096;
  CLI::App app{"Mounts a tree that is made up on the spot, for the kernel's own limit."};
  app.add_option("directory", directory, "where to mount")->required();
  app.add_option("--files", files, "how many files")->check(CLI::Range(1, 99'999'999));
  app.add_option("--per-directory", per_directory, "how many of them in each directory")
      ->check(CLI::Range(1, 99'999'999));
  app.add_option("--bytes", bytes, "size of each file");
  CLI11_PARSE(app, argc, argv);
  if (files / per_directory >= 100'000) stoa::bench::die("more than 100 000 directories; raise --per-directory");
  stoa::bench::MadeUpTree tree(files, per_directory, bytes);
  return stoa::bench::serve(directory, tree);
}
