// Credentials of the caller. Resolved once, in the front end (squashing included), and decided upon
// only in core/access.
#pragma once

#include <cstdint>
#include <vector>

namespace stoa::core {

struct Credentials {
  std::uint32_t uid = 65534;
  std::uint32_t gid = 65534;
  std::vector<std::uint32_t> groups{};  // supplementary; unordered

  bool operator==(const Credentials&) const = default;
  static Credentials superuser() { return {.uid = 0, .gid = 0}; }
  bool is_superuser() const { return uid == 0; }
  bool in_group(std::uint32_t g) const {
    if (g == gid) return true;
    for (const std::uint32_t member : groups) {
      if (member == g) return true;
    }
    return false;
  }
};

}  // namespace stoa::core
