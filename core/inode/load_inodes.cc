#include "core/inode/load_inodes.h"

#include <algorithm>

#include "core/kv/keys.h"

namespace stoa::core {
namespace {

// Files created together have consecutive ids: one scan over all of them costs a fraction of as many look-ups, even
// if it meets some files that were not requested.
constexpr std::uint64_t kWalkedPerFileMax = 3;

using Taker = std::function<Status(std::size_t, Inode)>;

Status walk(KvReader& kv, std::span<const FileId> ids, std::span<const std::size_t> by_id, const Taker& take) {
  const FileId last = ids[by_id.back()];
  const auto it = kv.scan(Family::kInode, keys::id_key(ids[by_id.front()]), keys::behind_prefix(keys::id_key(last)));
  auto wanted = by_id.begin();
  for (; it->valid() && wanted != by_id.end(); it->next()) {
    const FileId id = keys::id_of(it->key());
    while (wanted != by_id.end() && ids[*wanted] < id) ++wanted;
    for (; wanted != by_id.end() && ids[*wanted] == id; ++wanted) {
      STOA_TRY(inode, Inode::decode(id, it->value()));
      STOA_CHECK_OK(take(*wanted, std::move(inode)));
    }
  }
  return it->status();
}

Status look_up(KvReader& kv, std::span<const FileId> ids, const Taker& take) {
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (const FileId id : ids) names.push_back(keys::id_key(id));
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<std::optional<std::string>> values(names.size());
  STOA_CHECK_OK(kv.multi_get(Family::kInode, views, values));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!values[i]) continue;
    STOA_TRY(inode, Inode::decode(ids[i], *values[i]));
    STOA_CHECK_OK(take(i, std::move(inode)));
  }
  return {};
}

}  // namespace

Status load_inodes(KvReader& kv, std::span<const FileId> ids, const Taker& take) {
  if (ids.empty()) return {};
  std::vector<std::size_t> by_id(ids.size());
  for (std::size_t i = 0; i < by_id.size(); ++i) by_id[i] = i;
  std::ranges::sort(by_id, {}, [&](std::size_t i) { return ids[i]; });
  const auto span = static_cast<std::uint64_t>(ids[by_id.back()]) - static_cast<std::uint64_t>(ids[by_id.front()]);
  return span / kWalkedPerFileMax < ids.size() ? walk(kv, ids, by_id, take) : look_up(kv, ids, take);
}

}  // namespace stoa::core
