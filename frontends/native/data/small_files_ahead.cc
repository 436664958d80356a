#include "frontends/native/data/small_files_ahead.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace stoa::native::data {
namespace {

// How much of a listing is looked at for one message: the cache is locked meanwhile.
constexpr std::size_t kEntriesLookedAt = 512;
// Then all has been read ahead, or by programs: files are read ahead once more when programs read them again.
constexpr std::uint32_t kLapsFirst = 2;

}  // namespace

void SmallFilesAhead::seen(const OpenFile& open, const HeldLease& lease, bool was_ahead) {
  const core::FileId file = open.file->id;
  if (lease.file == file || open.size == 0 || open.size > DirectoryReads::kFileBytesMost) return;
  const DirectoryRef directory = watched(lease);
  if (!directory->reads->seen(open.size, was_ahead)) return;
  const bool may = at_work_.fetch_add(1) < kMessagesMost;
  const bool posted = may && workers_.post([this, directory, cred = open.cred, file] {
    read_pieces(*directory, cred, file);
    directory->reads->end();
    --at_work_;
  });
  if (posted) return;
  directory->reads->end();
  --at_work_;
}

SmallFilesAhead::DirectoryRef SmallFilesAhead::watched(const HeldLease& lease) {
  const std::lock_guard lock(mutex_);
  if (directories_.size() >= kDirectoriesMost && !directories_.contains(lease.file)) directories_.clear();
  DirectoryRef& at = directories_[lease.file];
  if (at == nullptr || at->lease != lease.number) {
    at = std::make_shared<Directory>();
    at->id = lease.file;
    at->lease = lease.number;
  }
  return at;
}

void SmallFilesAhead::read_pieces(Directory& directory, const core::Credentials& cred, core::FileId last) {
  while (!stopping_) {
    const std::vector<Begun> piece = begin_piece(directory, cred, last);
    if (piece.empty()) return;
    fetch(cred, piece);
  }
}

// A directory that is read in its order is read ahead from behind the file that was missing; a small one is read all
// around from there. False: there is nothing to do.
bool SmallFilesAhead::place(Directory& directory, core::FileId last, bool small) {
  const bool lost = directory.reads->is_lost();
  if (directory.placed && (small || !lost)) return true;
  if (directory.laps >= kLapsFirst && !lost) return false;
  directory.after = covers_.place_in_listing(directory.id, last);
  directory.placed = true;
  return true;
}

std::vector<SmallFilesAhead::Begun> SmallFilesAhead::begin_piece(Directory& directory, const core::Credentials& cred,
                                                                 core::FileId last) {
  std::vector<Begun> piece;
  DirectoryReads& reads = *directory.reads;
  const std::uint64_t most = budget_.bytes_most() / 2;
  if (!budget_.make_room(DirectoryReads::kPieceMost, most)) {
    reads.found_nothing();
    return piece;
  }
  // Neither a recall nor a change of this client takes a file from under the lease before its block is there.
  const auto pin = covers_.pin(directory.id, core::kReadCaching);
  if (!pin || pin->lease().number != directory.lease) return piece;
  const std::size_t entries = covers_.listed(cred, directory.id, {}).entries;
  const std::uint64_t may_take = reads.may_take(entries, most);
  if (may_take == 0) return piece;
  if (!place(directory, last, reads.is_small(entries, most))) {
    reads.found_nothing();
    return piece;
  }
  const Listed found =
      covers_.listed(cred, directory.id,
                     {.after = directory.after,
                      .entries_most = kEntriesLookedAt,
                      .files_most = std::clamp<std::size_t>(may_take / reads.mean_cost(), 1, kFilesMost),
                      .size_most = DirectoryReads::kFileBytesMost,
                      .bytes_most = may_take,
                      .opened = directory.laps >= kLapsFirst,
                      .like = last});
  directory.after = found.next;
  if (found.end) {
    directory.after = 0;
    if (++directory.laps >= kLapsFirst) directory.placed = false;
  }
  for (const ListedFile& one : found.files) {
    if (auto begun = begin(directory, one)) piece.push_back(std::move(*begun));
  }
  if (piece.empty()) reads.found_nothing();
  return piece;
}

std::optional<SmallFilesAhead::Begun> SmallFilesAhead::begin(const Directory& directory, const ListedFile& listed) {
  auto file = files_.get(listed.id);
  const std::lock_guard lock(file->mutex);
  if (file->through != 0 || !file->writes.empty()) return {};
  if (file->lease != directory.lease) file->blocks.clear();
  if (!file->blocks.empty()) return {};
  file->lease = directory.lease;
  // One byte more, to know that it ends there.
  const auto block = file->blocks.begin({0, listed.size + 1}, file->lease, budget_.bytes()).at(0);
  block->ahead = std::make_unique<FileAhead>(directory.reads, listed.size);
  return Begun{std::move(file), block};
}

void SmallFilesAhead::fetch(const core::Credentials& cred, const std::vector<Begun>& piece) {
  std::vector<LargeArray> arrays;
  std::vector<StorageRead> asked;
  for (const Begun& one : piece) {
    arrays.push_back(make_large_array(one.block->length));
    asked.push_back({.id = one.file->id, .into = {arrays.back().get(), one.block->length}});
  }
  const Asker asker{.cred = cred, .gives_up = [this] { return stopping_.load(); }};
  const auto results = below_.read_all(asker, asked);
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const auto& [file, block] = piece[i];
    {
      const std::lock_guard lock(file->mutex);
      // Forgotten or overwritten meanwhile: the bytes are nobody's.
      if (!results[i]) {
        file->blocks.remove(block);
      } else if (file->blocks.has(block)) {
        block->arrived(std::move(arrays[i]), *results[i]);
      }
      file->changed.notify_all();
    }
    budget_.arrived(file, block);
  }
}

}  // namespace stoa::native::data
