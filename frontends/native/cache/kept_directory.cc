#include "frontends/native/cache/kept_directory.h"

namespace stoa::native {

std::size_t KnownUsers::Hash::operator()(const core::Credentials& cred) const {
  constexpr std::size_t kOdd = 0x9e3779b97f4a7c15;
  std::size_t hash = cred.uid * kOdd + cred.gid;
  for (const std::uint32_t group : cred.groups) hash = (hash ^ group) * kOdd;
  return hash;
}

std::uint32_t KnownUsers::number_of(const core::Credentials& cred) {
  if (const auto found = numbers_.find(cred); found != numbers_.end()) return found->second;
  if (numbers_.size() >= kUsersMost) numbers_.clear();
  numbers_.emplace(cred, ++last_);
  return last_;
}

}  // namespace stoa::native
