#include "backends/blob/memory/memory_blobs.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace stoa::blob {

using core::BlobId;

bool MemoryBlobs::begin_adoption() {
  const std::lock_guard lock(mutex_);
  adopted_.clear();
  first_since_open_ = next_;
  return true;
}

Status MemoryBlobs::adopt(BlobId blob) {
  const std::lock_guard lock(mutex_);
  if (!blobs_.contains(blob)) return fail(Errc::kCorrupt, "no such blob");
  adopted_.insert(blob);
  return {};
}

Status MemoryBlobs::finish_adoption() {
  const std::lock_guard lock(mutex_);
  std::erase_if(blobs_, [&](const auto& blob) {
    return static_cast<std::uint64_t>(blob.first) < first_since_open_ && !adopted_.contains(blob.first);
  });
  adopted_.clear();
  return {};
}

Result<BlobId> MemoryBlobs::reserve(std::uint64_t bytes) {
  STOA_CHECK_OK(fault_point(faults_, "blob.reserve"));
  constexpr std::uint64_t kSlotMax = 4u << 20;
  const std::lock_guard lock(mutex_);
  const BlobId id{next_++};
  blobs_[id].capacity = bytes <= kSlotMax ? std::max<std::uint64_t>(std::bit_ceil(bytes), 32768) : INT64_MAX;
  return id;
}

std::uint64_t MemoryBlobs::capacity(BlobId blob) const {
  const std::lock_guard lock(mutex_);
  return blobs_.at(blob).capacity;
}

Status MemoryBlobs::read(BlobId blob, std::uint64_t offset, std::span<std::byte> into) {
  STOA_CHECK_OK(fault_point(faults_, "blob.read"));
  const std::lock_guard lock(mutex_);
  const Blob& b = blobs_.at(blob);
  for (std::size_t done = 0; done < into.size();) {
    const std::uint64_t at = (offset + done) % kPageBytes;
    const std::size_t n = std::min<std::uint64_t>(kPageBytes - at, into.size() - done);
    const auto page = b.pages.find((offset + done) / kPageBytes);
    if (page == b.pages.end()) {
      std::memset(into.data() + done, 0, n);
    } else {
      std::memcpy(into.data() + done, page->second.data() + at, n);
    }
    done += n;
  }
  return {};
}

Status MemoryBlobs::write(BlobId blob, std::uint64_t offset, core::ConstBuffers data) {
  STOA_CHECK_OK(fault_point(faults_, "blob.write"));
  const std::lock_guard lock(mutex_);
  Blob& b = blobs_.at(blob);
  for (const auto& piece : data) {
    STOA_ASSERT(offset + piece.size() <= b.capacity);
    for (std::size_t done = 0; done < piece.size();) {
      const std::uint64_t at = offset % kPageBytes;
      const std::size_t n = std::min<std::uint64_t>(kPageBytes - at, piece.size() - done);
      auto& page = b.pages[offset / kPageBytes];
      page.resize(kPageBytes);
      std::memcpy(page.data() + at, piece.data() + done, n);
      done += n;
      offset += n;
    }
  }
  return {};
}

Result<core::DataSlice> MemoryBlobs::slice(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  auto bytes = std::make_shared<std::vector<std::byte>>(length);
  STOA_CHECK_OK(read(blob, offset, *bytes));
  return core::DataSlice{.bytes = *bytes, .length = length, .keep = bytes};
}

Status MemoryBlobs::punch(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  STOA_CHECK_OK(fault_point(faults_, "blob.punch"));
  const std::lock_guard lock(mutex_);
  Blob& b = blobs_.at(blob);
  const std::uint64_t end = offset + length;
  for (auto it = b.pages.lower_bound(offset / kPageBytes); it != b.pages.end() && it->first * kPageBytes < end;) {
    const std::uint64_t begin = it->first * kPageBytes;
    if (begin >= offset && begin + kPageBytes <= end) {
      it = b.pages.erase(it);
      continue;
    }
    const std::uint64_t from = std::max(begin, offset);
    std::memset(it->second.data() + (from - begin), 0, std::min(begin + kPageBytes, end) - from);
    ++it;
  }
  return {};
}

Status MemoryBlobs::allocate(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  STOA_CHECK_OK(fault_point(faults_, "blob.allocate"));
  const std::lock_guard lock(mutex_);
  STOA_ASSERT(offset + length <= blobs_.at(blob).capacity);
  return {};
}

Result<std::uint64_t> MemoryBlobs::seek(BlobId blob, std::uint64_t offset, std::uint64_t end, bool data) {
  STOA_CHECK_OK(fault_point(faults_, "blob.seek"));
  const std::lock_guard lock(mutex_);
  const Blob& b = blobs_.at(blob);
  // Both walk over pages that exist: a hole may have any number of those that do not.
  auto it = b.pages.lower_bound(offset / kPageBytes);
  if (data) return it == b.pages.end() ? end : std::clamp(it->first * kPageBytes, std::min(offset, end), end);
  for (; offset < end && it != b.pages.end() && it->first == offset / kPageBytes; ++it) {
    offset = (it->first + 1) * kPageBytes;
  }
  return std::min(offset, end);
}

Result<std::uint64_t> MemoryBlobs::allocated(BlobId blob, std::uint64_t length) {
  STOA_CHECK_OK(fault_point(faults_, "blob.allocated"));
  const std::lock_guard lock(mutex_);
  std::uint64_t pages = 0;
  for (const auto& [page, bytes] : blobs_.at(blob).pages) pages += page * kPageBytes < length ? 1 : 0;
  return pages * kPageBytes;
}

Status MemoryBlobs::release(BlobId blob) {
  STOA_CHECK_OK(fault_point(faults_, "blob.release"));
  const std::lock_guard lock(mutex_);
  blobs_.erase(blob);
  return {};
}

void MemoryBlobs::for_each(const std::function<void(BlobId)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, blob] : blobs_) visit(id);
}

bool MemoryBlobs::holds(BlobId blob) const {
  const std::lock_guard lock(mutex_);
  return blobs_.contains(blob);
}

}  // namespace stoa::blob
