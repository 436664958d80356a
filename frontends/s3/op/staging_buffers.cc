#include "frontends/s3/op/staging_buffers.h"

namespace stoa::s3 {

StagingBuffers::Buffer StagingBuffers::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!kept_.empty()) {
      Buffer buffer = std::move(kept_.back());
      kept_.pop_back();
      return buffer;
    }
  }
  return Buffer(new std::byte[kStagingBytes]);
}

void StagingBuffers::give_back(Buffer buffer) {
  if (!buffer) return;
  const std::lock_guard lock(mutex_);
  if (kept_.size() < kKeptMax) kept_.push_back(std::move(buffer));
}

}  // namespace stoa::s3
