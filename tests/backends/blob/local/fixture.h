// A store in a folder of its own that can be reopened, on system calls that can be made to fail.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <set>

#include "backends/blob/local/blob_name.h"
#include "backends/blob/local/host_io.h"
#include "backends/blob/local/local_blob_store.h"

namespace stoa::blob_local {

using core::BlobId;

class FaultyIo : public HostIo {
 public:
  std::atomic<int> write_error{0};
  std::atomic<int> sync_error{0};
  std::atomic<int> allocate_error{0};
  std::atomic<int> direct_error{0};  // of writes through descriptors opened with O_DIRECT
  std::atomic<int> syncs{0};
  std::atomic<int> directory_syncs{0};

  ssize_t pwritev(int fd, const iovec* pieces, int count, off_t offset) override {
    if (const int error = write_error) return failed(error);
    if (direct_error != 0 && (::fcntl(fd, F_GETFL) & O_DIRECT) != 0) return failed(direct_error);
    return HostIo::pwritev(fd, pieces, count, offset);
  }
  int fdatasync(int fd) override {
    ++syncs;
    if (const int error = sync_error) return failed(error);
    return HostIo::fdatasync(fd);
  }
  int fsync_directory(int fd) override {
    ++directory_syncs;
    return HostIo::fsync_directory(fd);
  }
  int fallocate(int fd, int mode, off_t offset, off_t length) override {
    if (const int error = allocate_error) return failed(error);
    return HostIo::fallocate(fd, mode, offset, length);
  }

 private:
  static int failed(int error) {
    errno = error;
    return -1;
  }
};

inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}
inline bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string name = (std::filesystem::current_path() / "blob_test.XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    options_.directories = {directory("d0")};
    options_.io = &io_;
  }
  ~StoreTest() override {
    store_.reset();
    std::filesystem::remove_all(root_);
  }
  std::string directory(const std::string& name) {
    std::filesystem::create_directories(root_ / name);
    return (root_ / name).string();
  }

  // Opens (again) with these blobs in use.
  void open(std::initializer_list<BlobId> in_use = {}) {
    store_.reset();
    metrics_ = std::make_unique<MetricRegistry>();
    auto opened = LocalBlobStore::open(options_, *metrics_);
    ASSERT_TRUE(opened) << describe(opened.error());
    store_ = std::move(*opened);
    for (const BlobId blob : in_use) ASSERT_TRUE(store_->adopt(blob));
    ASSERT_TRUE(store_->finish_adoption());
  }
  Errc open_error() {
    store_.reset();
    metrics_ = std::make_unique<MetricRegistry>();
    auto opened = LocalBlobStore::open(options_, *metrics_);
    EXPECT_FALSE(opened);
    if (opened) return Errc{};
    last_error_ = opened.error();
    return opened.error().code;
  }

  BlobId reserve(std::uint64_t bytes) {
    auto blob = store_->reserve(bytes);
    EXPECT_TRUE(blob) << describe(blob.error());
    return blob ? *blob : core::kNoBlob;
  }
  Status put(BlobId blob, std::uint64_t offset, std::span<const std::byte> bytes) {
    const std::span<const std::byte> pieces[] = {bytes};
    return store_->write(blob, offset, pieces);
  }
  std::vector<std::byte> get(BlobId blob, std::uint64_t offset, std::size_t length) {
    std::vector<std::byte> bytes(length, std::byte{0xee});
    const Status done = store_->read(blob, offset, bytes);
    EXPECT_TRUE(done) << describe(done.error());
    return bytes;
  }
  std::set<BlobId> listed() {
    std::set<BlobId> all;
    store_->for_each([&](BlobId blob) { all.insert(blob); });
    return all;
  }
  std::size_t host_files(const std::string& folder) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) count += entry.is_regular_file();
    return count;
  }

  std::filesystem::path root_;
  FaultyIo io_;
  LocalBlobStoreOptions options_;
  std::unique_ptr<MetricRegistry> metrics_;
  std::unique_ptr<LocalBlobStore> store_;
  Error last_error_{};
};

inline constexpr std::uint64_t kBig = std::uint64_t{1} << 40;

}  // namespace stoa::blob_local
