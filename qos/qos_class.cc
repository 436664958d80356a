#include "qos/qos_class.h"

#include <algorithm>
#include <span>

namespace stoa::qos {
namespace {

// The most that a guarantee may catch up after its QoS class was served late.
constexpr std::int64_t kCatchUp = 100'000'000;
// Requests passed at their deadline make no more debt than this.
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

QosClass::Meter::Part& QosClass::part(std::size_t resource) {
  return meter(kPlaces[resource].kind).parts[kPlaces[resource].part];
}
const QosClass::Meter::Part& QosClass::part(std::size_t resource) const {
  return meter(kPlaces[resource].kind).parts[kPlaces[resource].part];
}

QosUse QosClass::use() const {
  QosUse use;
  for (std::size_t i = 0; i < kResources; ++i) use.admitted[i] = part(i).admitted.load(std::memory_order_relaxed);
  use.parked = parked_.load(std::memory_order_relaxed);
  use.refused = refused_.load(std::memory_order_relaxed);
  use.waiting = waiting_.load(std::memory_order_relaxed);
  return use;
}

bool QosClass::take(const Price& price, std::int64_t now, std::int64_t* next) {
  ByResource<std::int64_t> paid{};
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] == 0) continue;
    Bucket& limit = part(i).limit;
    if (!limit.limited()) continue;
    const std::int64_t burst = meter(kPlaces[i].kind).burst.load(std::memory_order_relaxed);
    paid[i] = limit.cost(price.amount[i]);
    if (limit.take(now, burst, paid[i])) continue;
    if (next != nullptr) *next = limit.ready_at(burst);
    while (i-- > 0) {
      if (paid[i] != 0) part(i).limit.give_back(paid[i]);
    }
    return false;
  }
  return true;
}

void QosClass::pay_late(const Price& price, std::int64_t now) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] == 0) continue;
    Bucket& limit = part(i).limit;
    if (limit.limited()) limit.pay(now, limit.cost(price.amount[i]), now + kLateDebtMax);
  }
}

void QosClass::give_back(const Price& price) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] == 0) continue;
    Bucket& limit = part(i).limit;
    if (limit.limited()) limit.give_back(limit.cost(price.amount[i]));
  }
}

void QosClass::count(const Price& price) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] != 0) part(i).admitted.fetch_add(price.amount[i], std::memory_order_relaxed);
  }
}

std::int64_t QosClass::ready_at(Kind kind) const {
  const Meter& asked = meter(kind);
  const std::int64_t burst = asked.burst.load(std::memory_order_relaxed);
  std::int64_t at = Bucket::kAtOnce;
  for (const Meter::Part& one : asked.parts) at = std::max(at, one.limit.ready_at(burst));
  return at;
}

std::int64_t QosClass::cost(const Price& price) const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < kResources; ++i) {
    if (price.amount[i] != 0) most = std::max(most, part(i).limit.cost(price.amount[i]));
  }
  return most;
}

void QosClass::set(const Limits& limits, std::int64_t now) {
  weight_ = limits.weight;
  const std::int64_t burst = std::chrono::nanoseconds(std::max(limits.burst, kBurstMin)).count();
  for (Meter& one : meters_) one.burst.store(burst, std::memory_order_relaxed);
  for (std::size_t i = 0; i < kResources; ++i) {
    part(i).limit.set_rate(now, limits.limit[i]);
    guarantee_[i] = limits.guarantee[i].value_or(0);
    guarantee_until_[i] = std::min(guarantee_until_[i], now);
  }
}

bool QosClass::guaranteed(Kind kind) const {
  return std::ranges::any_of(resources_of(kind), [this](Resource r) { return guarantee_[r] != 0; });
}

std::int64_t QosClass::guarantee_due(Kind kind) const {
  std::int64_t due = std::numeric_limits<std::int64_t>::max();
  for (const Resource resource : resources_of(kind)) {
    if (guarantee_[resource] != 0) due = std::min(due, guarantee_until_[resource]);
  }
  return due;
}

void QosClass::use_guarantee(const Price& price, std::int64_t now, bool first) {
  for (std::size_t i = 0; i < kResources; ++i) {
    if (guarantee_[i] == 0 || price.amount[i] == 0) continue;
    const auto cost =
        static_cast<std::int64_t>(static_cast<double>(price.amount[i]) * 1e9 / static_cast<double>(guarantee_[i]));
    std::int64_t& until = guarantee_until_[i];
    until = std::max(until, now - kCatchUp) + cost;
    // Service beyond its guarantee must not be held against the QoS class later.
    if (!first) until = std::min(until, now + cost);
  }
}

}  // namespace stoa::qos
