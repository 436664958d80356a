// Memory that replies are written to: grows, keeps its memory for the next use, never sets bytes that will be written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace stoa::rpc {

class ReplyBuffer {
 public:
  ReplyBuffer() = default;

  // `bytes` more at the end; valid until the next call.
  std::byte* extend(std::size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      grow(bytes);
    std::byte* at = memory_.get() + size_;
    size_ += bytes;
    return at;
  }
  std::byte* data() { return memory_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void truncate(std::size_t size) { size_ = size; }
  std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }

  // Empties it. What grew beyond `keep` bytes is given back, so that one large reply does not pin memory for ever.
  void clear(std::size_t keep) {
    size_ = 0;
    if (capacity_ > keep) {
      memory_.reset();
      capacity_ = 0;
    }
  }

 private:
  void grow(std::size_t bytes) {
    const std::size_t wanted = std::max({size_ + bytes, capacity_ * 2, std::size_t{4096}});
    std::unique_ptr<std::byte[]> larger(new std::byte[wanted]);
    if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
    memory_ = std::move(larger);
    capacity_ = wanted;
  }

  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace stoa::rpc
