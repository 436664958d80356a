// The identity file of a data directory, by which a swapped, missing, copied or outdated one is noticed before any
// harm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "core/blob/generation.h"

namespace stoa::blob_local {

struct Identity {
  std::string store;                       // the same in all directories of one store
  std::uint32_t index = 0;                 // this directory
  std::uint32_t count = 1;                 // directories that the store had when this was written
  std::string volume{};                    // id of the volume; empty: of a store that is opened without metadata
  core::Generation generation{};           // pairing.h
  std::optional<core::Generation> next{};  // being raised to this one
  std::string home{};                      // the volume's data folder, and
  std::string place{};                     // this directory, as they were named at the last start
  bool operator==(const Identity&) const = default;
};

// Empty: the directory has no identity. kCorrupt: it holds one that cannot be read.
Result<std::optional<Identity>> read_identity(const std::string& directory);
// Durable on return.
Status write_identity(const std::string& directory, const Identity& identity);
std::string new_store_name();

// Replaces a small file as a whole, durably.
Status write_small_file(const std::string& directory, const std::string& name, const std::string& content);
Result<std::optional<std::string>> read_small_file(const std::string& path);

}  // namespace stoa::blob_local
