#include "tests/model/memory_blobs.h"

namespace stoa::model {
namespace {

using core::BlobId;

// As the local store: small blobs have slots of a size class, big ones a host file that may grow to any size.
constexpr std::uint64_t kSlotMax = 4u << 20;
constexpr std::uint64_t kUnbounded = (std::uint64_t{1} << 63) - 1;
constexpr std::uint64_t kTotal = std::uint64_t{1} << 45;

std::uint64_t class_of(std::uint64_t bytes) {
  if (bytes > kSlotMax) return kUnbounded;
  std::uint64_t slot = 32768;
  while (slot < bytes) slot *= 2;
  return slot;
}

}  // namespace

Result<MemoryBlobs::Blob*> MemoryBlobs::find(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  const auto it = blobs_.find(blob);
  if (it == blobs_.end()) return fail(Errc::kIo, "no such blob " + std::to_string(static_cast<std::uint64_t>(blob)));
  if (offset > it->second.capacity || length > it->second.capacity - offset) {
    return fail(Errc::kIo, "behind the capacity of blob " + std::to_string(static_cast<std::uint64_t>(blob)));
  }
  return &it->second;
}

bool MemoryBlobs::begin_adoption() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, blob] : blobs_) blob.adopted = false;
  first_since_open_ = next_;
  return true;
}

Status MemoryBlobs::adopt(BlobId blob) {
  const std::lock_guard lock(mutex_);
  const auto it = blobs_.find(blob);
  if (it == blobs_.end()) return fail(Errc::kCorrupt, "a blob that never was");
  it->second.adopted = true;
  return {};
}

Status MemoryBlobs::finish_adoption() {
  const std::lock_guard lock(mutex_);
  std::erase_if(blobs_, [&](const auto& item) {
    return static_cast<std::uint64_t>(item.first) < first_since_open_ && !item.second.adopted;
  });
  for (auto& [id, blob] : blobs_) blob.adopted = false;
  return {};
}

Result<BlobId> MemoryBlobs::reserve(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const BlobId id{next_++};
  blobs_[id].capacity = class_of(bytes);
  return id;
}

std::uint64_t MemoryBlobs::capacity(BlobId blob) const {
  const std::lock_guard lock(mutex_);
  const auto it = blobs_.find(blob);
  return it == blobs_.end() ? 0 : it->second.capacity;
}

Status MemoryBlobs::read(BlobId blob, std::uint64_t offset, std::span<std::byte> into) {
  const std::lock_guard lock(mutex_);
  STOA_TRY(found, find(blob, offset, into.size()));
  const std::string bytes = found->content.read(offset, into.size());
  std::fill(into.begin(), into.end(), std::byte{0});
  std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), into.data());
  return {};
}

Status MemoryBlobs::write(BlobId blob, std::uint64_t offset, core::ConstBuffers data) {
  const std::lock_guard lock(mutex_);
  for (const auto& piece : data) {
    STOA_TRY(found, find(blob, offset, piece.size()));
    found->content.write(offset, {reinterpret_cast<const char*>(piece.data()), piece.size()});
    offset += piece.size();
  }
  return {};
}

Result<core::DataSlice> MemoryBlobs::slice(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  auto bytes = std::make_shared<std::vector<std::byte>>(length);
  STOA_CHECK_OK(read(blob, offset, *bytes));
  return core::DataSlice{.bytes = *bytes, .length = length, .keep = bytes};
}

Status MemoryBlobs::sync(std::span<const BlobId> blobs) {
  const std::lock_guard lock(mutex_);
  for (const BlobId blob : blobs) STOA_CHECK_OK(find(blob, 0, 0));
  return {};
}

Status MemoryBlobs::punch(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  const std::lock_guard lock(mutex_);
  STOA_TRY(found, find(blob, offset, length));
  found->content.zero(offset, length);
  return {};
}

Status MemoryBlobs::allocate(BlobId blob, std::uint64_t offset, std::uint64_t length) {
  const std::lock_guard lock(mutex_);
  STOA_CHECK_OK(find(blob, offset, length));
  return {};
}

Result<std::uint64_t> MemoryBlobs::seek(BlobId blob, std::uint64_t offset, std::uint64_t end, bool data) {
  const std::lock_guard lock(mutex_);
  STOA_TRY(found, find(blob, offset, 0));
  std::uint64_t at = offset;
  for (const auto& [begin, length] : found->content.ranges()) {
    if (at < begin) return std::min(end, data ? begin : at);
    if (at < begin + length) {
      if (data) return std::min(end, at);
      at = begin + length;
    }
  }
  return data ? end : std::min(end, at);
}

Result<std::uint64_t> MemoryBlobs::allocated(BlobId blob, std::uint64_t length) {
  const std::lock_guard lock(mutex_);
  STOA_TRY(found, find(blob, 0, 0));
  std::uint64_t total = 0;
  for (const auto& [begin, count] : found->content.ranges()) {
    if (begin < length) total += std::min(count, length - begin);
  }
  return total;
}

Status MemoryBlobs::release(BlobId blob) {
  const std::lock_guard lock(mutex_);
  blobs_.erase(blob);
  return {};
}

core::BlobStore::Space MemoryBlobs::space() const {
  return {kTotal, kTotal};
}

std::vector<core::BlobStore::DirectoryHealth> MemoryBlobs::health() const {
  return {{.path = "memory", .problem = {}, .space = space()}};
}

void MemoryBlobs::for_each(const std::function<void(BlobId)>& visit) const {
  std::vector<BlobId> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, blob] : blobs_) ids.push_back(id);
  }
  for (const BlobId id : ids) visit(id);
}

bool MemoryBlobs::holds(BlobId blob) const {
  const std::lock_guard lock(mutex_);
  return blobs_.contains(blob);
}

}  // namespace stoa::model
