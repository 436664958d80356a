#include "core/api/qos_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace stoa::core {

std::uint64_t QosIndex::key_of(const QosTarget& target) {
  if (target.kind != QosKind::kClients) return target.id;
  std::array<std::uint64_t, 2> address{};
  std::memcpy(address.data(), target.network.address.data(), sizeof(address));
  return mixed(mixed(address[0] + target.network.prefix_bits) + address[1]);
}

QosIndex::Shard::Shard(std::vector<QosEntry> all) : entries(std::move(all)) {
  slots.resize(std::bit_ceil(2 * entries.size()));
  places.resize(slots.size());
  const std::uint64_t mask = slots.size() - 1;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t key = key_of(entries[i].rule.target);
    std::uint64_t at = mixed(key) & mask;
    while (slots[at].qos_class != nullptr) at = (at + 1) & mask;
    slots[at] = {key, entries[i].qos_class.get()};
    places[at] = static_cast<std::uint32_t>(i);
  }
}

void QosIndex::Spine::put(std::size_t at, std::vector<QosEntry> entries) {
  if (entries.empty()) {
    shards[at] = nullptr;
    views[at] = {};
    return;
  }
  auto shard = std::make_shared<const Shard>(std::move(entries));
  views[at] = {shard->slots.data(), shard->slots.size() - 1};
  shards[at] = std::move(shard);
}

QosIndex::QosIndex(std::vector<QosEntry> entries) : size_(entries.size()) {
  if (entries.empty()) return;
  std::vector<std::vector<QosEntry>> parts(std::size_t{1} << kShardBits);
  for (QosEntry& entry : entries) parts[shard_of(mixed(key_of(entry.rule.target)))].push_back(std::move(entry));
  const auto spine = std::make_shared<Spine>();
  for (std::size_t i = 0; i < parts.size(); ++i) spine->put(i, std::move(parts[i]));
  spine_ = spine;
}

QosIndex QosIndex::with_shard(std::size_t at, std::vector<QosEntry> entries, std::size_t size) const {
  QosIndex changed;
  if (size == 0) return changed;
  const auto spine = spine_ != nullptr ? std::make_shared<Spine>(*spine_) : std::make_shared<Spine>();
  spine->put(at, std::move(entries));
  changed.spine_ = spine;
  changed.size_ = size;
  return changed;
}

QosIndex QosIndex::with(QosEntry entry) const {
  const std::size_t at = shard_of(mixed(key_of(entry.rule.target)));
  std::vector<QosEntry> entries;
  if (const Shard* old = spine_ != nullptr ? spine_->shards[at].get() : nullptr; old != nullptr) {
    entries.reserve(old->entries.size() + 1);
    entries = old->entries;
  }
  std::size_t size = size_;
  const auto known = std::ranges::find(entries, entry.rule.target,
                                       [](const QosEntry& e) -> const QosTarget& { return e.rule.target; });
  if (known != entries.end()) {
    *known = std::move(entry);
  } else {
    entries.push_back(std::move(entry));
    ++size;
  }
  return with_shard(at, std::move(entries), size);
}

QosIndex QosIndex::without(const QosTarget& target) const {
  if (find(target) == nullptr) return *this;
  const std::size_t at = shard_of(mixed(key_of(target)));
  std::vector<QosEntry> entries;
  entries.reserve(spine_->shards[at]->entries.size());
  for (const QosEntry& entry : spine_->shards[at]->entries) {
    if (entry.rule.target != target) entries.push_back(entry);
  }
  return with_shard(at, std::move(entries), size_ - 1);
}

const QosEntry* QosIndex::find(const QosTarget& target) const {
  if (size_ == 0) return nullptr;
  const std::uint64_t key = key_of(target);
  const std::uint64_t hash = mixed(key);
  const Shard* shard = spine_->shards[shard_of(hash)].get();
  if (shard == nullptr) return nullptr;
  const std::uint64_t mask = shard->slots.size() - 1;
  for (std::uint64_t at = hash & mask; shard->slots[at].qos_class != nullptr; at = (at + 1) & mask) {
    const QosEntry& entry = shard->entries[shard->places[at]];
    if (shard->slots[at].key == key && entry.rule.target == target) return &entry;
  }
  return nullptr;
}

void QosIndex::append_to(std::vector<const QosEntry*>& all) const {
  if (size_ == 0) return;
  const std::size_t before = all.size();
  all.reserve(before + size_);
  for (const auto& shard : spine_->shards) {
    if (shard == nullptr) continue;
    for (const QosEntry& entry : shard->entries) all.push_back(&entry);
  }
  std::ranges::sort(std::span(all).subspan(before), {},
                    [](const QosEntry* entry) -> const QosTarget& { return entry->rule.target; });
}

}  // namespace stoa::core
