// A request of the kernel, read with its bounds checked.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "frontends/native/fuse/kernel_abi.h"

namespace stoa::native::fuse {

// Walks the arguments behind the header. Borrows the bytes. After a failed read everything fails.
class Arguments {
 public:
  explicit Arguments(std::span<const std::byte> bytes) : rest_(bytes) {}

  // A fixed structure; bytes that are missing make it fail.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::optional<T> take() {
    if (rest_.size() < sizeof(T)) return failed<T>();
    T value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  // Bytes up to a NUL, which is taken, too.
  std::optional<std::string_view> text();
  std::optional<std::span<const std::byte>> bytes(std::size_t length);
  std::size_t left() const { return rest_.size(); }

 private:
  template <class T>
  std::optional<T> failed() {
    rest_ = {};
    return std::nullopt;
  }
  std::span<const std::byte> rest_;
};

// The header and the arguments of a request. Extensions at its end are left out.
struct Request {
  fuse_in_header header;
  Arguments arguments;
};

// Empty: not even a header, or lengths that contradict each other.
std::optional<Request> parse_request(std::span<const std::byte> bytes);

// Whether a name may be one of a directory: 1..255 bytes, no '/', neither "." nor "..".
bool is_entry_name(std::string_view name);

}  // namespace stoa::native::fuse
