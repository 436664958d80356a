// Large buffers for what a connection brings, used again: one that is fresh costs a page fault for each 4 KiB.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "frontends/native/protocol/record.h"

namespace stoa::native {

// Thread-safe; buffers may outlive it.
class BodyPool {
 public:
  // A buffer of this size, with anything in it. It comes back by itself when nobody has it any more.
  std::shared_ptr<Bytes> take(std::size_t bytes);

 private:
  static constexpr std::size_t kPooledFrom = std::size_t{32} << 10;  // smaller ones are the allocator's
  static constexpr std::size_t kKept = 4;

  struct Shelf {
    std::mutex mutex;  // guards free
    std::vector<std::unique_ptr<Bytes>> free;
  };
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace stoa::native
