// One operation of a ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "frontends/native/lib/handles.h"

namespace stoa::native::lib {

enum class RingWork : std::uint8_t { kRead, kWrite, kSync, kOpen, kStat, kReadFile };

struct RingOperation {
  RingWork work{};
  std::uint64_t tag = 0;
  stoa_file* file = nullptr;
  std::byte* buffer = nullptr;  // a write only reads it
  std::size_t bytes = 0;
  std::uint64_t offset = 0;
  core::FileId parent = core::kNoFile;
  std::string name{};
  int flags = 0;
  std::uint32_t mode = 0;
  stoa_attributes* attributes = nullptr;

  stoa_completion ended(std::int64_t result, stoa_file* opened = nullptr) const {
    return {.tag = tag, .result = result, .file = opened};
  }
};

}  // namespace stoa::native::lib
