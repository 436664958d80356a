// Notifications to the kernel: what it must no longer believe.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "core/api/ids.h"

namespace stoa::native::fuse {

// Thread-safe. Call it from a thread that holds no lock and serves no request: the kernel waits for the pages and the
// directory that a request in progress may hold. Errors: kNotFound, the kernel knows no such node or name.
class Notifier {
 public:
  // `fd` outlives it.
  Notifier(int fd, core::FileId root) : fd_(fd), root_(root) {}

  // Attributes, and the pages from `offset` on: `length` bytes, 0: to the end. A negative offset: attributes alone.
  // Dirty pages are written back first.
  Status inval_inode(core::FileId id, std::int64_t offset, std::int64_t length) const;
  // The name, looked up again at its next use. Waits for look-ups in the directory that are under way.
  Status inval_entry(core::FileId parent, std::string_view name) const;
  // The name is asked for again at its next use, and stays what it is when the answer is the same: nothing below it is
  // let go. Kernels before 6.2 do what inval_entry() does.
  Status expire_entry(core::FileId parent, std::string_view name) const;
  // All names of the mount, at once, and those that are being looked up. kNotSupported: the kernel is older than 6.16.
  Status inval_all_entries() const;

 private:
  Status tell_entry(core::FileId parent, std::string_view name, std::uint32_t flags) const;
  std::uint64_t node_of(core::FileId id) const;
  const int fd_;
  const core::FileId root_;
};

}  // namespace stoa::native::fuse
