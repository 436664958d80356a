#include "frontends/native/fuse/exchange.h"

namespace stoa::native::fuse {

Answer Exchange::text(std::string_view bytes, std::size_t most) {
  if (bytes.size() > most || bytes.size() > space.size()) return {.error = ERANGE};
  if (!bytes.empty()) std::memcpy(space.data(), bytes.data(), bytes.size());
  return {.body = space.first(bytes.size())};
}

std::string_view Exchange::entry_name(int& error) {
  const auto name = in.text();
  error = 0;
  if (name && is_entry_name(*name)) return *name;
  error = name && name->size() > core::kNameBytesMax ? ENAMETOOLONG : EINVAL;
  return {};
}

}  // namespace stoa::native::fuse
