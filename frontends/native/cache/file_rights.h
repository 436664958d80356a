// What users may do with one file, as the server has answered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace stoa::native {

// Compact: there may be a million files, and hardly one of interest to more than one user.
class FileRights {
 public:
  struct Of {
    std::uint32_t user = 0;                // KnownUsers
    std::uint32_t known = 0, granted = 0;  // core::AccessBits
  };
  // Empty: nothing is known.
  std::optional<Of> find(std::uint32_t user) const;
  // Adds to what is known: of `wanted`, which is not 0, `granted` are. Of too many users the former are forgotten.
  void keep(std::uint32_t user, std::uint32_t wanted, std::uint32_t granted);
  void clear() { *this = {}; }
  // Memory beside the object itself.
  std::int64_t bytes_beside() const;

 private:
  static constexpr std::size_t kUsersMost = 64;

  Of first_;  // nothing, when none of it is known
  std::unique_ptr<std::vector<Of>> others_;
};

}  // namespace stoa::native
