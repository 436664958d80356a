#include "frontends/native/server/session.h"

#include <algorithm>

#include "base/siphash.h"
#include "frontends/native/protocol/login.h"

namespace stoa::native {

std::string SessionKey::stable_name() const {
  return client_id + principal.text() + "@" + std::to_string(static_cast<std::uint32_t>(through));
}

core::RequestKey Session::request_key(U32 slot, U32 sequence) const {
  // The same before and after a restart, so the key of the checksum is a constant: who proves to be somebody else has
  // another name.
  constexpr SipKey kNames{0x73746f612d6e6174, 0x6976652d72657175};
  const std::string name = key.stable_name();
  const std::uint64_t message = std::uint64_t{slot} << 40 | std::uint64_t{sequence} << 8;
  static_assert(kOperationsMax <= 256 && kSlots <= 1u << 24);
  return {.high = siphash(kNames, as_bytes(name)) | 1, .low = message};
}

bool Session::add_open(U64 number, const Open& open) {
  const std::lock_guard lock(mutex_);
  return opens_.try_emplace(number, open).second;
}

std::optional<Session::Open> Session::find_open(U64 number) const {
  const std::lock_guard lock(mutex_);
  const auto found = opens_.find(number);
  return found == opens_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Session::Open> Session::take_open(U64 number) {
  const std::lock_guard lock(mutex_);
  const auto found = opens_.find(number);
  if (found == opens_.end()) return std::nullopt;
  const Open open = found->second;
  opens_.erase(found);
  return open;
}

bool Session::has_open_of(core::FileId file) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(opens_, [&](const auto& entry) { return entry.second.file == file; });
}

}  // namespace stoa::native
