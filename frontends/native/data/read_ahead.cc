#include "frontends/native/data/read_ahead.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace stoa::native::data {
namespace {

constexpr std::chrono::milliseconds kAsksReaderAgain{100};
// What is read ahead of all programs comes with other files: a reader that waits for it longer asks itself.
constexpr std::chrono::milliseconds kWaitsForOthers{20};

// Lays buffered bytes over those of the server. `end`: where the buffered bytes of the file end; what the server does
// not have before it is a hole. Returns how many bytes there are.
std::size_t lay_over(const WriteBuffer::Pieces& pieces, std::uint64_t end, std::uint64_t offset, std::size_t have,
                     std::span<std::byte> into) {
  if (end > offset + have) {
    const std::size_t until = std::min<std::uint64_t>(into.size(), end - offset);
    std::memset(into.data() + have, 0, until - have);
    have = until;
  }
  for (const auto& piece : pieces) {
    const std::uint64_t from = std::max(offset, piece->offset);
    const std::uint64_t to = std::min(offset + have, piece->end());
    if (from < to) std::memcpy(into.data() + (from - offset), piece->bytes.data() + (from - piece->offset), to - from);
  }
  return have;
}

}  // namespace

ReadAhead::~ReadAhead() {
  stopping_ = true;
  fetchers_.stop();
}

Result<std::size_t> ReadAhead::read_below(const Asker& asker, const File& file, core::FileId id, OpenNumber open,
                                          std::uint64_t offset, std::span<std::byte> into) {
  // Before the server is asked: what arrives there meanwhile is no longer buffered afterwards.
  WriteBuffer::Pieces pieces;
  std::uint64_t end = 0;
  if (file) {
    const std::lock_guard lock(file->mutex);
    pieces = file->writes.overlapping(offset, into.size());
    end = file->writes.end();
  }
  STOA_TRY(have, read_slices(asker, id, open, offset, into));
  if (end == 0) return std::size_t{have};
  const std::lock_guard lock(file->mutex);
  return lay_over(pieces, end, offset, have, into);
}

// Slices of one message each, several at a time: helpers take what is left of them.
Result<std::size_t> ReadAhead::read_slices(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                                           std::span<std::byte> into) {
  if (into.size() <= kWriteBytesMost) return below_.read(asker, id, open, offset, into);
  const std::size_t count = (into.size() + kWriteBytesMost - 1) / kWriteBytesMost;
  struct Shared {
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t next = 0, running = 0;
    std::vector<Result<std::size_t>> results;
  };
  const auto shared = std::make_shared<Shared>();
  shared->results.resize(count, std::size_t{0});
  const auto run = [this, shared, &asker, id, open, offset, into, count] {
    std::unique_lock lock(shared->mutex);
    while (shared->next < count) {
      const std::size_t mine = shared->next++;
      ++shared->running;
      lock.unlock();
      const std::size_t at = mine * kWriteBytesMost;
      auto result =
          below_.read(asker, id, open, offset + at, into.subspan(at, std::min(kWriteBytesMost, into.size() - at)));
      lock.lock();
      shared->results[mine] = std::move(result);
      --shared->running;
    }
    shared->ended.notify_all();
  };
  // A helper that comes too late finds nothing to do, and looks at nothing of the caller.
  for (std::size_t i = 1; i < std::min<std::size_t>(count, 8); ++i) {
    if (!fetchers_.post(run)) break;
  }
  run();
  std::unique_lock lock(shared->mutex);
  shared->ended.wait(lock, [&] { return shared->running == 0; });
  std::size_t have = 0;
  for (const auto& result : shared->results) {
    if (!result) {
      if (have != 0) break;
      return fail(result.error());
    }
    have += *result;
    if (*result < kWriteBytesMost) break;
  }
  return have;
}

Result<std::size_t> ReadAhead::read(const Asker& asker, const std::shared_ptr<OpenFile>& open, std::uint64_t offset,
                                    std::span<std::byte> into) {
  const File& file = open->file;
  if (into.size() > kWriteBytesMost) return read_below(asker, file, file->id, open->number, offset, into);
  Beginning beginning;
  auto done = read_blocks(asker, open, offset, into, beginning);
  if (!done) return done;
  plan(open, offset, into.size());
  if (beginning.is) small_files_.seen(*open, beginning.lease, beginning.was_ahead);
  return done;
}

Result<std::size_t> ReadAhead::read_blocks(const Asker& asker, const std::shared_ptr<OpenFile>& open,
                                           std::uint64_t offset, std::span<std::byte> into, Beginning& beginning) {
  const File& file = open->file;
  std::size_t have = 0;
  bool whole = offset == 0;  // a small file is read whole; one that cannot be is read as it is asked for
  while (have < into.size()) {
    const std::span<std::byte> rest = into.subspan(have);
    std::vector<BlockRef> begun;
    const Step next = step(open, offset + have, rest, std::exchange(whole, false), begun, beginning);
    if (!begun.empty()) {
      for (const BlockRef& block : begun) fetch(asker, open, block);
      continue;
    }
    if (next.awaited) {
      STOA_CHECK_OK(wait_for_block(asker, file, next.awaited));
      continue;
    }
    if (next.done) {
      have += next.bytes;
      beginning.was_ahead |= next.was_ahead;
      if (next.ends) break;
      continue;
    }
    const auto got = read_below(asker, file, file->id, open->number, offset + have, rest.first(next.bytes));
    if (!got) {
      if (have != 0) break;
      return got;
    }
    have += *got;
    if (*got < next.bytes) break;
  }
  return have;
}

// As much as one block has, under a pin.
ReadAhead::Step ReadAhead::step(const std::shared_ptr<OpenFile>& open, std::uint64_t offset, std::span<std::byte> into,
                                bool whole, std::vector<BlockRef>& begun, Beginning& beginning) {
  BufferedFile& file = *open->file;
  const auto pin = covers_.pin(file.id, core::kReadCaching);
  if (!pin) return {.bytes = into.size()};
  const std::lock_guard lock(file.mutex);
  if (file.lease != pin->lease().number) {
    file.blocks.clear();
    if (!file.writes.empty()) return {.bytes = into.size()};
    file.lease = pin->lease().number;
  }
  if (offset == 0 && !std::exchange(open->begun, true)) beginning = {.is = true, .lease = pin->lease()};
  std::uint64_t gap = 0;
  const BlockRef block = file.blocks.find(offset, into.size(), &gap);
  if (!block) {
    const bool small = whole && open->size > into.size() && open->size <= kSmallFile && file.through == 0;
    // One byte more, to know that it ends there.
    if (small) begun = file.blocks.begin({0, open->size + 1}, file.lease, budget_.bytes());
    for (const BlockRef& one : begun) one->kept = true;
    return {.bytes = static_cast<std::size_t>(gap)};
  }
  if (!block->there) return {.awaited = block};
  const std::uint64_t at = offset - block->offset;
  const std::size_t wanted = std::min<std::uint64_t>(into.size(), block->length - at);
  const std::size_t here = at < block->valid ? std::min<std::uint64_t>(wanted, block->valid - at) : 0;
  if (here > 0) std::memcpy(into.data(), block->bytes.get() + at, here);
  block->used += here;
  block->used_up = block->used >= block->valid;
  if (block->used_up && !block->kept) file.blocks.remove(block);
  const bool was_ahead = block->ahead != nullptr;
  if (was_ahead) block->ahead->use();
  std::size_t have = here;
  const auto part = into.first(wanted);
  if (!file.writes.empty()) {
    have = lay_over(file.writes.overlapping(offset, wanted), file.writes.end(), offset, here, part);
  }
  return {.done = true, .bytes = have, .ends = have < wanted, .was_ahead = was_ahead};
}

Status ReadAhead::wait_for_block(const Asker& asker, const File& file, const BlockRef& block) {
  std::unique_lock lock(file->mutex);
  while (file->blocks.has(block) && !block->there) {
    const bool of_others = block->ahead != nullptr;
    const auto waited = file->changed.wait_for(lock, of_others ? kWaitsForOthers : kAsksReaderAgain);
    if (of_others && waited == std::cv_status::timeout && !block->there) file->blocks.remove(block);
    lock.unlock();
    const bool over = asker.gives_up && asker.gives_up();
    lock.lock();
    if (over) return fail_errno(EINTR, "interrupted");
  }
  return {};
}

// What comes next, under the lease that the file has.
void ReadAhead::plan(const std::shared_ptr<OpenFile>& open, std::uint64_t offset, std::uint64_t length) {
  const File& file = open->file;
  std::vector<BlockRef> begun;
  std::vector<Range> ranges;
  {
    const std::lock_guard lock(file->mutex);
    ranges = open->pattern.seen(offset, length);
  }
  if (ranges.empty()) return;
  std::uint64_t all = 0;
  for (const Range& range : ranges) all += range.length;
  if (!budget_.make_room(all)) return;
  const auto pin = covers_.pin(file->id, core::kReadCaching);
  {
    const std::lock_guard lock(file->mutex);
    if (!pin || file->through != 0 || file->lease != pin->lease().number) return;
    const std::uint64_t end = std::max({open->size, file->newest ? file->newest->size : 0, file->writes.end()});
    for (Range range : ranges) {
      if (range.offset >= end) continue;
      range.length = std::min(range.length, end - range.offset);
      for (BlockRef& block : file->blocks.begin(range, file->lease, budget_.bytes())) begun.push_back(std::move(block));
    }
  }
  for (const BlockRef& block : begun) {
    if (fetchers_.post([this, open, block] { fetch(fetcher(*open), open, block); })) continue;
    const std::lock_guard lock(file->mutex);
    file->blocks.remove(block);
    file->changed.notify_all();
  }
}

Asker ReadAhead::fetcher(const OpenFile& open) const {
  return {.cred = open.cred, .gives_up = [this] { return stopping_.load(); }};
}

void ReadAhead::fetch(const Asker& asker, const std::shared_ptr<OpenFile>& open, const BlockRef& block) {
  const File& file = open->file;
  auto got = block->length <= kWriteBytesMost
                 ? below_.read_to_keep(asker, file->id, open->number, block->offset, block->length)
                 : read_whole(asker, *open, *block);
  {
    const std::lock_guard lock(file->mutex);
    // Forgotten or overwritten meanwhile: the bytes are nobody's.
    if (!got) {
      file->blocks.remove(block);
    } else if (file->blocks.has(block)) {
      block->arrived(std::move(got->memory), got->length);
    }
    file->changed.notify_all();
  }
  budget_.arrived(file, block);
}

// A block of a small file is a byte longer than one message.
Result<StorageBytes> ReadAhead::read_whole(const Asker& asker, const OpenFile& open, const Block& block) {
  auto memory = make_large_array(block.length);
  std::size_t have = 0;
  while (have < block.length) {
    const std::size_t ask = std::min<std::size_t>(kWriteBytesMost, block.length - have);
    STOA_TRY(got, below_.read(asker, open.file->id, open.number, block.offset + have, {memory.get() + have, ask}));
    have += got;
    if (got < ask) break;
  }
  return StorageBytes{.memory = std::move(memory), .length = have};
}

}  // namespace stoa::native::data
