// XDR (RFC 4506), as far as the NFSv4.1 generator needs it. Its own, so that a mistake of the server's cannot hide
// behind the same one here.
#pragma once

#include <endian.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace stoa::bench {

inline void store_be32(char* at, std::uint32_t value) {
  value = htobe32(value);
  std::memcpy(at, &value, sizeof value);
}
inline std::uint32_t load_be32(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return be32toh(value);
}

// Grows; written bytes stay in place until clear().
class XdrOut {
 public:
  // Room for `bytes` more, already counted as written.
  char* room(std::size_t bytes) {
    if (size_ + bytes > capacity_) grow(bytes);
    char* const at = data_.get() + size_;
    size_ += bytes;
    return at;
  }
  void u32(std::uint32_t value) { store_be32(room(4), value); }
  void u64(std::uint64_t value) {
    value = htobe64(value);
    std::memcpy(room(8), &value, sizeof value);
  }
  void fixed(const void* bytes, std::size_t size) {
    if (size == 0) return;
    const std::size_t padding = (4 - size % 4) % 4;
    char* const at = room(size + padding);
    std::memcpy(at, bytes, size);
    std::memset(at + size, 0, padding);
  }
  void opaque(std::string_view bytes) {
    u32(static_cast<std::uint32_t>(bytes.size()));
    fixed(bytes.data(), bytes.size());
  }
  void patch_u32(std::size_t offset, std::uint32_t value) { store_be32(data_.get() + offset, value); }

  const char* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

 private:
  void grow(std::size_t bytes) {
    capacity_ = std::max(size_ + bytes, capacity_ * 2);
    auto larger = std::make_unique<char[]>(capacity_);
    std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
  }
  std::size_t capacity_ = 4096;
  std::unique_ptr<char[]> data_ = std::make_unique<char[]>(capacity_);
  std::size_t size_ = 0;
};

// Past the end everything is zero and ok() is false.
class XdrIn {
 public:
  explicit XdrIn(std::string_view bytes) : rest_(bytes) {}
  std::uint32_t u32() {
    const std::string_view bytes = fixed(4);
    return bytes.empty() ? 0 : load_be32(bytes.data());
  }
  std::uint64_t u64() {
    const std::uint64_t high = u32();
    return high << 32 | u32();
  }
  std::string_view fixed(std::size_t size) {
    const std::size_t padded = size + (4 - size % 4) % 4;
    if (padded > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(padded);
    return bytes;
  }
  std::string_view opaque() { return fixed(u32()); }
  bool ok() const { return ok_; }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace stoa::bench
