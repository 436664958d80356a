// Content of one file that was read ahead.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "frontends/native/client/large_memory.h"
#include "frontends/native/data/directory_reads.h"
#include "frontends/native/data/read_pattern.h"

namespace stoa::native::data {

// A block that is being read, or has been. Its bytes do not change once they are there.
struct Block {
  Block(std::uint64_t at, std::uint64_t size, std::uint64_t under, std::atomic<std::uint64_t>& bytes_of_all)
      : offset(at), length(size), lease(under), all(bytes_of_all) {
    all += length;
  }
  ~Block() { all -= length; }
  Block(const Block&) = delete;

  void arrived(std::shared_ptr<const std::byte[]> memory, std::size_t bytes_there) {
    bytes = std::move(memory);
    valid = bytes_there;
    there = true;
  }

  const std::uint64_t offset, length;
  const std::uint64_t lease;
  std::atomic<std::uint64_t>& all;             // what all blocks take
  bool there = false;                          // its bytes; else it is being read
  std::shared_ptr<const std::byte[]> bytes{};  // null, too, when there are none
  std::size_t valid = 0;                       // less than `length`: the file ends there
  std::size_t used = 0;                        // bytes that were copied out
  bool kept = false;                           // stays when it was used: a small file
  std::atomic<bool> used_up{false};            // there is no more to copy out
  std::unique_ptr<FileAhead> ahead{};          // read before any program has asked for the file; null: others
};

// Not thread-safe: the file's mutex guards it.
class ReadBlocks {
 public:
  // The block that holds the byte, also when it is being read; null: there is none, and `gap` is how many bytes have
  // none.
  std::shared_ptr<Block> find(std::uint64_t offset, std::uint64_t length, std::uint64_t* gap) const;
  // Blocks to be read for what has none in the range.
  std::vector<std::shared_ptr<Block>> begin(Range range, std::uint64_t lease, std::atomic<std::uint64_t>& all);
  bool has(const std::shared_ptr<Block>& block) const;
  void remove(const std::shared_ptr<Block>& block);
  // The range changes: what overlaps it is forgotten, and what says where the file ends.
  void spoil(std::uint64_t offset, std::uint64_t length);
  void clear() { blocks_.clear(); }
  bool empty() const { return blocks_.empty(); }

 private:
  std::map<std::uint64_t, std::shared_ptr<Block>> blocks_;  // by offset; they do not overlap
};

}  // namespace stoa::native::data
