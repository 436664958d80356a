#include "frontends/native/fuse/notifier.h"

#include <sys/uio.h>

#include <array>
#include <cerrno>

#include "frontends/native/fuse/kernel_abi.h"

namespace stoa::native::fuse {
namespace {

template <class Body>
Status notify(int fd, int code, const Body& body, std::string_view name) {
  // The name goes with its NUL.
  std::array<char, core::kNameBytesMax + 1> text{};
  if (name.size() > core::kNameBytesMax) return fail(Errc::kNameTooLong);
  std::copy(name.begin(), name.end(), text.begin());
  const std::size_t text_bytes = name.empty() ? 0 : name.size() + 1;
  fuse_out_header header{};
  header.len = static_cast<std::uint32_t>(sizeof(header) + sizeof(body) + text_bytes);
  header.error = code;
  const std::array<iovec, 3> parts{iovec{&header, sizeof(header)}, iovec{const_cast<Body*>(&body), sizeof(body)},
                                   iovec{text.data(), text_bytes}};
  for (;;) {
    if (::writev(fd, parts.data(), text_bytes == 0 ? 2 : 3) >= 0) return {};
    if (errno == ENOENT) return fail(Errc::kNotFound);
    if (errno != EINTR) return fail_errno(errno, "a notification to the kernel");
  }
}

}  // namespace

std::uint64_t Notifier::node_of(core::FileId id) const {
  return id == root_ ? FUSE_ROOT_ID : static_cast<std::uint64_t>(id);
}

Status Notifier::inval_inode(core::FileId id, std::int64_t offset, std::int64_t length) const {
  return notify(fd_, FUSE_NOTIFY_INVAL_INODE,
                fuse_notify_inval_inode_out{.ino = node_of(id), .off = offset, .len = length}, {});
}

Status Notifier::inval_entry(core::FileId parent, std::string_view name) const {
  if (name.empty()) return fail(Errc::kInvalid);
  return notify(fd_, FUSE_NOTIFY_INVAL_ENTRY,
                fuse_notify_inval_entry_out{
                    .parent = node_of(parent), .namelen = static_cast<std::uint32_t>(name.size()), .flags = 0},
                name);
}

}  // namespace stoa::native::fuse
