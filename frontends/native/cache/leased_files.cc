// Opens and content.
#include <array>
#include <vector>

#include "frontends/native/cache/asking.h"
#include "frontends/native/cache/leased_storage.h"

namespace stoa::native {
namespace {

constexpr std::uint32_t kToOpen = core::kReadCaching | core::kHandleCaching;
constexpr std::uint32_t kRightsToWrite = core::kAccessModify | core::kAccessExtend;

bool truncates(core::OpenDisposition disposition) {
  return disposition == core::OpenDisposition::kOverwrite || disposition == core::OpenDisposition::kOverwriteOrCreate;
}

// As the server decides (core/api/requests.h): to run a file is to read it. A right to append alone is left to it.
bool may_open(std::uint32_t granted, std::uint32_t access) {
  const bool reads = (granted & (core::kAccessRead | core::kAccessExecute)) != 0;
  const bool writes = (granted & kRightsToWrite) == kRightsToWrite;
  return ((access & core::kShareRead) == 0 || reads) && ((access & core::kShareWrite) == 0 || writes);
}

bool is_plain(const core::OpenRequest& request) {
  return request.id != core::kNoFile && request.disposition == core::OpenDisposition::kOpen &&
         request.deny == core::kShareNone && (request.access & ~std::uint32_t{core::kShareBoth}) == 0;
}

}  // namespace

std::optional<StorageOpen> LeasedStorage::open_locally(const Asker& asker, const core::OpenRequest& request) {
  if (!is_plain(request)) return {};
  // What is known now stays so while the pin lives.
  auto pinned = cache_.pin(request.id, kToOpen);
  if (!pinned) return {};
  const bool reads =
      request.access == core::kShareRead && cache_.access(asker.cred, request.id, core::kAccessRead).value_or(0) != 0;
  if (!reads) {
    constexpr std::uint32_t kRights = core::kAccessRead | core::kAccessExecute | kRightsToWrite;
    pinned.reset();
    const auto granted = access(asker, request.id, kRights);
    if (!granted || !may_open(*granted, request.access)) return {};
    if ((request.access & core::kShareWrite) != 0) want(asker.cred, request.id, core::kWriteCaching);
    pinned = cache_.pin(request.id, kToOpen);
    if (!pinned) return {};
    const auto known = cache_.access(asker.cred, request.id, kRights);
    if (!known || !may_open(*known, request.access)) return {};
  }
  const auto attr = cache_.getattr(request.id);
  if (!attr || attr->type != core::FileType::kRegular) return {};
  cache_.note_open(request.id);
  return StorageOpen{opens_.add(request.id, asker.cred, request.access), *attr};
}

Result<StorageOpen> LeasedStorage::open_name(const Asker& asker, const core::OpenRequest& request) {
  const auto change = cache_.begin_name_change(request.parent, request.name, false);
  LeaseTicket ticket;
  auto opened = asking(asker, request.parent, true, core::kAllCaching, ticket,
                       [&](const Asker& with) { return below_.open(with, request); });
  if (opened) {
    cache_.end_name_change(change, KeptName{opened->attr.id}, opened->attr);
    if (opened->created) cache_.learn_no_capability(ticket, opened->attr.id);
  } else {
    cache_.end_name_change(change, {}, {});
  }
  return opened;
}

Result<StorageOpen> LeasedStorage::open(const Asker& asker, const core::OpenRequest& request) {
  if (auto opened = open_locally(asker, request)) return *opened;
  const LeaseTicket ticket = cache_.ticket();
  const bool by_name = request.id == core::kNoFile && !request.name.empty();
  auto opened = by_name ? open_name(asker, request) : below_.open(asker, request);
  if (!opened) {
    if (request.id != core::kNoFile && truncates(request.disposition)) cache_.forget(request.id);
    return opened;
  }
  cache_.changed(ticket, opened->attr.id, opened->attr);
  cache_.note_open(opened->attr.id);
  return opened;
}

void LeasedStorage::close(const Asker& asker, OpenNumber open) {
  if (!opens_.close(open)) below_.close(asker, open);
}

Result<core::Attributes> LeasedStorage::setattr(const Asker& asker, core::FileId id, OpenNumber open,
                                                const core::SetAttributes& set) {
  // Whoever has the file open goes on with the rights of then.
  const bool rights = set.mode || set.uid || set.gid || set.acl;
  if (rights) opens_.make_real(id);
  const LeaseTicket ticket = cache_.ticket();
  auto attr = through(open, [&](OpenNumber known) { return below_.setattr(asker, id, known, set); });
  if (attr && !rights) {
    cache_.changed(ticket, id, *attr);
  } else {
    const bool all_search = attr && (rights_of_everybody(*attr) & core::kAccessLookup) != 0;
    forget_rights(id, !all_search);
  }
  return attr;
}

Result<std::size_t> LeasedStorage::read(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                        std::span<std::byte> into) {
  return through(open, [&](OpenNumber known) { return below_.read(asker, id, known, offset, into); });
}

Result<StorageBytes> LeasedStorage::read_to_keep(const Asker& asker, core::FileId id, OpenNumber open,
                                                 std::uint64_t offset, std::size_t length) {
  return through(open, [&](OpenNumber known) { return below_.read_to_keep(asker, id, known, offset, length); });
}

Result<StorageWritten> LeasedStorage::write(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                            std::span<const std::byte> data, WriteWay way) {
  const LeaseTicket ticket = cache_.ticket();
  auto written = through(open, [&](OpenNumber known) { return below_.write(asker, id, known, offset, data, way); });
  cache_.changed(ticket, id, written ? written->attr : std::nullopt);
  return written;
}

std::vector<Result<StorageWritten>> LeasedStorage::write_all(const Asker& asker, std::span<const StorageWrite> writes) {
  std::vector<StorageWrite> known(writes.begin(), writes.end());
  for (StorageWrite& one : known) {
    one.open = opens_.at_server(one.open);
    one.closes = one.closes && one.open != 0;
  }
  const LeaseTicket ticket = cache_.ticket();
  auto results = below_.write_all(asker, known);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const StorageWrite& one = writes[i];
    const bool became_real = known[i].open != one.open && opens_.at_server(one.open) == one.open;
    const bool refused =
        !results[i] && (results[i].error().code == Errc::kAccess || results[i].error().code == Errc::kStale);
    if (became_real && refused) {
      results[i] =
          below_.write(asker, one.id, one.open, one.offset, one.data, {.durable = one.durable, .lease = one.lease});
    }
    if (one.closes && !known[i].closes) close(asker, one.open);
    cache_.changed(ticket, one.id, results[i] ? results[i]->attr : std::nullopt);
  }
  return results;
}

Result<StorageWritten> LeasedStorage::append(const Asker& asker, core::FileId id, OpenNumber open,
                                             std::span<const std::byte> data, bool durable) {
  const LeaseTicket ticket = cache_.ticket();
  auto written = through(open, [&](OpenNumber known) { return below_.append(asker, id, known, data, durable); });
  cache_.changed(ticket, id, written ? written->attr : std::nullopt);
  return written;
}

Status LeasedStorage::commit(const Asker& asker, core::FileId id, OpenNumber open) {
  return through(open, [&](OpenNumber known) { return below_.commit(asker, id, known); });
}

std::vector<Status> LeasedStorage::commit_all(const Asker& asker, std::span<const StorageCommit> commits) {
  std::vector<StorageCommit> known(commits.begin(), commits.end());
  for (StorageCommit& one : known) one.open = opens_.at_server(one.open);
  auto results = below_.commit_all(asker, known);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i] && known[i].open != commits[i].open) results[i] = commit(asker, commits[i].id, commits[i].open);
  }
  return results;
}

Status LeasedStorage::allocate(const Asker& asker, const core::RangeRequest& range, OpenNumber open) {
  const Status done = through(open, [&](OpenNumber known) { return below_.allocate(asker, range, known); });
  cache_.changed({}, range.id, {});
  return done;
}

Status LeasedStorage::zero(const Asker& asker, const core::RangeRequest& range, OpenNumber open) {
  const Status done = through(open, [&](OpenNumber known) { return below_.zero(asker, range, known); });
  cache_.changed({}, range.id, {});
  return done;
}

Status LeasedStorage::punch(const Asker& asker, const core::RangeRequest& range, OpenNumber open) {
  const Status done = through(open, [&](OpenNumber known) { return below_.punch(asker, range, known); });
  cache_.changed({}, range.id, {});
  return done;
}

Result<std::uint64_t> LeasedStorage::copy_range(const Asker& asker, const core::CopyRangeRequest& request,
                                                OpenNumber from, OpenNumber to) {
  auto copied = through(from, [&](OpenNumber known_from) {
    return through(to, [&](OpenNumber known_to) { return below_.copy_range(asker, request, known_from, known_to); });
  });
  cache_.changed({}, request.to, {});
  return copied;
}

}  // namespace stoa::native
