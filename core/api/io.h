// Bytes on their way between a front end and the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stoa::core {

// One piece of file content, in file order: memory, or a range of a host file that a front end may hand to sendfile(2).
struct DataSlice {
  std::span<const std::byte> bytes{};  // memory, when fd < 0
  int fd = -1;
  std::uint64_t file_offset = 0;       // in fd
  std::uint64_t length = 0;            // bytes, in both forms
  std::shared_ptr<const void> keep{};  // holds the memory or the descriptor; keep it until the bytes were sent
};

// Memory that the receiver may keep: the bytes in it stay unchanged as long as `owner` lives.
struct LentMemory {
  std::shared_ptr<const void> owner{};
  std::uint64_t bytes = 0;  // all that is held by it
};

using ConstBuffers = std::span<const std::span<const std::byte>>;

}  // namespace stoa::core
