#include "qos/flow.h"

#include <algorithm>
#include <span>

namespace stoa::qos {
namespace {

// What a guarantee may catch up after its flow was served late.
constexpr std::int64_t kCatchUp = 100'000'000;
// What passes without waiting any longer makes no more debt than this.
constexpr std::int64_t kLateDebtMax = 10'000'000'000;

// By resource: which meter counts it, and where.
struct Place {
  Kind kind;
  std::size_t part;
};
constexpr Place kPlaces[kResources] = {
    {Kind::kRead, 0}, {Kind::kWrite, 0}, {Kind::kRead, 1}, {Kind::kWrite, 1}, {Kind::kMetadata, 0}};

std::span<const Resource> resources_of(Kind kind) {
  static constexpr Resource kRead[] = {Resource::kReadBytes, Resource::kReadOps};
  static constexpr Resource kWrite[] = {Resource::kWriteBytes, Resource::kWriteOps};
  static constexpr Resource kMetadata[] = {Resource::kMetadataOps};
  switch (kind) {
    case Kind::kRead:
      return kRead;
    case Kind::kWrite:
      return kWrite;
    case Kind::kMetadata:
      return kMetadata;
  }
  return {};
}

}  // namespace

Flow::Meter::Part& Flow::part(std::size_t resource) {
  return meter(kPlaces[resource].kind).parts[kPlaces[resource].part];
}
const Flow::Meter::Part& Flow::part(std::size_t resource) const {
  return meter(kPlaces[resource].kind).parts[kPlaces[resource].part];
}

FlowUse Flow::use() const {
  FlowUse use;
  for (std::size_t i = 0; i < kResources; ++i) use.admitted[i] = part(i).admitted.load(std::memory_order_relaxed);
  use.parked = parked_.load(std::memory_order_relaxed);
  use.refused = refused_.load(std::memory_order_relaxed);
  use.waiting = waiting_.load(std::memory_order_relaxed);
  return use;
}

bool Flow::take(const Price& price, std::int64_t now, std::int64_t* next) {
  ByResource<std::int64_t> paid{};
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] == 0) continue;
    Bucket& ceiling = part(i).ceiling;
    if (!ceiling.limited()) continue;
    const std::int64_t burst = meter(kPlaces[i].kind).burst.load(std::memory_order_relaxed);
    paid[i] = ceiling.cost(price.amount[i]);
    if (ceiling.take(now, burst, paid[i])) continue;
    if (next != nullptr) *next = ceiling.ready_at(burst);
    while (i-- > 0) {
      if (paid[i] != 0) part(i).ceiling.give_back(paid[i]);
    }
    return false;
  }
  return true;
}

void Flow::pay_late(const Price& price, std::int64_t now) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] == 0) continue;
    Bucket& ceiling = part(i).ceiling;
    if (ceiling.limited()) ceiling.pay(now, ceiling.cost(price.amount[i]), now + kLateDebtMax);
  }
}

void Flow::give_back(const Price& price) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] == 0) continue;
    Bucket& ceiling = part(i).ceiling;
    if (ceiling.limited()) ceiling.give_back(ceiling.cost(price.amount[i]));
  }
}

void Flow::count(const Price& price) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] != 0) part(i).admitted.fetch_add(price.amount[i], std::memory_order_relaxed);
  }
}

std::int64_t Flow::ready_at(Kind kind) const {
  const Meter& asked = meter(kind);
  const std::int64_t burst = asked.burst.load(std::memory_order_relaxed);
  std::int64_t at = Bucket::kAtOnce;
  for (const Meter::Part& one : asked.parts) at = std::max(at, one.ceiling.ready_at(burst));
  return at;
}

std::int64_t Flow::cost(const Price& price) const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] != 0) most = std::max(most, part(i).ceiling.cost(price.amount[i]));
  }
  return most;
}

void Flow::set(const Limits& limits, std::int64_t now) {
  weight_ = limits.weight;
  const std::int64_t burst = std::chrono::nanoseconds(std::max(limits.burst, kBurstMin)).count();
  for (Meter& one : meters_) one.burst.store(burst, std::memory_order_relaxed);
  for (std::size_t i = 0; i < kResources; ++i) {
    part(i).ceiling.set_rate(now, limits.ceiling[i]);
    guarantee_[i] = limits.guarantee[i].value_or(0);
    guarantee_until_[i] = std::min(guarantee_until_[i], now);
  }
}

bool Flow::guaranteed(Kind kind) const {
  return std::ranges::any_of(resources_of(kind), [this](Resource r) { return guarantee_[r] != 0; });
}

std::int64_t Flow::guarantee_due(Kind kind) const {
  std::int64_t due = std::numeric_limits<std::int64_t>::max();
  for (const Resource resource : resources_of(kind)) {
    if (guarantee_[resource] != 0) due = std::min(due, guarantee_until_[resource]);
  }
  return due;
}

void Flow::use_guarantee(const Price& price, std::int64_t now, bool first) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (guarantee_[i] == 0 || price.amount[i] == 0) continue;
    const auto cost =
        static_cast<std::int64_t>(static_cast<double>(price.amount[i]) * 1e9 / static_cast<double>(guarantee_[i]));
    std::int64_t& until = guarantee_until_[i];
    until = std::max(until, now - kCatchUp) + cost;
    // What it gets beyond its guarantee must not be held against it later.
    if (!first) until = std::min(until, now + cost);
  }
}

}  // namespace stoa::qos
