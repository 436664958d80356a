// Memory that replies are written to: grows, keeps its memory for the next use, and does not initialise bytes that will
// be written.
//
// It moves when it grows. So callers get no pointer into it, except for a reservation, during which it cannot grow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "base/assert.h"
#include "base/poison.h"

namespace stoa::wire {

class ReplyBuffer {
 public:
  ReplyBuffer() = default;
  ReplyBuffer(ReplyBuffer&& other) noexcept { *this = std::move(other); }
  ReplyBuffer& operator=(ReplyBuffer&& other) noexcept {
    STOA_ASSERT(!reserved_ && !other.reserved_);
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    end_ = std::exchange(other.end_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  // `bytes` are not its own.
  void append(std::span<const std::byte> bytes) {
    std::byte* const at = extend(bytes.size());
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  }
  void append_zeros(std::size_t count) {
    std::byte* const at = extend(count);
    if (count > 0) std::memset(at, 0, count);
  }
  // Replaces bytes written already.
  void overwrite(std::size_t at, std::span<const std::byte> bytes) {
    STOA_ASSERT(at <= size_ && bytes.size() <= size_ - at);
    std::memcpy(memory_.get() + at, bytes.data(), bytes.size());
  }
  void truncate(std::size_t size) {
    STOA_ASSERT(!reserved_ && size <= size_);
    poison(memory_.get() + size, size_ - size);
    size_ = size;
  }
  // Empties it. Memory beyond `keep` bytes is given back, so that one large reply does not pin memory for ever.
  void clear(std::size_t keep) {
    truncate(0);
    if (capacity_ > keep) *this = {};
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }  // until the next change

  // Room at the end: for `head` bytes, and behind them for up to `most` bytes. The latter are put in their final place
  // before the head is known (a read). Nothing else can be written while it is open.
  class Reservation {
   public:
    // `alignment`, a power of two: the content is padded to a multiple of it.
    Reservation(ReplyBuffer& buffer, std::size_t head, std::size_t most, std::size_t alignment)
        : buffer_(buffer), head_(head), most_(most), alignment_(alignment), room_(head + padded(most)) {
      STOA_ASSERT(!buffer_.reserved_);
      if (buffer_.capacity_ - buffer_.size_ < room_) buffer_.grow(room_);
      buffer_.reserved_ = true;
      buffer_.end_ = buffer_.size_;
      unpoison(content().data(), most_);
    }
    ~Reservation() { drop(); }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    std::span<std::byte> content() { return {buffer_.memory_.get() + buffer_.size_ + head_, most_}; }

    // Ends it. `encode_head` writes the announced number of bytes; the first `length` of the content follow, padded
    // with zeros.
    template <class EncodeHead>
    void commit(std::size_t length, EncodeHead encode_head) {
      STOA_ASSERT(open_ && length <= most_);
      const std::size_t begin = buffer_.size_;
      buffer_.end_ = begin + head_;
      encode_head();
      STOA_ASSERT(buffer_.size_ == begin + head_);
      buffer_.size_ += length;
      close();
      buffer_.append_zeros(padded(length) - length);
      poison(buffer_.memory_.get() + buffer_.size_, begin + room_ - buffer_.size_);
    }
    // Ends it as if it had never been.
    void drop() {
      if (!open_) return;
      close();
      poison(buffer_.memory_.get() + buffer_.size_, room_);
    }

   private:
    std::size_t padded(std::size_t bytes) const { return (bytes + alignment_ - 1) & ~(alignment_ - 1); }
    void close() {
      open_ = false;
      buffer_.reserved_ = false;
      buffer_.end_ = buffer_.capacity_;
    }

    ReplyBuffer& buffer_;
    const std::size_t head_;
    const std::size_t most_;
    const std::size_t alignment_;
    const std::size_t room_;  // that it takes at most
    bool open_ = true;
  };

 private:
  // `bytes` more at the end, valid until the next change.
  std::byte* extend(std::size_t bytes) {
    if (end_ - size_ < bytes) [[unlikely]]
      grow(bytes);
    std::byte* const at = memory_.get() + size_;
    unpoison(at, bytes);
    size_ += bytes;
    return at;
  }
  [[gnu::noinline, gnu::cold]] void grow(std::size_t bytes) {
    STOA_ASSERT(!reserved_);  // the reserved bytes would stay behind
    const std::size_t wanted = std::max({size_ + bytes, capacity_ * 2, std::size_t{4096}});
    std::unique_ptr<std::byte[]> larger(new std::byte[wanted]);
    if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
    memory_ = std::move(larger);
    end_ = capacity_ = wanted;
    poison(memory_.get() + size_, capacity_ - size_);
  }

  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::size_t end_ = 0;  // so far it may be written: the capacity, while nothing is reserved
  bool reserved_ = false;
};

}  // namespace stoa::wire
