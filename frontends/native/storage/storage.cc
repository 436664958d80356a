#include "frontends/native/storage/storage.h"

#include "frontends/native/client/large_memory.h"

namespace stoa::native {

Result<StorageBytes> Storage::read_to_keep(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                           std::size_t length) {
  LargeArray memory = make_large_array(length);
  STOA_TRY(got, read(asker, id, open, offset, {memory.get(), length}));
  return StorageBytes{.memory = std::move(memory), .length = got};
}

std::vector<Result<std::size_t>> Storage::read_all(const Asker& asker, std::span<const StorageRead> reads) {
  std::vector<Result<std::size_t>> results;
  results.reserve(reads.size());
  for (const StorageRead& one : reads) results.push_back(read(asker, one.id, 0, one.offset, one.into));
  return results;
}

std::vector<Result<StorageWritten>> Storage::write_all(const Asker& asker, std::span<const StorageWrite> writes) {
  std::vector<Result<StorageWritten>> results;
  results.reserve(writes.size());
  for (const StorageWrite& one : writes) {
    results.push_back(
        write(asker, one.id, one.open, one.offset, one.data, {.durable = one.durable, .lease = one.lease}));
    if (one.closes) close(asker, one.open);
  }
  return results;
}

Status Storage::open_directory(const Asker& asker, core::FileId dir) {
  STOA_TRY(granted, access(asker, dir, core::kAccessRead));
  return (granted & core::kAccessRead) != 0 ? Status{} : fail(Errc::kAccess);
}

std::vector<Status> Storage::commit_all(const Asker& asker, std::span<const StorageCommit> commits) {
  std::vector<Status> results;
  results.reserve(commits.size());
  for (const StorageCommit& one : commits) results.push_back(commit(asker, one.id, one.open));
  return results;
}

}  // namespace stoa::native
