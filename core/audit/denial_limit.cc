#include "core/audit/denial_limit.h"

#include <algorithm>

#include "base/assert.h"

namespace stoa::core {

DenialLimit::Verdict DenialLimit::admit(const std::string& client, Protocol protocol, Time now) {
  const std::lock_guard lock(mutex_);
  if (clients_.size() >= kClientsMax && !clients_.contains(client)) {
    std::erase_if(clients_,
                  [now](const auto& one) { return one.second.omitted == 0 && now - one.second.since >= kPeriod; });
  }
  const bool room = clients_.size() < kClientsMax || clients_.contains(client);
  Client& known = clients_[room ? client : std::string(kOthers)];
  STOA_ASSERT(clients_.size() <= kClientsMax + 1, "clients that are told apart have a limit");
  STOA_ASSERT(known.admitted <= kPerSecond, "a client has an allowance");
  known.protocol = protocol;
  // A second with omitted denials stays until it is reported.
  if (now - known.since >= kPeriod && known.omitted == 0) known.since = now, known.admitted = 0;
  if (known.admitted < kPerSecond) {
    ++known.admitted;
    return Verdict::kRecord;
  }
  return ++known.omitted == 1 ? Verdict::kFirstCount : Verdict::kCount;
}

std::vector<DenialLimit::Omitted> DenialLimit::take(Time now) {
  std::vector<Omitted> all;
  const std::lock_guard lock(mutex_);
  for (auto at = clients_.begin(); at != clients_.end();) {
    const Client& client = at->second;
    if (now - client.since < kPeriod) {
      ++at;
      continue;
    }
    if (client.omitted > 0) all.push_back({at->first, client.protocol, client.omitted});
    at = clients_.erase(at);
  }
  return all;
}

std::optional<DenialLimit::Time> DenialLimit::due() {
  std::optional<Time> first;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, client] : clients_) {
    if (client.omitted > 0) first = std::min(first.value_or(Time::max()), client.since + kPeriod);
  }
  return first;
}

}  // namespace stoa::core
