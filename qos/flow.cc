#include "qos/flow.h"

#include <algorithm>
#include <span>

namespace stoa::qos {
namespace {

// What a guarantee may catch up after its flow was served late.
constexpr std::int64_t kCatchUp = 100'000'000;
// What passes without waiting any longer makes no more debt than this.
constexpr std::int64_t kLateDebtMax = 10'000'000'000;

std::span<const Resource> resources_of(Kind kind) {
  static constexpr Resource kRead[] = {Resource::kReadBytes, Resource::kReadOps};
  static constexpr Resource kWrite[] = {Resource::kWriteBytes, Resource::kWriteOps};
  static constexpr Resource kMetadata[] = {Resource::kMetadataOps};
  switch (kind) {
    case Kind::kRead: return kRead;
    case Kind::kWrite: return kWrite;
    case Kind::kMetadata: return kMetadata;
  }
  return {};
}

}  // namespace

FlowUse Flow::use() const {
  FlowUse use;
  for (std::size_t i = 0; i < kResources; ++i) use.admitted[i] = admitted_[i].load(std::memory_order_relaxed);
  use.parked = parked_.load(std::memory_order_relaxed);
  use.refused = refused_.load(std::memory_order_relaxed);
  use.waiting = waiting_.load(std::memory_order_relaxed);
  return use;
}

bool Flow::take(const Price& price, std::int64_t now, std::int64_t* next) {
  const std::int64_t burst = burst_.load(std::memory_order_relaxed);
  ByResource<std::int64_t> paid{};
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] == 0 || !ceiling_[i].limited()) continue;
    paid[i] = ceiling_[i].cost(price.amount[i]);
    if (ceiling_[i].take(now, burst, paid[i])) continue;
    if (next != nullptr) *next = ceiling_[i].ready_at(burst);
    while (i-- > 0) ceiling_[i].give_back(paid[i]);
    return false;
  }
  return true;
}

void Flow::pay_late(const Price& price, std::int64_t now) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] != 0 && ceiling_[i].limited()) ceiling_[i].pay(now, ceiling_[i].cost(price.amount[i]), now + kLateDebtMax);
  }
}

void Flow::give_back(const Price& price) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] != 0 && ceiling_[i].limited()) ceiling_[i].give_back(ceiling_[i].cost(price.amount[i]));
  }
}

void Flow::count(const Price& price) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] != 0) admitted_[i].fetch_add(price.amount[i], std::memory_order_relaxed);
  }
}

std::int64_t Flow::ready_at(Kind kind) const {
  const std::int64_t burst = burst_.load(std::memory_order_relaxed);
  std::int64_t at = Bucket::kAtOnce;
  for (const Resource resource : resources_of(kind)) at = std::max(at, ceiling_[resource].ready_at(burst));
  return at;
}

std::int64_t Flow::cost(const Price& price) const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < kResources; ++i) most = std::max(most, ceiling_[i].cost(price.amount[i]));
  return most;
}

void Flow::set(const Limits& limits, std::int64_t now) {
  limits_ = limits;
  burst_.store(std::chrono::nanoseconds(std::max(limits.burst, kBurstMin)).count(), std::memory_order_relaxed);
  for (std::size_t i = 0; i < kResources; ++i) {
    ceiling_[i].set_rate(now, limits.ceiling[i]);
    guarantee_until_[i] = std::min(guarantee_until_[i], now);
  }
}

bool Flow::guaranteed(Kind kind) const {
  return std::ranges::any_of(resources_of(kind), [this](Resource r) { return limits_.guarantee[r].has_value(); });
}

std::int64_t Flow::guarantee_due(Kind kind) const {
  std::int64_t due = std::numeric_limits<std::int64_t>::max();
  for (const Resource resource : resources_of(kind)) {
    if (limits_.guarantee[resource]) due = std::min(due, guarantee_until_[resource]);
  }
  return due;
}

void Flow::use_guarantee(const Price& price, std::int64_t now, bool first) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (!limits_.guarantee[i] || price.amount[i] == 0) continue;
    const auto cost = static_cast<std::int64_t>(static_cast<double>(price.amount[i]) * 1e9 / static_cast<double>(*limits_.guarantee[i]));
    std::int64_t& until = guarantee_until_[i];
    until = std::max(until, now - kCatchUp) + cost;
    // What it gets beyond its guarantee must not be held against it later.
    if (!first) until = std::min(until, now + cost);
  }
}

}  // namespace stoa::qos
