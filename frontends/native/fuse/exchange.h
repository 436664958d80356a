// One request being answered: its arguments, and the memory for its reply.
#pragma once

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <type_traits>

#include "frontends/native/fuse/errno_table.h"
#include "frontends/native/fuse/file_system.h"
#include "frontends/native/fuse/init.h"
#include "frontends/native/fuse/request.h"

namespace stoa::native::fuse {

// What a request is answered with: an errno, or a body. The body lives in the Exchange.
struct Answer {
  int error = 0;
  std::span<const std::byte> body{};
};

class Exchange {
 public:
  // `space`: for replies larger than kSmallBytes; empty when there is none. It must not overlap the request.
  Exchange(FileSystem& fs, const Negotiated& negotiated, const Call& call, Request& request, std::span<std::byte> space)
      : fs(fs), negotiated(negotiated), call(call), header(request.header), in(request.arguments), space(space) {}

  FileSystem& fs;
  const Negotiated& negotiated;
  const Call& call;
  const fuse_in_header& header;
  Arguments& in;
  const std::span<std::byte> space;

  core::FileId id() const { return file_of(header.nodeid); }
  // FUSE calls the root of a mount 1, whatever its id is.
  core::FileId file_of(std::uint64_t node) const {
    return node == FUSE_ROOT_ID ? fs.root() : static_cast<core::FileId>(node);
  }
  std::uint64_t node_of(core::FileId id) const {
    return id == fs.root() ? FUSE_ROOT_ID : static_cast<std::uint64_t>(id);
  }
  OpenFile open_file(std::uint64_t handle) const { return {id(), static_cast<Handle>(handle)}; }

  // A reply of up to two fixed structures.
  template <class... T>
  Answer with(const T&... parts) {
    static_assert((std::is_trivially_copyable_v<T> && ...));
    static_assert((sizeof(T) + ...) <= kSmallBytes);
    std::size_t used = 0;
    ((std::memcpy(small_.data() + used, &parts, sizeof(T)), used += sizeof(T)), ...);
    return {.body = std::span<const std::byte>(small_).first(used)};
  }
  Answer done(const Status& status) const {
    if (!status) return failed(status.error());
    return {};
  }
  Answer failed(const Error& error) const { return {.error = errno_of(error)}; }
  Answer malformed() const { return {.error = EINVAL}; }
  // Bytes for a reply whose size the kernel limits to `most`: ERANGE when there are more.
  Answer text(std::string_view bytes, std::size_t most);

  // The name of a directory entry, next in the arguments. Empty, with `error` set: it can be none.
  std::string_view entry_name(int& error);

 private:
  static constexpr std::size_t kSmallBytes = 512;
  std::array<std::byte, kSmallBytes> small_{};
};

}  // namespace stoa::native::fuse
