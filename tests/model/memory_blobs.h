// A blob store in memory for the model test on the memory engine. Strict where the contract is: using a blob that is
// not reserved or was released, or a position behind its capacity, is an error.
#pragma once

#include <map>
#include <mutex>

#include "core/blob/blob_store.h"
#include "tests/model/twin_content.h"

namespace stoa::model {

class MemoryBlobs final : public core::BlobStore {
 public:
  bool begin_adoption() override;
  Status adopt(core::BlobId blob) override;
  Status finish_adoption() override;
  Result<core::BlobId> reserve(std::uint64_t bytes) override;
  std::uint64_t capacity(core::BlobId blob) const override;
  Status read(core::BlobId blob, std::uint64_t offset, std::span<std::byte> into) override;
  Status write(core::BlobId blob, std::uint64_t offset, core::ConstBuffers data) override;
  Result<core::DataSlice> slice(core::BlobId blob, std::uint64_t offset, std::uint64_t length) override;
  Status sync(std::span<const core::BlobId> blobs) override;
  Status punch(core::BlobId blob, std::uint64_t offset, std::uint64_t length) override;
  Status allocate(core::BlobId blob, std::uint64_t offset, std::uint64_t length) override;
  Result<std::uint64_t> seek(core::BlobId blob, std::uint64_t offset, std::uint64_t end, bool data) override;
  Result<std::uint64_t> allocated(core::BlobId blob, std::uint64_t length) override;
  Status release(core::BlobId blob) override;
  Space space() const override;
  std::vector<DirectoryHealth> health() const override;
  void for_each(const std::function<void(core::BlobId)>& visit) const override;
  bool holds(core::BlobId blob) const override;

 private:
  struct Blob {
    std::uint64_t capacity = 0;
    bool adopted = false;  // since the store was last opened
    TwinContent content;
  };
  Result<Blob*> find(core::BlobId blob, std::uint64_t offset, std::uint64_t length);

  mutable std::mutex mutex_;  // guards everything below
  std::map<core::BlobId, Blob> blobs_;
  std::uint64_t next_ = 1;
  std::uint64_t first_since_open_ = ~std::uint64_t{0};
};

}  // namespace stoa::model
