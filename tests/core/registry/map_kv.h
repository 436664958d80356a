// A key-value store of one std::map a family: enough to drive the registry alone, with failures on demand.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/kv/kv_store.h"

namespace stoa::core {

class MapKv final : public KvStore {
 public:
  Result<bool> get(Family family, std::string_view key, std::string* value) override {
    const auto& map = maps_[static_cast<std::size_t>(family)];
    const auto it = map.find(key);
    if (it == map.end()) return false;
    *value = it->second;
    return true;
  }
  Status multi_get(Family family, std::span<const std::string_view> keys,
                   std::span<std::optional<std::string>> values) override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::string value;
      STOA_TRY(found, get(family, keys[i], &value));
      if (found) values[i] = value;
    }
    return {};
  }
  std::unique_ptr<KvIterator> scan(Family family, std::string_view lower, std::string_view upper) override {
    return std::make_unique<Walk>(maps_[static_cast<std::size_t>(family)], lower, upper);
  }
  Status apply(std::span<const WriteBatch* const> batches) override {
    for (const WriteBatch* batch : batches) {
      for (const WriteBatch::Op& op : batch->ops()) {
        auto& map = maps_[static_cast<std::size_t>(op.family)];
        const std::string key(batch->key(op));
        if (op.remove) {
          map.erase(key);
        } else {
          map[key] = batch->value(op);
        }
      }
    }
    return {};
  }
  Status sync() override { return {}; }

 private:
  using Map = std::map<std::string, std::string, std::less<>>;
  class Walk final : public KvIterator {
   public:
    Walk(const Map& map, std::string_view lower, std::string_view upper) {
      for (auto it = map.lower_bound(lower); it != map.end() && (upper.empty() || it->first < upper); ++it) {
        rows_.emplace_back(*it);
      }
    }
    void seek(std::string_view key) override {
      for (at_ = 0; at_ < rows_.size() && rows_[at_].first < key;) ++at_;
    }
    bool valid() const override { return at_ < rows_.size(); }
    void next() override { ++at_; }
    std::string_view key() const override { return rows_[at_].first; }
    std::string_view value() const override { return rows_[at_].second; }
    Status status() const override { return {}; }

   private:
    std::vector<std::pair<std::string, std::string>> rows_;
    std::size_t at_ = 0;
  };
  std::array<Map, kFamilies> maps_;
};

}  // namespace stoa::core
