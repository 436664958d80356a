// A metadata store that can stop keeping changes, as if the process had been killed.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/kv/kv_store.h"

namespace stoa::core::test {

class KillableKv final : public KvStore {
 public:
  explicit KillableKv(KvStore& kv) : kv_(kv) {}
  bool dead = false;
  std::optional<int> keeps;  // so many changes yet, and dies then
  Result<bool> get(Family family, std::string_view key, std::string* value) override {
    return kv_.get(family, key, value);
  }
  Status multi_get(Family family, std::span<const std::string_view> keys,
                   std::span<std::optional<std::string>> values) override {
    return kv_.multi_get(family, keys, values);
  }
  std::unique_ptr<KvIterator> scan(Family family, std::string_view lower, std::string_view upper) override {
    return kv_.scan(family, lower, upper);
  }
  std::unique_ptr<KvReader> snapshot() override { return kv_.snapshot(); }
  Status apply(std::span<const WriteBatch* const> batches) override {
    if (keeps && (*keeps)-- == 0) dead = true;
    return dead ? Status{} : kv_.apply(batches);
  }
  Status write_out() override { return dead ? Status{} : kv_.write_out(); }
  Status sync() override { return dead ? Status{} : kv_.sync(); }

 private:
  KvStore& kv_;
};

}  // namespace stoa::core::test
