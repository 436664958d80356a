// The memory twin of the blob stores, for tests: the same contract (core/blob/blob_store.h), nothing durable. With a
// fault plan it fails at a point for each call: "blob.reserve", "blob.write", "blob.sync", ...
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/fault_plan.h"
#include "core/blob/blob_store.h"

namespace stoa::blob {

class MemoryBlobs : public core::BlobStore {
 public:
  // `faults` must outlive it.
  explicit MemoryBlobs(FaultPlan* faults = nullptr) : faults_(faults) {}

  bool begin_adoption() override;
  Status adopt(core::BlobId blob) override;
  Status finish_adoption() override;
  Result<core::BlobId> reserve(std::uint64_t bytes) override;
  std::uint64_t capacity(core::BlobId blob) const override;
  Status read(core::BlobId blob, std::uint64_t offset, std::span<std::byte> into) override;
  Status write(core::BlobId blob, std::uint64_t offset, core::ConstBuffers data) override;
  Result<core::DataSlice> slice(core::BlobId blob, std::uint64_t offset, std::uint64_t length) override;
  Status sync(std::span<const core::BlobId>) override { return fault_point(faults_, "blob.sync"); }
  Status punch(core::BlobId blob, std::uint64_t offset, std::uint64_t length) override;
  Status allocate(core::BlobId blob, std::uint64_t offset, std::uint64_t length) override;
  Result<std::uint64_t> seek(core::BlobId blob, std::uint64_t offset, std::uint64_t end, bool data) override;
  Result<std::uint64_t> allocated(core::BlobId blob, std::uint64_t length) override;
  Status release(core::BlobId blob) override;
  Space space() const override { return {kTotalBytes, kTotalBytes}; }
  std::vector<DirectoryHealth> health() const override { return {}; }
  void for_each(const std::function<void(core::BlobId)>& visit) const override;
  bool holds(core::BlobId blob) const override;

 private:
  static constexpr std::uint64_t kTotalBytes = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kPageBytes = 4096;
  // Pages that were never written read as zeros and are holes, as in a sparse host file.
  struct Blob {
    std::uint64_t capacity = 0;
    std::map<std::uint64_t, std::vector<std::byte>> pages;
  };
  FaultPlan* const faults_;
  mutable std::mutex mutex_;  // guards everything below
  std::map<core::BlobId, Blob> blobs_;
  std::set<core::BlobId> adopted_;  // between two opens of a volume on the same store
  std::uint64_t next_ = 1;
  std::uint64_t first_since_open_ = ~std::uint64_t{0};
};

}  // namespace stoa::blob
