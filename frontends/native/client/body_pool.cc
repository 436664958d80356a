#include "frontends/native/client/body_pool.h"

namespace stoa::native {

std::shared_ptr<Bytes> BodyPool::take(std::size_t bytes) {
  if (bytes < kPooledFrom) return std::make_shared<Bytes>(bytes);
  std::unique_ptr<Bytes> buffer;
  {
    const std::lock_guard lock(shelf_->mutex);
    if (!shelf_->free.empty()) {
      buffer = std::move(shelf_->free.back());
      shelf_->free.pop_back();
    }
  }
  if (buffer == nullptr) buffer = std::make_unique<Bytes>();
  buffer->resize(bytes);
  return {buffer.release(), [shelf = shelf_](Bytes* back) {
            std::unique_ptr<Bytes> owned(back);
            const std::lock_guard lock(shelf->mutex);
            if (shelf->free.size() < kKept) shelf->free.push_back(std::move(owned));
          }};
}

}  // namespace stoa::native
