// A file system without files, for the protocol alone: answers depend on the arguments, and nothing blocks.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "frontends/native/fuse/file_system.h"

namespace stoa::native::fuse {

class StubFileSystem : public FileSystem {
 public:
  static constexpr core::FileId kRoot{77};
  std::atomic<bool> lock_is_free{true};
  std::atomic<int> lock_questions{0};
  std::function<void(const Call&)> while_looked_up{};
  std::function<void()> while_asked{};  // for a lock
  std::vector<core::DirectoryEntry> entries;
  std::string value = "value";
  Validity valid{};                    // of what every reply tells
  Opened opened{.handle = Handle{1}};  // by open and opendir

  core::FileId root() const override { return kRoot; }
  Result<Entry> lookup(const Call& call, core::FileId parent, std::string_view name) override {
    if (while_looked_up) while_looked_up(call);
    if (name == "none") return fail(Errc::kNotFound);
    if (name == "never") return Entry{.attr = {}, .valid = valid};
    return Entry{file(core::FileId{static_cast<std::uint64_t>(parent) + name.size()}), valid};
  }
  Result<TimedAttributes> getattr(const Call&, const OpenFile& f) override {
    return TimedAttributes{file(f.id), valid.attr};
  }
  Result<TimedAttributes> setattr(const Call&, const OpenFile& f, const core::SetAttributes& set) override {
    core::Attributes attr = file(f.id);
    attr.size = set.size.value_or(attr.size);
    return TimedAttributes{attr, valid.attr};
  }
  Result<std::string> readlink(const Call&, core::FileId) override { return value; }
  Status access(const Call&, core::FileId, std::uint32_t wanted) override {
    return wanted == 0 ? Status{} : fail(Errc::kAccess);
  }
  Result<Entry> mknod(const Call&, const NewName& at, core::FileType type, core::DeviceNumber) override {
    core::Attributes attr = file(at.parent);
    attr.type = type;
    return Entry{attr, valid};
  }
  Result<Entry> mkdir(const Call&, const NewName& at) override { return Entry{file(at.parent), valid}; }
  Result<Entry> symlink(const Call&, const NewName& at, std::string_view) override {
    return Entry{file(at.parent), valid};
  }
  Result<Entry> link(const Call&, core::FileId id, const NewName&) override { return Entry{file(id), valid}; }
  Status unlink(const Call&, core::FileId, std::string_view) override { return {}; }
  Status rmdir(const Call&, core::FileId, std::string_view) override { return fail(Errc::kNotEmpty); }
  Status rename(const Call&, const RenameCall&) override { return {}; }
  Result<Opened> open(const Call&, core::FileId, std::uint32_t) override { return opened; }
  Result<Created> create(const Call&, const NewName& at, std::uint32_t) override {
    return Created{{file(at.parent), valid}, {.handle = Handle{2}}};
  }
  Result<Created> create_nameless(const Call&, const NewName& at, std::uint32_t) override {
    const core::FileId id{static_cast<std::uint64_t>(at.parent) + 1000};
    return Created{{file(id), valid}, {.handle = Handle{4}}};
  }
  Result<std::size_t> read(const Call&, const OpenFile&, std::uint64_t offset, std::span<std::byte> into) override {
    std::fill(into.begin(), into.end(), static_cast<std::byte>(offset));
    return into.size();
  }
  Result<std::size_t> write(const Call&, const WriteCall& w) override { return w.data.size(); }
  Status flush(const Call&, const OpenFile&, std::uint64_t) override { return {}; }
  Status fsync(const Call&, const OpenFile&) override { return {}; }
  void release(const Call&, const OpenFile&, std::optional<std::uint64_t>) override {}
  Result<std::uint64_t> seek(const Call&, const OpenFile&, std::uint64_t offset, core::SeekWhat) override {
    return offset;
  }
  Status allocate(const Call&, const OpenFile&, std::uint64_t, std::uint64_t, std::uint32_t) override { return {}; }
  Result<std::uint64_t> copy_range(const Call&, const CopyCall& c) override { return c.length; }
  Result<Opened> opendir(const Call&, core::FileId) override { return opened; }
  Status readdir(const Call&, const OpenFile&, std::uint64_t cookie, bool, EntrySink& sink) override {
    for (const auto& entry : entries) {
      if (entry.cookie > cookie && !sink.add(entry, valid)) break;
    }
    return {};
  }
  void releasedir(const Call&, const OpenFile&) override {}
  Result<core::StatfsReply> statfs(const Call&, core::FileId) override { return core::StatfsReply{}; }
  Result<std::string> get_xattr(const Call&, core::FileId, std::string_view) override { return value; }
  Result<std::vector<std::string>> list_xattrs(const Call&, core::FileId) override {
    return std::vector<std::string>{"user.a", "user.b"};
  }
  Status set_xattr(const Call&, core::FileId, std::string_view, std::string_view, core::XattrMode) override {
    return {};
  }
  Status remove_xattr(const Call&, core::FileId, std::string_view) override { return {}; }
  Result<std::optional<LockCall>> get_lock(const Call&, const LockCall& lock) override {
    return std::optional<LockCall>{lock};
  }
  Result<bool> set_lock(const Call&, const LockCall&, bool) override {
    ++lock_questions;
    if (while_asked) while_asked();
    return lock_is_free.load();
  }
  Status unlock(const Call&, const LockCall&) override { return {}; }

 private:
  static core::Attributes file(core::FileId id) { return {.id = id, .generation = 5, .mode = 0640, .size = 1000}; }
};

}  // namespace stoa::native::fuse
