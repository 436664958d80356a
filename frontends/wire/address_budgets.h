// Shared budgets of the connections of each client address.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "frontends/wire/record_pool.h"

namespace stoa::wire {

// Thread-safe.
class AddressBudgets {
 public:
  using Address = std::array<std::uint8_t, 16>;
  std::shared_ptr<AddressBudget> of(const Address& address) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<AddressBudget>& known = budgets_[address];
    if (auto budget = known.lock()) return budget;
    std::erase_if(budgets_, [&](const auto& entry) { return entry.second.expired() && entry.first != address; });
    auto budget = std::make_shared<AddressBudget>();
    budgets_[address] = budget;
    return budget;
  }
  // Whether a connection of this address is open.
  bool connected(const Address& address) const {
    const std::lock_guard lock(mutex_);
    const auto known = budgets_.find(address);
    const auto budget = known == budgets_.end() ? nullptr : known->second.lock();
    return budget != nullptr && budget->connections.load() > 0;
  }

 private:
  mutable std::mutex mutex_;  // guards budgets_
  std::map<Address, std::weak_ptr<AddressBudget>> budgets_;
};

}  // namespace stoa::wire
