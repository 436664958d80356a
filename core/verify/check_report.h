// Scope and result of a verification of a volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stoa::core {

// The findings of check. Every list is bounded (kProblemsMax); `problems` counts them all.
struct CheckReport {
  static constexpr std::size_t kProblemsMax = 1000;
  std::uint64_t inodes = 0, directories = 0, files = 0, blobs = 0, bytes = 0;
  std::uint64_t problem_count = 0;
  std::vector<std::string> problems;  // sentences naming path, id and fault
  bool ok() const { return problem_count == 0; }
};
struct CheckOptions {
  bool read_data = false;                                                   // verify every recorded checksum, too
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};  // records visited; total 0: unknown yet
};

}  // namespace stoa::core
