// The entries of one open directory, fetched in pieces larger than the kernel's buffers.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "frontends/native/fuse/file_system.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native::mount {

// Thread-safe. Cookies are the server's, stable for ever, so any place may be gone on from. A piece is fetched anew
// when the directory is read from its beginning, and kept until then for those who read on: readdir(3) leaves open
// whether it tells of later changes.
class DirectoryStream {
 public:
  static constexpr std::uint32_t kEntriesAtOnce = 1024;
  static constexpr std::uint32_t kNameBytesAtOnce = 128u << 10;

  // Entries behind `cookie`, until the sink is full or there are no more.
  Status read(Storage& storage, const Asker& asker, core::FileId dir, std::uint64_t cookie, bool attributes,
              fuse::EntrySink& sink);

 private:
  Status fetch(Storage& storage, const Asker& asker, core::FileId dir, std::uint64_t cookie, bool attributes);
  // The index of the entry behind `cookie`; -1: not in this piece.
  std::ptrdiff_t index_behind(std::uint64_t cookie) const;

  std::mutex mutex_;  // guards all below; held during a fetch: readers of one open directory take turns
  std::vector<core::DirectoryEntry> piece_;
  std::uint64_t begins_behind_ = 0;
  bool filled_ = false;
  bool with_attributes_ = false;
  bool last_ = false;  // nothing is behind the piece
};

}  // namespace stoa::native::mount
