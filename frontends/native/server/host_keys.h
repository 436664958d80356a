// The keys of hosts that may say for whom they ask.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoa::native {

struct HostKey {
  std::string name;    // for people and audit
  std::string key;     // what the client shows
  std::string secret;  // what it proves to know
};

class HostKeys {
 public:
  virtual ~HostKeys() = default;
  // Thread-safe; blocks for nothing. Nothing: there is no such key.
  virtual std::optional<HostKey> find(std::string_view key) const = 0;
};

}  // namespace stoa::native
