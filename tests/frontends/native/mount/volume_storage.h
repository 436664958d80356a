// A volume of this process as the storage of a mount: the mount's own code, without a server and its protocol.
#pragma once

#include <cstring>

#include "core/volume/volume.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native::mount {

class VolumeStorage : public Storage {
 public:
  explicit VolumeStorage(core::Volume& volume)
      : volume_(volume), holder_(volume.state().add_holder(core::Protocol::kNative, nullptr)) {}
  ~VolumeStorage() override { volume_.state().remove_holder(holder_); }

  core::FileId root() const override { return core::kRootId; }

  Result<core::Attributes> lookup(const Asker& asker, core::FileId parent, std::string_view name) override {
    STOA_TRY(found, ns().lookup(context(asker), {.parent = parent, .name = name}));
    if (asker.more != nullptr) {
      asker.more->parent = found.parent;
      if (const auto granted = access(asker, found.attr.id, asker.more->rights)) asker.more->granted = *granted;
    }
    return found.attr;
  }
  Result<core::Attributes> getattr(const Asker& asker, core::FileId id) override {
    return attr_of(ns().getattr(context(asker), {id}));
  }
  Result<core::Attributes> setattr(const Asker& asker, core::FileId id, OpenNumber open,
                                   const core::SetAttributes& set) override {
    return attr_of(ns().setattr(context(asker, open), {.id = id, .set = set}));
  }
  Result<std::uint32_t> access(const Asker& asker, core::FileId id, std::uint32_t wanted) override {
    STOA_TRY(reply, ns().access(context(asker), {id, wanted}));
    return reply.granted;
  }
  Result<std::string> readlink(const Asker& asker, core::FileId id) override {
    STOA_TRY(reply, ns().readlink(context(asker), {id}));
    return reply.target;
  }
  Result<core::StatfsReply> statfs(const Asker& asker, core::FileId id) override {
    return ns().statfs(context(asker), {id});
  }
  Result<core::Attributes> mkdir(const Asker& asker, const core::MkdirRequest& request) override {
    return attr_of(ns().mkdir(context(asker), request));
  }
  Result<core::Attributes> mknod(const Asker& asker, const core::MknodRequest& request) override {
    return attr_of(ns().mknod(context(asker), request));
  }
  Result<core::Attributes> create(const Asker& asker, const core::CreateRequest& request) override {
    return attr_of(ns().create(context(asker), request));
  }
  Result<core::Attributes> symlink(const Asker& asker, const core::SymlinkRequest& request) override {
    return attr_of(ns().symlink(context(asker), request));
  }
  Result<core::Attributes> link(const Asker& asker, const core::LinkRequest& request) override {
    return attr_of(ns().link(context(asker), request));
  }
  Status unlink(const Asker& asker, const core::RemoveRequest& request) override {
    return status_of(ns().unlink(context(asker), request));
  }
  Status rmdir(const Asker& asker, const core::RemoveRequest& request) override {
    return status_of(ns().rmdir(context(asker), request));
  }
  Status rename(const Asker& asker, const core::RenameRequest& request) override {
    return status_of(ns().rename(context(asker), request));
  }
  Result<StorageEntries> readdir(const Asker& asker, const core::ReaddirRequest& request) override {
    STOA_TRY(reply, ns().readdir(context(asker), request));
    return StorageEntries{std::move(reply.entries), reply.end};
  }
  Result<StorageOpen> open(const Asker& asker, const core::OpenRequest& request) override {
    STOA_TRY(reply, ns().open(context(asker), request));
    return StorageOpen{static_cast<OpenNumber>(reply.open), reply.attr, reply.created};
  }
  void close(const Asker&, OpenNumber open) override { volume_.state().close(core::OpenId{open}); }
  Result<std::size_t> read(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                           std::span<std::byte> into) override {
    STOA_TRY(reply, ns().read(context(asker, open), {id, offset, into}));
    return std::size_t{reply.length};
  }
  Result<StorageWritten> write(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                               std::span<const std::byte> data, WriteWay) override {
    const std::span<const std::byte> pieces[] = {data};
    STOA_TRY(reply, ns().write(context(asker, open), {.id = id, .offset = offset, .data = pieces}));
    return StorageWritten{reply.length, reply.attr};
  }
  Result<StorageWritten> append(const Asker& asker, core::FileId id, OpenNumber open, std::span<const std::byte> data,
                                bool) override {
    const std::span<const std::byte> pieces[] = {data};
    STOA_TRY(reply, ns().write(context(asker, open), {.id = id, .offset = 0, .data = pieces, .append = true}));
    return StorageWritten{reply.length, reply.attr};
  }
  Status commit(const Asker& asker, core::FileId id, OpenNumber open) override {
    return status_of(ns().commit(context(asker, open), {.id = id}));
  }
  Status allocate(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override {
    return status_of(ns().allocate(context(asker, open), range));
  }
  Status zero(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override {
    return status_of(ns().zero(context(asker, open), range));
  }
  Status punch(const Asker& asker, const core::RangeRequest& range, OpenNumber open) override {
    return status_of(ns().punch(context(asker, open), range));
  }
  Result<std::uint64_t> seek(const Asker& asker, const core::SeekRequest& request) override {
    STOA_TRY(reply, ns().seek(context(asker), request));
    return reply.offset;
  }
  Result<std::uint64_t> copy_range(const Asker& asker, const core::CopyRangeRequest& request, OpenNumber,
                                   OpenNumber to) override {
    STOA_TRY(reply, ns().copy_range(context(asker, to), request));
    return reply.length;
  }
  Result<std::string> get_xattr(const Asker& asker, const core::GetXattrRequest& request) override {
    STOA_TRY(reply, ns().get_xattr(context(asker), request));
    return reply.value;
  }
  Status set_xattr(const Asker& asker, const core::SetXattrRequest& request) override {
    return status_of(ns().set_xattr(context(asker), request));
  }
  Result<std::vector<std::string>> list_xattrs(const Asker& asker, core::FileId id) override {
    STOA_TRY(reply, ns().list_xattrs(context(asker), {id}));
    return reply.names;
  }
  Status remove_xattr(const Asker& asker, const core::RemoveXattrRequest& request) override {
    return status_of(ns().remove_xattr(context(asker), request));
  }
  Result<std::optional<StorageLock>> lock(const Asker&, const StorageLock& wanted, bool waits) override {
    const core::LockRequest request{wanted.file, owner(wanted), wanted.range, wanted.exclusive};
    if (!waits)
      return seen(wanted.file, volume_.state().lock(wanted.file, request.owner, wanted.range, wanted.exclusive));
    return seen(wanted.file, volume_.state().lock_in_turn(request, {}));
  }
  Result<std::optional<StorageLock>> test_lock(const Asker&, const StorageLock& wanted) override {
    return seen(wanted.file, volume_.state().test_lock(wanted.file, owner(wanted), wanted.range, wanted.exclusive));
  }
  Status unlock(const Asker&, const StorageLock& range) override {
    return volume_.state().unlock(range.file, owner(range), range.range);
  }

 private:
  core::Namespace& ns() { return volume_.ns(); }
  core::OpContext context(const Asker& asker, OpenNumber open = 0) const {
    core::OpContext ctx;
    ctx.protocol = core::Protocol::kNative;
    ctx.cred = asker.cred;
    ctx.holder = holder_;
    ctx.open = core::OpenId{open};
    return ctx;
  }
  core::LockOwner owner(const StorageLock& lock) const {
    std::string name(sizeof(lock.owner), '\0');
    std::memcpy(name.data(), &lock.owner, sizeof(lock.owner));
    return {holder_, name};
  }
  Result<std::optional<StorageLock>> seen(core::FileId file, const Result<std::optional<core::HeldLock>>& held) const {
    if (!held) return fail(held.error());
    if (!*held) return std::optional<StorageLock>{};
    StorageLock lock{.file = file, .range = (*held)->range, .exclusive = (*held)->exclusive};
    if ((*held)->owner.holder == holder_) {
      std::memcpy(&lock.owner, (*held)->owner.name.data(), sizeof(lock.owner));
    }
    return std::optional<StorageLock>{lock};
  }
  template <class Reply>
  static Result<core::Attributes> attr_of(const Result<Reply>& reply) {
    if (!reply) return fail(reply.error());
    return reply->attr;
  }
  template <class Reply>
  static Status status_of(const Result<Reply>& reply) {
    if (!reply) return fail(reply.error());
    return {};
  }

  core::Volume& volume_;
  const core::HolderId holder_;
};

}  // namespace stoa::native::mount
