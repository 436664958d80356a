#include "frontends/admin/throttle.h"

#include <arpa/inet.h>

#include <algorithm>

namespace stoa::admin {
namespace {

std::chrono::nanoseconds time_for(double tokens, double rate) {
  return std::chrono::ceil<std::chrono::nanoseconds>(std::chrono::duration<double>(tokens / rate));
}

}  // namespace

void Throttle::Bucket::refill(double rate, double burst, Time now) {
  if (now <= at) return;
  tokens = std::min(burst, tokens + rate * std::chrono::duration<double>(now - at).count());
  at = now;
}

Throttle::Known& Throttle::know(std::string_view who, Time now) {
  if (const auto it = by_name_.find(who); it != by_name_.end()) {
    known_.splice(known_.begin(), known_, it->second);
    return known_.front();
  }
  if (known_.size() >= limits_.known_max) {
    by_name_.erase(known_.back().who);
    known_.pop_back();
  }
  Known& fresh = known_.emplace_front();
  fresh.who = who;
  fresh.requests = {limits_.requests_burst, now};
  fresh.failures = {limits_.failures_burst, now};
  by_name_.emplace(fresh.who, known_.begin());
  return fresh;
}

Throttle::Wait Throttle::admit(std::string_view who, Time now) {
  const std::lock_guard lock(mutex_);
  Bucket& bucket = know(who, now).requests;
  bucket.refill(limits_.requests_per_second, limits_.requests_burst, now);
  if (bucket.tokens < 1) return time_for(1 - bucket.tokens, limits_.requests_per_second);
  bucket.tokens -= 1;
  return {};
}

Throttle::Wait Throttle::fail(std::string_view address, Time now) {
  const std::lock_guard lock(mutex_);
  Known& known = know(address, now);
  if (now < known.delayed_until) return known.delayed_until - now;
  if (now - known.failed_last > limits_.failures_forgotten) known.delays = 0;
  known.failed_last = now;
  known.failures.refill(limits_.failures_per_second, limits_.failures_burst, now);
  if (known.failures.tokens >= 1) {
    known.failures.tokens -= 1;
    return {};
  }
  auto delay = limits_.delay_first;
  for (unsigned i = 0; i < known.delays && delay < limits_.delay_max; ++i) delay *= 2;
  known.delayed_until = now + std::min(delay, limits_.delay_max);
  ++known.delays;
  return known.delayed_until - now;
}

std::size_t Throttle::known() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

std::string address_key(std::string_view address) {
  in6_addr parsed{};
  const std::string text(address);
  if (inet_pton(AF_INET6, text.c_str(), &parsed) != 1 || IN6_IS_ADDR_V4MAPPED(&parsed)) return "address:" + text;
  std::fill(parsed.s6_addr + 8, parsed.s6_addr + 16, std::uint8_t{0});
  char network[INET6_ADDRSTRLEN];
  inet_ntop(AF_INET6, &parsed, network, sizeof network);
  return "address:" + std::string(network) + "/64";
}

}  // namespace stoa::admin
