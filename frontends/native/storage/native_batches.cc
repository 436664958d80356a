// Reads, writes and commits of many files in one message. The server ends a message at the first operation that fails:
// the rest is asked again without it.
#include <algorithm>

#include "frontends/native/storage/native_storage.h"
#include "frontends/native/storage/wire_values.h"

namespace stoa::native {
namespace {

Result<StorageWritten> write_result(const Replies& replies, std::size_t operation, std::size_t asked) {
  STOA_TRY(reply, replies.get<operations::write>(operation));
  if (reply.length > asked) return fail(Errc::kCorrupt, "more was written than asked");
  STOA_TRY(attr, from_wire(reply.attr));
  return StorageWritten{reply.length, attr};
}

}  // namespace

std::vector<Result<std::size_t>> NativeStorage::read_all(const Asker& asker, std::span<const StorageRead> reads) {
  std::vector<Result<std::size_t>> results;
  results.reserve(reads.size());
  while (results.size() < reads.size()) {
    const auto rest = reads.subspan(results.size());
    Batch batch;
    for (const StorageRead& one : rest) {
      batch.add<operations::read>(
          {.file = wire_file(one.id), .offset = one.offset, .length = static_cast<U32>(one.into.size())});
    }
    const auto replies = run(asker, batch);
    if (!replies || replies->size() == 0) {
      const Error error = replies ? Error{Errc::kCorrupt} : replies.error();
      while (results.size() < reads.size()) results.push_back(fail(error));
      return results;
    }
    for (std::size_t i = 0; i < replies->size(); ++i) {
      const auto reply = replies->get<operations::read>(i);
      const auto data = replies->data(i);
      // A message takes only so much: what had no room may look like the end of the file.
      const bool has_all = reply && (reply->end_of_file != 0 || data.size() >= rest[i].into.size());
      const std::size_t length = std::min(data.size(), rest[i].into.size());
      if (has_all) std::copy_n(data.begin(), length, rest[i].into.begin());
      if (reply && !has_all) {
        results.push_back(fail(Errc::kTooLarge, "it had no room in the reply"));
      } else {
        results.push_back(reply ? Result<std::size_t>(length) : fail(reply.error()));
      }
    }
  }
  return results;
}

std::vector<Result<StorageWritten>> NativeStorage::write_all(const Asker& asker, std::span<const StorageWrite> writes) {
  std::vector<Result<StorageWritten>> results;
  results.reserve(writes.size());
  bool closes_first = false;  // the write that failed last left its close to do
  while (results.size() < writes.size() || closes_first) {
    const std::size_t first = results.size();
    Batch batch;
    if (closes_first) batch.add<operations::close>({.open = writes[first - 1].open});
    std::vector<std::size_t> places;  // of the writes from `first` on, in the batch
    for (const StorageWrite& one : writes.subspan(first)) {
      places.push_back(batch.add_write({.file = wire_file(one.id),
                                        .open = one.open,
                                        .offset = one.offset,
                                        .stable = one.durable ? 1u : 0u,
                                        .lease = one.lease},
                                       one.data));
      if (one.closes) batch.add<operations::close>({.open = one.open});
    }
    closes_first = false;
    const auto replies = run(asker, batch);
    if (!replies || replies->size() == 0) {
      const Error error = replies ? Error{Errc::kCorrupt} : replies.error();
      while (results.size() < writes.size()) results.push_back(fail(error));
      return results;
    }
    for (const std::size_t place : places) {
      if (place >= replies->size()) break;
      const StorageWrite& one = writes[results.size()];
      results.push_back(write_result(*replies, place, one.data.size()));
      closes_first = one.closes && replies->status(place) != WireStatus::ok;
    }
    // A close that fails is one of an open that the server does not know: closed, and the writes behind it come next.
  }
  return results;
}

std::vector<Status> NativeStorage::commit_all(const Asker& asker, std::span<const StorageCommit> commits) {
  std::vector<Status> results;
  results.reserve(commits.size());
  while (results.size() < commits.size()) {
    Batch batch;
    for (const StorageCommit& one : commits.subspan(results.size())) {
      batch.add<operations::commit>({.file = wire_file(one.id), .open = one.open});
    }
    const auto replies = run(asker, batch);
    if (!replies || replies->size() == 0) {
      const Error error = replies ? Error{Errc::kCorrupt} : replies.error();
      while (results.size() < commits.size()) results.push_back(fail(error));
      return results;
    }
    for (std::size_t i = 0; i < replies->size(); ++i) {
      const auto reply = replies->get<operations::commit>(i);
      results.push_back(reply ? Status{} : fail(reply.error()));
    }
  }
  return results;
}

}  // namespace stoa::native
