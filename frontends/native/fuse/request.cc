#include "frontends/native/fuse/request.h"

#include "core/api/ids.h"

namespace stoa::native::fuse {

std::optional<std::string_view> Arguments::text() {
  const void* end = rest_.empty() ? nullptr : std::memchr(rest_.data(), 0, rest_.size());
  if (end == nullptr) return failed<std::string_view>();
  const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(end) - rest_.data());
  const std::string_view found(reinterpret_cast<const char*>(rest_.data()), length);
  rest_ = rest_.subspan(length + 1);
  return found;
}

std::optional<std::span<const std::byte>> Arguments::bytes(std::size_t length) {
  if (rest_.size() < length) return failed<std::span<const std::byte>>();
  const auto found = rest_.first(length);
  rest_ = rest_.subspan(length);
  return found;
}

std::optional<Request> parse_request(std::span<const std::byte> bytes) {
  Arguments all(bytes);
  const auto header = all.take<fuse_in_header>();
  if (!header || header->len != bytes.size()) return std::nullopt;
  const std::size_t extensions = std::size_t{header->total_extlen} * 8;
  if (extensions > all.left()) return std::nullopt;
  return Request{*header, Arguments(bytes.subspan(sizeof(fuse_in_header), all.left() - extensions))};
}

bool is_entry_name(std::string_view name) {
  if (name.empty() || name.size() > core::kNameBytesMax) return false;
  if (name == "." || name == "..") return false;
  return name.find('/') == std::string_view::npos;
}

}  // namespace stoa::native::fuse
