#include "frontends/native/storage/native_storage.h"

#include <algorithm>
#include <cerrno>

#include "frontends/native/storage/wire_values.h"

namespace stoa::native {
namespace {

// Of the entries of a directory, in one reply.
constexpr U32 kEntryBytesMax = 512u << 10;

LockArgs lock_args(const StorageLock& lock, bool waits) {
  return {.file = wire_file(lock.file),
          .owner = lock.owner,
          .offset = lock.range.offset,
          .length = lock.range.length == core::LockRange::kToEnd ? kLockToEnd : lock.range.length,
          .exclusive = lock.exclusive ? 1u : 0u,
          .waits = waits ? 1u : 0u};
}

StorageLock in_the_way(core::FileId file, const LockReply& lock) {
  return {.file = file,
          .owner = lock.mine != 0 ? lock.owner : 0,
          .range = {.offset = lock.offset, .length = lock.length == kLockToEnd ? core::LockRange::kToEnd : lock.length},
          .exclusive = lock.exclusive != 0};
}

void add_wish(Batch& batch, const LeaseWish& wish) {
  batch.add<operations::lease>(
      {.file = wire_file(wish.file), .lease = wish.number, .lease_bits = wish.bits, .kind = wish.of_files ? 1u : 0u});
}

// What is not grantable is granted with no bits. An error is one of the file, and the call would get it too.
Status take_wish(const Asker& asker, const Replies& replies) {
  if (asker.wish == nullptr) return {};
  STOA_TRY(lease, replies.get<operations::lease>(0));
  asker.wish->answered = true;
  asker.wish->granted = lease.lease_bits;
  return {};
}

template <class Reply>
Result<StorageWritten> written_of(const Result<Reply>& reply, std::size_t asked) {
  if (!reply) return fail(reply.error());
  if (reply->length > asked) return fail(Errc::kCorrupt, "more was written than asked");
  STOA_TRY(attr, from_wire(reply->attr));
  return StorageWritten{reply->length, attr};
}

}  // namespace

Result<Replies> NativeStorage::run(const Asker& asker, const Batch& batch, bool asks_once) {
  CallOptions options{.interrupted = asker.gives_up, .asks_once = asks_once};
  if (names_askers_) options.as = Identity{asker.cred.uid, asker.cred.gid, asker.cred.groups};
  auto replies = client_.call(batch, options);
  const bool gave_up = !replies && replies.error().code == Errc::kTimeout && asker.gives_up && asker.gives_up();
  if (gave_up) return fail_errno(EINTR, "interrupted");
  return replies;
}

template <class Operation>
Result<typename Operation::Reply> NativeStorage::one(const Asker& asker, const typename Operation::Arguments& arguments,
                                                     Replies& kept) {
  Batch batch;
  if (asker.wish != nullptr) add_wish(batch, *asker.wish);
  const std::size_t at = batch.add<Operation>(arguments);
  STOA_TRY(replies, run(asker, batch));
  kept = std::move(replies);
  STOA_CHECK_OK(take_wish(asker, kept));
  return kept.get<Operation>(at);
}

template <class Operation>
Result<core::Attributes> NativeStorage::attributes(const Asker& asker, const typename Operation::Arguments& arguments) {
  Replies kept;
  STOA_TRY(reply, one<Operation>(asker, arguments, kept));
  return from_wire(reply.attr);
}

template <class Operation>
Status NativeStorage::status(const Asker& asker, const typename Operation::Arguments& arguments) {
  Replies kept;
  STOA_CHECK_OK(one<Operation>(asker, arguments, kept));
  return {};
}

Result<core::Attributes> NativeStorage::lookup(const Asker& asker, core::FileId parent, std::string_view name) {
  const operations::lookup::Arguments wanted{.parent = wire_file(parent), .name = name};
  if (asker.more == nullptr) return attributes<operations::lookup>(asker, wanted);
  Batch batch;
  if (asker.wish != nullptr) add_wish(batch, *asker.wish);
  const std::size_t found = batch.add<operations::lookup>(wanted);
  const std::size_t rights = batch.add<operations::access>({.file = result_of(found), .wanted = asker.more->rights});
  STOA_TRY(replies, run(asker, batch));
  STOA_CHECK_OK(take_wish(asker, replies));
  // An error here is one of a file that went in this moment.
  if (const auto reply = replies.get<operations::access>(rights)) asker.more->granted = reply->granted;
  STOA_TRY(reply, replies.get<operations::lookup>(found));
  STOA_TRY(directory, from_wire(reply.parent));
  asker.more->parent = directory;
  return from_wire(reply.attr);
}

Result<core::Attributes> NativeStorage::getattr(const Asker& asker, core::FileId id) {
  return attributes<operations::getattr>(asker, {.file = wire_file(id)});
}

Result<core::Attributes> NativeStorage::setattr(const Asker& asker, core::FileId id, OpenNumber open,
                                                const core::SetAttributes& set) {
  return attributes<operations::setattr>(asker, {.file = wire_file(id), .open = open, .set = to_settings(set)});
}

Result<std::uint32_t> NativeStorage::access(const Asker& asker, core::FileId id, std::uint32_t wanted) {
  Replies kept;
  STOA_TRY(reply, one<operations::access>(asker, {.file = wire_file(id), .wanted = wanted}, kept));
  return reply.granted;
}

Result<std::string> NativeStorage::readlink(const Asker& asker, core::FileId id) {
  Replies kept;
  STOA_TRY(reply, one<operations::readlink>(asker, {.file = wire_file(id)}, kept));
  return std::string(reply.target);
}

Result<core::StatfsReply> NativeStorage::statfs(const Asker& asker, core::FileId id) {
  Replies kept;
  STOA_TRY(reply, one<operations::statfs>(asker, {.file = wire_file(id)}, kept));
  return core::StatfsReply{.bytes_total = reply.bytes_total,
                           .bytes_free = reply.bytes_free,
                           .bytes_available = reply.bytes_available,
                           .files_total = reply.files_total,
                           .files_free = reply.files_free,
                           .files_available = reply.files_available};
}

Result<core::Attributes> NativeStorage::mkdir(const Asker& asker, const core::MkdirRequest& r) {
  return attributes<operations::mkdir>(asker,
                                       {.parent = wire_file(r.parent), .set = to_settings(r.set), .name = r.name});
}

Result<core::Attributes> NativeStorage::mknod(const Asker& asker, const core::MknodRequest& r) {
  return attributes<operations::mknod>(asker, {.parent = wire_file(r.parent),
                                               .type = wire_type(r.type),
                                               .device_major = r.device.major,
                                               .device_minor = r.device.minor,
                                               .set = to_settings(r.set),
                                               .name = r.name});
}

Result<core::Attributes> NativeStorage::create(const Asker& asker, const core::CreateRequest& r) {
  return attributes<operations::create>(asker, {.parent = wire_file(r.parent),
                                                .mode = wire_create_mode(r.mode),
                                                .verifier = r.verifier,
                                                .set = to_settings(r.set),
                                                .name = r.name});
}

Result<core::Attributes> NativeStorage::symlink(const Asker& asker, const core::SymlinkRequest& r) {
  return attributes<operations::symlink>(
      asker, {.parent = wire_file(r.parent), .set = to_settings(r.set), .name = r.name, .target = r.target});
}

Result<core::Attributes> NativeStorage::link(const Asker& asker, const core::LinkRequest& r) {
  return attributes<operations::link>(asker, {.file = wire_file(r.id), .parent = wire_file(r.parent), .name = r.name});
}

Status NativeStorage::unlink(const Asker& asker, const core::RemoveRequest& r) {
  return status<operations::unlink>(asker, {.parent = wire_file(r.parent), .file = wire_file(r.file), .name = r.name});
}

Status NativeStorage::rmdir(const Asker& asker, const core::RemoveRequest& r) {
  return status<operations::rmdir>(asker, {.parent = wire_file(r.parent), .file = wire_file(r.file), .name = r.name});
}

Status NativeStorage::rename(const Asker& asker, const core::RenameRequest& r) {
  if (r.exchange)
    return status<operations::exchange>(asker, {.from_parent = wire_file(r.from_parent),
                                                .to_parent = wire_file(r.to_parent),
                                                .from_name = r.from_name,
                                                .to_name = r.to_name});
  return status<operations::rename>(asker, {.from_parent = wire_file(r.from_parent),
                                            .to_parent = wire_file(r.to_parent),
                                            .no_replace = r.no_replace ? 1u : 0u,
                                            .from_name = r.from_name,
                                            .to_name = r.to_name});
}

Result<StorageEntries> NativeStorage::readdir(const Asker& asker, const core::ReaddirRequest& r) {
  Replies kept;
  STOA_TRY(reply, one<operations::readdir>(asker,
                                           {.dir = wire_file(r.dir),
                                            .cookie = r.cookie,
                                            .entries_max = r.entries_max,
                                            .bytes_max = kEntryBytesMax,
                                            .want_attributes = r.want_attributes ? 1u : 0u},
                                           kept));
  StorageEntries found{.end = reply.end != 0};
  auto bytes = std::as_bytes(std::span(reply.entries.data(), reply.entries.size()));
  for (U32 i = 0; i < reply.count; ++i) {
    const auto record = next_record(bytes);
    DirectoryEntry entry{};
    if (!record || !read_record(*record, entry)) return fail(Errc::kCorrupt, "an entry of a directory");
    STOA_TRY(type, file_type(entry.type));
    core::DirectoryEntry one{
        .id = core::FileId{entry.id}, .type = type, .cookie = entry.cookie, .name = std::string(entry.name)};
    if (entry.has_attributes != 0) {
      STOA_TRY(attr, from_wire(entry.attr));
      one.attr = attr;
    }
    found.entries.push_back(std::move(one));
  }
  return found;
}

Result<StorageOpen> NativeStorage::open(const Asker& asker, const core::OpenRequest& r) {
  Replies kept;
  const OpenNumber open = client_.new_open();
  STOA_TRY(reply, one<operations::open>(asker,
                                        {.file = wire_file(r.id),
                                         .parent = wire_file(r.parent),
                                         .open = open,
                                         .disposition = wire_disposition(r.disposition),
                                         .access = r.access,
                                         .verifier = r.verifier,
                                         .set = to_settings(r.set),
                                         .name = r.name},
                                        kept));
  STOA_TRY(attr, from_wire(reply.attr));
  return StorageOpen{open, attr, reply.created != 0};
}

void NativeStorage::close(const Asker& asker, OpenNumber open) {
  if (open == 0) return;
  (void)status<operations::close>(asker, {.open = open});  // an open that the server does not know is closed
}

Result<std::size_t> NativeStorage::read(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                        std::span<std::byte> into) {
  Replies kept;
  STOA_CHECK_OK(one<operations::read>(
      asker, {.file = wire_file(id), .open = open, .offset = offset, .length = static_cast<U32>(into.size())}, kept));
  const auto data = kept.data(0);
  const std::size_t length = std::min(data.size(), into.size());
  std::copy_n(data.begin(), length, into.begin());
  return length;
}

Result<StorageBytes> NativeStorage::read_to_keep(const Asker& asker, core::FileId id, OpenNumber open,
                                                 std::uint64_t offset, std::size_t length) {
  Replies kept;
  STOA_CHECK_OK(one<operations::read>(
      asker, {.file = wire_file(id), .open = open, .offset = offset, .length = static_cast<U32>(length)}, kept));
  // What is kept is counted as it was asked for.
  constexpr std::size_t kAround = 4096;  // more than the rest of such a reply
  const std::size_t got = kept.data(0).size();
  if (got > length || kept.bytes() > length + kAround)
    return fail(Errc::kCorrupt, "a reply with more than was asked for");
  return StorageBytes{.memory = kept.shared_data(0), .length = got};
}

Result<StorageWritten> NativeStorage::write(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                            std::span<const std::byte> data, WriteWay way) {
  Batch batch;
  batch.add_write(
      {.file = wire_file(id), .open = open, .offset = offset, .stable = way.durable ? 1u : 0u, .lease = way.lease},
      data);
  STOA_TRY(replies, run(asker, batch));
  return written_of(replies.get<operations::write>(0), data.size());
}

Result<StorageWritten> NativeStorage::append(const Asker& asker, core::FileId id, OpenNumber open,
                                             std::span<const std::byte> data, bool durable) {
  Batch batch;
  batch.add_with<operations::append>({.file = wire_file(id), .open = open, .stable = durable ? 1u : 0u}, data);
  STOA_TRY(replies, run(asker, batch));
  return written_of(replies.get<operations::append>(0), data.size());
}

Status NativeStorage::commit(const Asker& asker, core::FileId id, OpenNumber open) {
  return status<operations::commit>(asker, {.file = wire_file(id), .open = open});
}

Status NativeStorage::allocate(const Asker& asker, const core::RangeRequest& r, OpenNumber open) {
  const RangeArgs range{.file = wire_file(r.id), .open = open, .offset = r.offset, .length = r.length};
  return r.keep_size ? status<operations::reserve>(asker, range) : status<operations::allocate>(asker, range);
}

Status NativeStorage::zero(const Asker& asker, const core::RangeRequest& r, OpenNumber open) {
  return status<operations::zero>(asker, {.file = wire_file(r.id),
                                          .open = open,
                                          .offset = r.offset,
                                          .length = r.length,
                                          .keep_size = r.keep_size ? 1u : 0u});
}

Status NativeStorage::punch(const Asker& asker, const core::RangeRequest& r, OpenNumber open) {
  return status<operations::punch>(asker,
                                   {.file = wire_file(r.id), .open = open, .offset = r.offset, .length = r.length});
}

Result<std::uint64_t> NativeStorage::seek(const Asker& asker, const core::SeekRequest& r) {
  Replies kept;
  const U32 hole = r.what == core::SeekWhat::kHole ? 1 : 0;
  STOA_TRY(reply, one<operations::seek>(asker, {.file = wire_file(r.id), .offset = r.offset, .hole = hole}, kept));
  return reply.offset;
}

Result<std::uint64_t> NativeStorage::copy_range(const Asker& asker, const core::CopyRangeRequest& r, OpenNumber from,
                                                OpenNumber to) {
  Replies kept;
  STOA_TRY(reply, one<operations::copy_range>(asker,
                                              {.from = wire_file(r.from),
                                               .to = wire_file(r.to),
                                               .from_open = from,
                                               .to_open = to,
                                               .from_offset = r.from_offset,
                                               .to_offset = r.to_offset,
                                               .length = r.length,
                                               .share = r.share ? 1u : 0u},
                                              kept));
  if (r.length != 0 && reply.length > r.length) return fail(Errc::kCorrupt, "more was copied than asked");
  return reply.length;
}

Result<std::string> NativeStorage::get_xattr(const Asker& asker, const core::GetXattrRequest& r) {
  Replies kept;
  STOA_TRY(reply, one<operations::get_xattr>(asker, {.file = wire_file(r.id), .name = r.name}, kept));
  return std::string(reply.value);
}

Status NativeStorage::set_xattr(const Asker& asker, const core::SetXattrRequest& r) {
  return status<operations::set_xattr>(
      asker, {.file = wire_file(r.id), .mode = wire_xattr_mode(r.mode), .name = r.name, .value = r.value});
}

Result<std::vector<std::string>> NativeStorage::list_xattrs(const Asker& asker, core::FileId id) {
  Replies kept;
  STOA_TRY(reply, one<operations::list_xattrs>(asker, {.file = wire_file(id)}, kept));
  std::vector<std::string> names;
  auto bytes = std::as_bytes(std::span(reply.names.data(), reply.names.size()));
  for (U32 i = 0; i < reply.count; ++i) {
    const auto record = next_record(bytes);
    XattrName name{};
    if (!record || !read_record(*record, name)) return fail(Errc::kCorrupt, "a name of an attribute");
    names.emplace_back(name.name);
  }
  return names;
}

Status NativeStorage::remove_xattr(const Asker& asker, const core::RemoveXattrRequest& r) {
  return status<operations::remove_xattr>(asker, {.file = wire_file(r.id), .name = r.name});
}

// The client itself would ask until it gets the lock; the mount's queue does that, so it asks once.
Result<std::optional<StorageLock>> NativeStorage::lock(const Asker& asker, const StorageLock& wanted, bool waits) {
  Batch batch;
  batch.add<operations::lock>(lock_args(wanted, waits));
  STOA_TRY(replies, run(asker, batch, waits));
  const WireStatus status = replies.status(0);
  if (status == WireStatus::ok) return std::optional<StorageLock>{};
  if (waits && (status == WireStatus::grace || status == WireStatus::recall_pending))
    return std::optional<StorageLock>{wanted};
  if (status != WireStatus::locked) return fail(replies.get<operations::lock>(0).error());
  return std::optional<StorageLock>{in_the_way(wanted.file, replies.read<operations::lock>(0))};
}

Result<std::optional<StorageLock>> NativeStorage::test_lock(const Asker& asker, const StorageLock& wanted) {
  Batch batch;
  batch.add<operations::test_lock>(lock_args(wanted, false));
  STOA_TRY(replies, run(asker, batch));
  const auto reply = replies.get<operations::test_lock>(0);
  if (reply) return std::optional<StorageLock>{};
  if (reply.error().code != Errc::kLocked) return fail(reply.error());
  return std::optional<StorageLock>{in_the_way(wanted.file, replies.read<operations::test_lock>(0))};
}

Status NativeStorage::unlock(const Asker& asker, const StorageLock& range) {
  const LockArgs args = lock_args(range, false);
  return status<operations::unlock>(
      asker, {.file = args.file, .owner = args.owner, .offset = args.offset, .length = args.length});
}

}  // namespace stoa::native
