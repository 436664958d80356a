#include "frontends/native/fuse/notifier.h"

#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <span>

#include "frontends/native/fuse/kernel_abi.h"

namespace stoa::native::fuse {
namespace {

constexpr int kNotifyIncEpoch = 8;        // 7.44
constexpr std::uint32_t kExpireOnly = 1;  // 7.38

// `text` goes with its NUL, unless it is empty.
Status notify(int fd, int code, std::span<const std::byte> body, std::string_view text) {
  std::array<char, core::kNameBytesMax + 1> bytes{};
  if (text.size() > core::kNameBytesMax) return fail(Errc::kNameTooLong);
  std::copy(text.begin(), text.end(), bytes.begin());
  const std::size_t text_bytes = text.empty() ? 0 : text.size() + 1;
  fuse_out_header header{};
  header.len = static_cast<std::uint32_t>(sizeof(header) + body.size() + text_bytes);
  header.error = code;
  const std::array<iovec, 3> parts{iovec{&header, sizeof(header)},
                                   iovec{const_cast<std::byte*>(body.data()), body.size()},
                                   iovec{bytes.data(), text_bytes}};
  for (;;) {
    if (::writev(fd, parts.data(), parts.size()) >= 0) return {};
    if (errno == ENOENT) return fail(Errc::kNotFound);
    if (errno != EINTR) return fail_errno(errno, "a notification to the kernel");
  }
}

template <class Body>
std::span<const std::byte> bytes_of(const Body& body) {
  return std::as_bytes(std::span(&body, 1));
}

}  // namespace

std::uint64_t Notifier::node_of(core::FileId id) const {
  return id == root_ ? FUSE_ROOT_ID : static_cast<std::uint64_t>(id);
}

Status Notifier::inval_inode(core::FileId id, std::int64_t offset, std::int64_t length) const {
  const fuse_notify_inval_inode_out out{.ino = node_of(id), .off = offset, .len = length};
  return notify(fd_, FUSE_NOTIFY_INVAL_INODE, bytes_of(out), {});
}

Status Notifier::tell_entry(core::FileId parent, std::string_view name, std::uint32_t flags) const {
  if (name.empty()) return fail(Errc::kInvalid);
  const fuse_notify_inval_entry_out out{
      .parent = node_of(parent), .namelen = static_cast<std::uint32_t>(name.size()), .flags = flags};
  return notify(fd_, FUSE_NOTIFY_INVAL_ENTRY, bytes_of(out), name);
}

Status Notifier::inval_entry(core::FileId parent, std::string_view name) const {
  return tell_entry(parent, name, 0);
}

Status Notifier::expire_entry(core::FileId parent, std::string_view name) const {
  return tell_entry(parent, name, kExpireOnly);
}

Status Notifier::inval_all_entries() const {
  Status told = notify(fd_, kNotifyIncEpoch, {}, {});
  // The kernel's word for a notification that it does not know.
  if (!told && told.error().sys_errno == EINVAL) return fail(Errc::kNotSupported);
  return told;
}

}  // namespace stoa::native::fuse
