#include "frontends/native/cache/file_rights.h"

#include <algorithm>

#include "frontends/native/cache/memory_taken.h"

namespace stoa::native {

std::optional<FileRights::Of> FileRights::find(std::uint32_t user) const {
  if (first_.known != 0 && first_.user == user) return first_;
  if (!others_) return {};
  const auto at = std::ranges::find(*others_, user, &Of::user);
  return at == others_->end() ? std::nullopt : std::optional(*at);
}

void FileRights::keep(std::uint32_t user, std::uint32_t wanted, std::uint32_t granted) {
  Of* of = &first_;
  if (first_.known == 0) first_.user = user;
  if (first_.user != user) {
    if (!others_) others_ = std::make_unique<std::vector<Of>>();
    auto at = std::ranges::find(*others_, user, &Of::user);
    if (at == others_->end()) {
      if (others_->size() + 1 >= kUsersMost) others_->clear();
      at = others_->insert(others_->end(), {.user = user});
    }
    of = &*at;
  }
  of->known |= wanted;
  of->granted = (of->granted & ~wanted) | (granted & wanted);
}

std::int64_t FileRights::bytes_beside() const {
  if (!others_) return 0;
  return bytes_allocated(sizeof(std::vector<Of>)) + bytes_allocated(others_->capacity() * sizeof(Of));
}

}  // namespace stoa::native
