#include "frontends/native/cache/kept_directory.h"

#include <algorithm>

namespace stoa::native {
namespace {

void add_sorted(std::vector<core::FileId>& all, std::vector<core::FileId>& more) {
  std::ranges::sort(more);
  std::vector<core::FileId> both;
  both.reserve(all.size() + more.size());
  std::ranges::set_union(all, more, std::back_inserter(both));
  all = std::move(both);
}

}  // namespace

void KeptDirectory::add_left(core::FileId file) {
  bytes -= bare_bytes();
  if (left.size() == left.capacity()) {
    std::ranges::sort(left);
    left.erase(std::unique(left.begin(), left.end()), left.end());
  }
  left.push_back(file);
  bytes += bare_bytes();
}

void KeptDirectory::forget_most(core::FileId self, Moment now) {
  std::vector<Moment> moments;
  moments.reserve(files.size());
  for (const auto& [id, file] : files) moments.push_back(file.used);
  Moment last = 0;  // the files used then, or before, go
  if (!moments.empty()) {
    const auto at = moments.begin() + static_cast<std::ptrdiff_t>(moments.size() * 3 / 4);
    std::nth_element(moments.begin(), at, moments.end());
    last = *at;
  }
  bytes -= bare_bytes() + listing.bytes();
  std::vector<core::FileId> gone, gone_opened;
  std::erase_if(files, [&](const auto& one) {
    if (one.first == self || one.second.used > last) return false;
    bytes -= kFileBytes + one.second.bytes_beside();
    (one.second.opened ? gone_opened : gone).push_back(one.first);
    return true;
  });
  listing = {};  // whose names go
  std::erase_if(names, [&](const auto& one) {
    if (one.second.known && files.contains(one.second.id)) return false;
    bytes -= bytes_of_name(one.first);
    return true;
  });
  add_sorted(bare, gone);
  add_sorted(bare_opened, gone_opened);
  bytes += bare_bytes();
  complete = false;
  ahead = {};
  names_since = now;
}

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
