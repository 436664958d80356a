#include "frontends/native/data/buffered_storage.h"

#include <algorithm>
#include <cerrno>

#include "base/log.h"

namespace stoa::native {

using data::BufferedFile;
using data::OpenFile;

class BufferedStorage::Behind {
 public:
  explicit Behind(File file) : file_(std::move(file)) {
    const std::lock_guard lock(file_->mutex);
    ++file_->through;
  }
  ~Behind() {
    const std::lock_guard lock(file_->mutex);
    file_->blocks.clear();
    --file_->through;
  }
  Behind(const Behind&) = delete;

 private:
  File file_;
};

BufferedStorage::BufferedStorage(Storage& below, LeaseCovers& covers, std::uint64_t budget_bytes)
    : ForwardingStorage(below),
      covers_(covers),
      block_budget_(budget_bytes - std::min(budget_bytes / 4, data::WriteBehind::kUnsentMost)),
      writes_(below, room_, budget_bytes / 4),
      reads_(below, covers, files_, block_budget_) {}

core::Attributes BufferedStorage::shown(core::Attributes attr) const {
  if (attr.type != core::FileType::kRegular) return attr;
  const File file = files_.find(attr.id);
  if (!file) return attr;
  const std::lock_guard lock(file->mutex);
  // An answer that was overtaken by the reply to a write.
  if (file->newest && file->newest->change > attr.change) attr = *file->newest;
  if (file->writes.empty()) return attr;
  constexpr std::uint64_t kBlock = 4096;
  attr.size = std::max(attr.size, file->writes.end());
  // Programs take a file without blocks for one that is all hole.
  attr.allocated += (file->writes.bytes() + kBlock - 1) / kBlock * kBlock;
  attr.mtime = std::max(attr.mtime, file->touched);
  attr.ctime = std::max(attr.ctime, file->touched);
  if (file->takes_set_id) {
    constexpr std::uint32_t kSetUid = 04000, kSetGid = 02000, kGroupExecutes = 010;
    attr.mode &= ~((attr.mode & kGroupExecutes) != 0 ? kSetUid | kSetGid : kSetUid);
  }
  return attr;
}

Result<core::Attributes> BufferedStorage::shown(Result<core::Attributes> attr) const {
  if (attr) return shown(*attr);
  return attr;
}

Result<core::Attributes> BufferedStorage::lookup(const Asker& asker, core::FileId parent, std::string_view name) {
  return shown(below_.lookup(asker, parent, name));
}

Result<core::Attributes> BufferedStorage::getattr(const Asker& asker, core::FileId id) {
  return shown(below_.getattr(asker, id));
}

Result<StorageEntries> BufferedStorage::readdir(const Asker& asker, const core::ReaddirRequest& request) {
  STOA_TRY(found, below_.readdir(asker, request));
  for (core::DirectoryEntry& entry : found.entries) {
    if (entry.attr) entry.attr = shown(*entry.attr);
  }
  return std::move(found);
}

// Runs the call when all that was buffered of the file is at the server, and keeps what comes meanwhile from being
// buffered.
template <class Call>
auto BufferedStorage::behind(const Asker& asker, core::FileId id, const Call& call) -> decltype(call()) {
  const File file = files_.find(id);
  if (!file) return call();
  const Behind guard(file);
  STOA_CHECK_OK(writes_.flush(file, asker));
  return call();
}

Result<core::Attributes> BufferedStorage::setattr(const Asker& asker, core::FileId id, OpenNumber open,
                                                  const core::SetAttributes& set) {
  return behind(asker, id, [&] { return shown(below_.setattr(asker, id, open, set)); });
}

// Several names: the lease of the directory covers it no more.
Result<core::Attributes> BufferedStorage::link(const Asker& asker, const core::LinkRequest& request) {
  return behind(asker, request.id, [&] { return shown(below_.link(asker, request)); });
}

core::FileId BufferedStorage::named(const Asker& asker, core::FileId parent, std::string_view name) {
  const auto attr = below_.lookup(asker, parent, name);
  return attr ? attr->id : core::kNoFile;
}

Result<core::Attributes> BufferedStorage::create(const Asker& asker, const core::CreateRequest& request) {
  if (request.mode != core::CreateMode::kUnchecked || !request.set.size) return shown(below_.create(asker, request));
  return behind(asker, named(asker, request.parent, request.name),
                [&] { return shown(below_.create(asker, request)); });
}

Result<StorageOpen> BufferedStorage::open(const Asker& asker, const core::OpenRequest& request) {
  using enum core::OpenDisposition;
  const bool keeps =
      request.disposition == kOpen || request.disposition == kCreate || request.disposition == kCreateNameless;
  const auto run = [&] { return below_.open(asker, request); };
  core::FileId before = request.id;
  if (!keeps && before == core::kNoFile) before = named(asker, request.parent, request.name);
  STOA_TRY(opened, keeps ? run() : behind(asker, before, run));
  if (opened.open == 0 || opened.attr.type != core::FileType::kRegular) return std::move(opened);
  auto open = std::make_shared<OpenFile>(OpenFile{.file = files_.get(opened.attr.id),
                                                  .number = opened.open,
                                                  .access = request.access,
                                                  .cred = asker.cred,
                                                  .size = opened.attr.size});
  {
    const std::lock_guard lock(open->file->mutex);
    // An error that nobody was told of is told to this one.
    open->errors_told = open->file->errors - (open->file->error_told ? 0 : 1);
    if (!request.name.empty()) open->file->name = request.name;
  }
  files_.add(open);
  opened.attr = shown(opened.attr);
  return std::move(opened);
}

// What is buffered stays so: the server's open ends behind it.
void BufferedStorage::close(const Asker& asker, OpenNumber number) {
  const auto open = files_.remove(number);
  if (open) {
    const std::lock_guard lock(open->file->mutex);
    open->closed = true;
    if (open->unsent != 0 || open->close_sent) return;
    open->close_sent = true;
  }
  below_.close(asker, number);
}

Result<std::size_t> BufferedStorage::read(const Asker& asker, core::FileId id, OpenNumber number, std::uint64_t offset,
                                          std::span<std::byte> into) {
  if (into.empty()) return below_.read(asker, id, number, offset, into);
  const auto open = files_.open(number);
  const bool may_read = open && open->file->id == id && (open->access & core::kShareRead) != 0;
  if (may_read) return reads_.read(asker, open, offset, into);
  return reads_.read_below(asker, files_.find(id), id, number, offset, into);
}

bool BufferedStorage::may_buffer(const OpenFile* open, core::FileId id, std::uint64_t offset, std::size_t length,
                                 const WriteWay& way) const {
  return open != nullptr && open->file->id == id && (open->access & core::kShareWrite) != 0 && !way.durable &&
         way.lease == 0 && offset <= core::kFileBytesMax && length <= core::kFileBytesMax - offset;
}

Result<StorageWritten> BufferedStorage::write(const Asker& asker, core::FileId id, OpenNumber number,
                                              std::uint64_t offset, std::span<const std::byte> data, WriteWay way) {
  if (data.empty()) return below_.write(asker, id, number, offset, data, way);
  const auto open = files_.open(number);
  const bool tries = may_buffer(open.get(), id, offset, data.size(), way);
  StorageWritten done;
  while (done.length < data.size()) {
    const auto slice = data.subspan(done.length, std::min(data.size() - done.length, kWriteBytesMost));
    const auto buffered = tries ? buffer(asker, open, offset + done.length, slice) : Result<bool>(false);
    if (buffered && *buffered) {
      done.length += slice.size();
      done.attr.reset();
      continue;
    }
    const auto written = buffered ? write_through(asker, id, number, offset + done.length, slice, way)
                                  : Result<StorageWritten>(fail(buffered.error()));
    if (!written) {
      if (done.length != 0) break;
      return fail(written.error());
    }
    done.length += written->length;
    done.attr = written->attr;
    if (written->length < slice.size()) break;
  }
  return done;
}

Result<bool> BufferedStorage::buffer(const Asker& asker, const std::shared_ptr<OpenFile>& open, std::uint64_t offset,
                                     std::span<const std::byte> data) {
  using Verdict = data::Room::Verdict;
  const File& file = open->file;
  const std::uint64_t most = data.size() + 3 * data::WriteBehind::kPieceOverhead;
  bool reserved = false;
  // A pin lives through neither a call nor a wait: after one, from the beginning.
  for (int attempts = 0; attempts < 4; ++attempts) {
    auto pin = covers_.pin(file->id, core::kReadCaching | core::kWriteCaching);
    if (!pin) break;
    const HeldLease lease = pin->lease();
    const Verdict verdict = room_.take(lease.file, data.size());
    if (verdict == Verdict::kThrough) break;
    if (verdict == Verdict::kAsk) {
      pin.reset();
      const auto statfs = below_.statfs(asker, lease.file);
      if (!statfs) break;
      room_.known(lease.file, statfs->bytes_available);
      continue;
    }
    if (!reserved && !writes_.try_reserve(most)) {
      pin.reset();
      STOA_CHECK_OK(writes_.reserve(asker, most));
      reserved = true;
      continue;
    }
    reserved = true;
    data::WriteBuffer::Added added;
    {
      const std::lock_guard lock(file->mutex);
      const bool same = file->writes.empty() || file->writes.lease() == lease.number;
      if (file->through != 0 || !same) break;
      if (file->lease != lease.number) file->blocks.clear();
      file->lease = lease.number;
      file->leased = lease.file;
      file->blocks.spoil(offset, data.size());
      if (file->writes.empty()) file->takes_set_id = false;
      if (!open->cred.is_superuser()) file->takes_set_id = true;
      added = file->writes.add(offset, data, lease.number, open);
      file->touched = std::max(file->touched, writes_.now());
    }
    pin.reset();
    writes_.settle(most, added.bytes + added.pieces * data::WriteBehind::kPieceOverhead);
    writes_.added(file, added.full);
    return true;
  }
  if (reserved) writes_.release(most);
  return false;
}

Result<StorageWritten> BufferedStorage::write_through(const Asker& asker, core::FileId id, OpenNumber open,
                                                      std::uint64_t offset, std::span<const std::byte> data,
                                                      const WriteWay& way) {
  const File file = files_.get(id);
  const Behind guard(file);
  bool overlaps = false;
  {
    const std::lock_guard lock(file->mutex);
    overlaps = file->writes.overlaps(offset, data.size());
  }
  if (overlaps) STOA_CHECK_OK(writes_.flush(file, asker));
  STOA_TRY(written, below_.write(asker, id, open, offset, data, way));
  writes_.wrote(file, asker.cred, written, way.durable);
  return std::move(written);
}

Result<StorageWritten> BufferedStorage::append(const Asker& asker, core::FileId id, OpenNumber open,
                                               std::span<const std::byte> data, bool durable) {
  const File file = files_.get(id);
  const Behind guard(file);
  STOA_CHECK_OK(writes_.flush(file, asker));
  STOA_TRY(written, below_.append(asker, id, open, data, durable));
  writes_.wrote(file, asker.cred, written, durable);
  return std::move(written);
}

Status BufferedStorage::commit(const Asker& asker, core::FileId id, OpenNumber number) {
  const auto open = files_.open(number);
  const Status committed = writes_.commit(files_.get(id), asker, number);
  if (!open || open->file->id != id) {
    const File file = committed ? nullptr : files_.find(id);
    if (!file) return committed;
    const std::lock_guard lock(file->mutex);
    file->error_told = true;  // to this caller
    return committed;
  }
  if (!committed && committed.error().sys_errno == EINTR) return committed;
  return flush(asker, id, number);
}

Status BufferedStorage::flush(const Asker&, core::FileId id, OpenNumber number) {
  const auto open = files_.open(number);
  if (!open || open->file->id != id) return {};
  const std::lock_guard lock(open->file->mutex);
  return open->file->tell(*open);
}

Status BufferedStorage::allocate(const Asker& asker, const core::RangeRequest& range, OpenNumber open) {
  return behind(asker, range.id, [&] { return below_.allocate(asker, range, open); });
}
Status BufferedStorage::zero(const Asker& asker, const core::RangeRequest& range, OpenNumber open) {
  return behind(asker, range.id, [&] { return below_.zero(asker, range, open); });
}
Status BufferedStorage::punch(const Asker& asker, const core::RangeRequest& range, OpenNumber open) {
  return behind(asker, range.id, [&] { return below_.punch(asker, range, open); });
}
Result<std::uint64_t> BufferedStorage::seek(const Asker& asker, const core::SeekRequest& request) {
  return behind(asker, request.id, [&] { return below_.seek(asker, request); });
}

Result<std::uint64_t> BufferedStorage::copy_range(const Asker& asker, const core::CopyRangeRequest& request,
                                                  OpenNumber from, OpenNumber to) {
  return behind(asker, request.from,
                [&] { return behind(asker, request.to, [&] { return below_.copy_range(asker, request, from, to); }); });
}

void BufferedStorage::write_back(const HeldLease& lease, core::FileId file) {
  writes_.write_back(files_.under(lease.number, file));
}

void BufferedStorage::forget(const HeldLease& lease, core::FileId file) {
  for (const File& one : files_.under(lease.number, file)) {
    const std::lock_guard lock(one->mutex);
    one->blocks.clear();
    one->changed.notify_all();
  }
}

void BufferedStorage::lose(const HeldLease& lease) {
  for (const File& one : files_.under(lease.number, core::kNoFile)) writes_.lose(one, lease.number);
}

bool BufferedStorage::has_unsent(core::FileId id) const {
  const File file = files_.find(id);
  if (!file) return false;
  const std::lock_guard lock(file->mutex);
  return !file->writes.empty();
}

void BufferedStorage::send_unsent() {
  if (writes_.any_unsent()) writes_.flush(files_.all());
}

BufferedState BufferedStorage::state() const {
  BufferedState state;
  for (const File& file : files_.all()) {
    const std::lock_guard lock(file->mutex);
    if (file->errors != 0) state.faults.push_back({file->id, file->error.code, file->error_told});
  }
  for (const auto& open : files_.opens()) {
    const std::lock_guard lock(open->file->mutex);
    state.opens.push_back({.number = open->number,
                           .file = open->file->id,
                           .access = open->access,
                           .cred = open->cred,
                           .size = open->size,
                           .untold = open->errors_told != open->file->errors});
  }
  return state;
}

void BufferedStorage::restore(const BufferedState& state) {
  for (const FaultState& fault : state.faults) {
    const File file = files_.get(fault.file);
    file->record(Error{fault.cause});
    file->error_told = fault.told;
  }
  for (const OpenState& open : state.opens) {
    const File file = files_.get(open.file);
    files_.add(std::make_shared<OpenFile>(OpenFile{.file = file,
                                                   .number = open.number,
                                                   .access = open.access,
                                                   .cred = open.cred,
                                                   .size = open.size,
                                                   .errors_told = file->errors - (open.untold ? 1 : 0)}));
  }
}

BufferedStorage::Lost BufferedStorage::commit_everything() {
  Lost lost;
  const auto files = files_.all();
  writes_.write_back(files);
  for (const File& file : files) {
    const std::lock_guard lock(file->mutex);
    if (file->error_told) continue;
    file->error_told = true;
    if (lost.files++ == 0) lost.first = fail(file->error);
    log_error("native", "written data is lost",
              {{"file", static_cast<std::uint64_t>(file->id)}, {"name", file->name}, {"cause", describe(file->error)}});
  }
  return lost;
}

}  // namespace stoa::native
