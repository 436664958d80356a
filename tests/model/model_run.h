// One run of the model test: a sequence of operation seeds, each performed on a volume and on the twin, compared after
// every step. An operation is wholly described by its seed and the state it meets, so a failing sequence can be shrunk
// by leaving operations out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/model/engine.h"

namespace stoa::model {

struct ModelOptions {
  std::uint64_t compare_every = 2000;  // the whole tree, usage, check, reopen
  bool shared_extents = true;          // concatenate files that stay, so that extents are shared
  bool huge_files = true;              // sparse files of a tebibyte
  bool trace = false;                  // print every operation as it runs
};

struct ModelFailure {
  std::size_t step = 0;
  std::string what;
  std::vector<std::string> tail;  // the last operations, oldest first
};

std::vector<std::uint64_t> operation_seeds(std::uint64_t seed, std::size_t count);

std::optional<ModelFailure> run_model(const MakeEngine& make, std::span<const std::uint64_t> operations,
                                      const ModelOptions& options);

// Leaves operations out as long as the run still fails, for at most `attempts` runs.
std::vector<std::uint64_t> shrink_model(const MakeEngine& make, std::vector<std::uint64_t> failing,
                                        const ModelOptions& options, std::size_t attempts);

}  // namespace stoa::model
