// Names of files, as strings.
#pragma once

#include <cstdint>
#include <string>

#include "bench/load/file_choice.h"

namespace stoa::bench {

inline std::string small_file_name(std::uint64_t index) {  // "f00000042"
  std::string name(kFileNameBytes, '\0');
  write_file_name(name.data(), index);
  return name;
}

}  // namespace stoa::bench
