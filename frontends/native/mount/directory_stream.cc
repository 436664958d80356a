#include "frontends/native/mount/directory_stream.h"

#include <algorithm>

namespace stoa::native::mount {

Status DirectoryStream::fetch(Storage& storage, const Asker& asker, core::FileId dir, std::uint64_t cookie,
                              bool attributes) {
  auto got = storage.readdir(asker, {.dir = dir,
                                     .cookie = cookie,
                                     .entries_max = kEntriesAtOnce,
                                     .name_bytes_max = kNameBytesAtOnce,
                                     .want_attributes = attributes});
  if (!got) return fail(got.error());
  piece_ = std::move(got->entries);
  // Without an entry and without an end a reader would ask for ever.
  last_ = got->end || piece_.empty();
  begins_behind_ = cookie;
  with_attributes_ = attributes;
  filled_ = true;
  return {};
}

std::ptrdiff_t DirectoryStream::index_behind(std::uint64_t cookie) const {
  if (!filled_) return -1;
  if (cookie == begins_behind_) return 0;
  const auto found =
      std::find_if(piece_.begin(), piece_.end(), [&](const auto& entry) { return entry.cookie == cookie; });
  return found == piece_.end() ? -1 : found - piece_.begin() + 1;
}

Status DirectoryStream::read(Storage& storage, const Asker& asker, core::FileId dir, std::uint64_t cookie,
                             bool attributes, fuse::EntrySink& sink) {
  const std::lock_guard lock(mutex_);
  bool taken_any = false;
  for (;;) {
    std::ptrdiff_t at = index_behind(cookie);
    const bool again = (cookie == 0 && !taken_any) || (attributes && !with_attributes_);
    const bool exhausted = at == std::ssize(piece_) && !last_;
    if (at < 0 || again || exhausted) {
      STOA_CHECK_OK(fetch(storage, asker, dir, cookie, attributes));
      at = 0;
    }
    for (; at < std::ssize(piece_); ++at) {
      if (!sink.add(piece_[static_cast<std::size_t>(at)], {})) return {};
      cookie = piece_[static_cast<std::size_t>(at)].cookie;
      taken_any = true;
    }
    // A reply that has entries is given before more are waited for.
    if (last_ || taken_any) return {};
  }
}

}  // namespace stoa::native::mount
