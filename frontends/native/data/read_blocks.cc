#include "frontends/native/data/read_blocks.h"

#include <algorithm>

namespace stoa::native::data {

std::shared_ptr<Block> ReadBlocks::find(std::uint64_t offset, std::uint64_t length, std::uint64_t* gap) const {
  const auto next = blocks_.upper_bound(offset);
  if (next != blocks_.begin()) {
    const auto& before = std::prev(next)->second;
    if (before->offset + before->length > offset) return before;
  }
  *gap = next == blocks_.end() ? length : std::min(length, next->first - offset);
  return nullptr;
}

std::vector<std::shared_ptr<Block>> ReadBlocks::begin(Range range, std::uint64_t lease,
                                                      std::atomic<std::uint64_t>& all) {
  std::vector<std::shared_ptr<Block>> made;
  while (range.length > 0) {
    std::uint64_t step = 0;
    if (const auto there = find(range.offset, range.length, &step)) {
      step = std::min(range.length, there->offset + there->length - range.offset);
    } else {
      made.push_back(std::make_shared<Block>(range.offset, step, lease, all));
      blocks_.emplace(range.offset, made.back());
    }
    range = {range.offset + step, range.length - step};
  }
  return made;
}

bool ReadBlocks::has(const std::shared_ptr<Block>& block) const {
  const auto at = blocks_.find(block->offset);
  return at != blocks_.end() && at->second == block;
}

void ReadBlocks::remove(const std::shared_ptr<Block>& block) {
  if (has(block)) blocks_.erase(block->offset);
}

void ReadBlocks::spoil(std::uint64_t offset, std::uint64_t length) {
  std::erase_if(blocks_, [&](const auto& entry) {
    const Block& block = *entry.second;
    const bool overlaps = block.offset < offset + length && block.offset + block.length > offset;
    const bool tells_end = !block.there || block.valid < block.length;
    return overlaps || tells_end;
  });
}

}  // namespace stoa::native::data
