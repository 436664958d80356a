// A blob store that lets a test act at the moment when the core uses it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "core/blob/blob_store.h"

namespace stoa::core::test {

class WatchedBlobs final : public BlobStore {
 public:
  explicit WatchedBlobs(std::unique_ptr<BlobStore> store) : store_(std::move(store)) {}

  std::function<void()> before_adopt;    // called each time
  std::function<void()> before_reserve;  // called once, before the next reserve()
  std::function<void()> after_sync;      // called once, when the next sync() is done and before it returns
  // Each is called once, with the blob: before the next read, write or punch, after the next release.
  std::function<void(BlobId)> before_read;
  std::function<void(BlobId)> before_write;
  std::function<void(BlobId)> before_punch;
  std::function<void(BlobId)> after_release;
  BlobId last_reserved = kNoBlob;
  std::vector<std::vector<BlobId>> syncs;  // the blobs of each call of sync()
  std::vector<BlobId> punches;             // the blob of each call of punch()
  BlobId unsyncable = kNoBlob;             // sync() fails with it

  bool begin_adoption() override { return store_->begin_adoption(); }
  Status adopt(BlobId blob) override {
    if (before_adopt) before_adopt();
    return store_->adopt(blob);
  }
  Status finish_adoption() override { return store_->finish_adoption(); }
  Result<BlobId> reserve(std::uint64_t bytes) override {
    if (const auto act = std::exchange(before_reserve, nullptr)) act();
    STOA_TRY(blob, store_->reserve(bytes));
    last_reserved = blob;
    return blob;
  }
  std::uint64_t capacity(BlobId blob) const override { return store_->capacity(blob); }
  Status read(BlobId blob, std::uint64_t offset, std::span<std::byte> into) override {
    if (const auto act = std::exchange(before_read, nullptr)) act(blob);
    return store_->read(blob, offset, into);
  }
  Status write(BlobId blob, std::uint64_t offset, ConstBuffers data) override {
    if (const auto act = std::exchange(before_write, nullptr)) act(blob);
    return store_->write(blob, offset, data);
  }
  Result<DataSlice> slice(BlobId blob, std::uint64_t offset, std::uint64_t length) override {
    return store_->slice(blob, offset, length);
  }
  Status sync(std::span<const BlobId> blobs) override {
    syncs.emplace_back(blobs.begin(), blobs.end());
    if (std::ranges::find(blobs, unsyncable) != blobs.end()) return fail(Errc::kIo, "sync fails as told");
    const Status synced = store_->sync(blobs);
    if (const auto act = std::exchange(after_sync, nullptr)) act();
    return synced;
  }
  Status punch(BlobId blob, std::uint64_t offset, std::uint64_t length) override {
    if (const auto act = std::exchange(before_punch, nullptr)) act(blob);
    punches.push_back(blob);
    return store_->punch(blob, offset, length);
  }
  Status allocate(BlobId blob, std::uint64_t offset, std::uint64_t length) override {
    return store_->allocate(blob, offset, length);
  }
  Result<std::uint64_t> seek(BlobId blob, std::uint64_t offset, std::uint64_t end, bool data) override {
    return store_->seek(blob, offset, end, data);
  }
  Result<std::uint64_t> allocated(BlobId blob, std::uint64_t length) override {
    return store_->allocated(blob, length);
  }
  Status release(BlobId blob) override {
    const Status released = store_->release(blob);
    if (const auto act = std::exchange(after_release, nullptr)) act(blob);
    return released;
  }
  Space space() const override { return store_->space(); }
  std::vector<DirectoryHealth> health() const override { return store_->health(); }
  void for_each(const std::function<void(BlobId)>& visit) const override { store_->for_each(visit); }
  bool holds(BlobId blob) const override { return store_->holds(blob); }

 private:
  const std::unique_ptr<BlobStore> store_;
};

}  // namespace stoa::core::test
