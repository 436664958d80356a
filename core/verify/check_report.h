// Scope and result of a verification of a volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::core {

enum class FindingKind : std::uint8_t {
#define STOA_FINDING(name, word, facts) name,
#include "core/verify/findings.def"
#undef STOA_FINDING
};
std::size_t finding_kind_count();
std::string_view to_string(FindingKind kind);                // a stable word such as "entry_dangling"
std::vector<std::string_view> fact_names(FindingKind kind);  // as core/verify/findings.def lists them

// One thing that is wrong in the volume.
struct Finding {
  FindingKind kind{};
  std::vector<std::string> facts{};  // names and numbers, in the order of fact_names(); empty: there is none
};
std::string describe(const Finding& finding);  // "entry_dangling [2, file, 17]", for logs and tests

// The findings of check. Every list is bounded (kProblemsMax); `problem_count` counts them all.
struct CheckReport {
  static constexpr std::size_t kProblemsMax = 1000;
  std::uint64_t inodes = 0, directories = 0, files = 0, blobs = 0, bytes = 0;
  std::uint64_t problem_count = 0;
  std::vector<Finding> problems;
  bool ok() const { return problem_count == 0; }
};
struct CheckOptions {
  bool read_data = false;                                                   // verify every recorded checksum, too
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};  // records visited; total 0: unknown yet
};

}  // namespace stoa::core
