// A volume with content in a real local blob store below a temporary folder, or in the memory twin.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <random>

#include "backends/blob/local/local_blob_store.h"
#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "core/volume/volume.h"

namespace stoa::core::test {

struct LocalBlobs {
  static std::unique_ptr<BlobStore> open(const std::string& folder, MetricRegistry& metrics) {
    std::filesystem::create_directories(folder);
    auto store = LocalBlobStore::open({.directories = {folder}}, metrics);
    if (!store) ADD_FAILURE() << describe(store.error());
    return std::move(*store);
  }
  static constexpr bool kOnDisk = true;
};
struct TwinBlobs {
  static std::unique_ptr<BlobStore> open(const std::string&, MetricRegistry&) {
    return std::make_unique<blob::MemoryBlobs>();
  }
  static constexpr bool kOnDisk = false;
};

inline std::string text(std::size_t size, unsigned seed = 1) {
  std::string bytes(size, '\0');
  std::uint32_t state = seed * 2654435761u + 12345;
  // By a plain pointer: under sanitizers, without optimisation, an iterator costs more than all that is tested.
  char* const begin = bytes.data();
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525u + 1013904223u;
    begin[i] = static_cast<char>(state >> 24);
  }
  return bytes;
}

template <class Blobs>
class DataTest : public ::testing::Test {
 protected:
  DataTest() {
    std::string pattern = (std::filesystem::current_path() / "stoa-data-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    EXPECT_TRUE(Volume::format(kv_, "test"));
    options_.background = false;
    blobs_ = Blobs::open(folder_ + "/blobs", *metrics_);
    open_volume();
  }
  ~DataTest() override {
    volume_.reset();
    blobs_.reset();
    std::filesystem::remove_all(folder_);
  }
  void open_volume() {
    auto volume = Volume::open(kv_, *blobs_, *metrics_, options_);
    ASSERT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  void stop() {
    volume_.reset();
    if (Blobs::kOnDisk) blobs_.reset();
  }
  // Stop and start. The memory twin of blobs keeps its content, as a disk would.
  void reopen() {
    stop();
    if (Blobs::kOnDisk) {
      metrics_ = std::make_unique<MetricRegistry>();
      blobs_ = Blobs::open(folder_ + "/blobs", *metrics_);
    }
    open_volume();
  }
  Namespace& ns() { return volume_->ns(); }

  void expect_consistent(bool read_data = true) {
    const auto report = volume_->check({.read_data = read_data});
    ASSERT_TRUE(report) << describe(report.error());
    for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
  }
  // The store has only blobs used by files.
  void expect_no_garbage() {
    ASSERT_TRUE(volume_->flush());
    ASSERT_TRUE(volume_->run_gc());
    expect_consistent();
  }
  std::size_t blob_count() {
    std::size_t count = 0;
    blobs_->for_each([&](BlobId) { ++count; });
    return count;
  }

  FileId create(std::string_view name) {
    const auto made = ns().create(durable_, {.parent = kRootId, .name = name, .mode = CreateMode::kGuarded});
    EXPECT_TRUE(made) << describe(made.error());
    return made ? made->attr.id : kNoFile;
  }
  Status write(FileId id, std::uint64_t offset, std::string_view bytes, bool durable = false) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
    STOA_CHECK_OK(ns().write(durable ? durable_ : lazy_, {id, offset, pieces}));
    return {};
  }
  Status truncate(FileId id, std::uint64_t size) {
    STOA_CHECK_OK(ns().setattr(durable_, {.id = id, .set = {.size = size}}));
    return {};
  }
  std::string read(FileId id, std::uint64_t offset = 0, std::size_t length = 8u << 20) {
    std::string bytes(length, '?');
    const auto got = ns().read(lazy_, {id, offset, std::as_writable_bytes(std::span(bytes))});
    if (!got) return "error: " + describe(got.error());
    bytes.resize(got->length);
    return bytes;
  }
  std::string read_by_slices(FileId id, std::uint64_t offset = 0, std::size_t length = 8u << 20) {
    std::string bytes;
    const auto got = ns().read_slices(lazy_, {id, offset, length});
    if (!got) return "error: " + describe(got.error());
    for (const DataSlice& slice : got->slices) {
      const std::size_t at = bytes.size();
      bytes.resize(at + slice.length);
      if (slice.fd < 0) {
        std::memcpy(bytes.data() + at, slice.bytes.data(), slice.length);
      } else {
        EXPECT_EQ(::pread(slice.fd, bytes.data() + at, slice.length, static_cast<off_t>(slice.file_offset)),
                  static_cast<ssize_t>(slice.length));
      }
    }
    EXPECT_EQ(bytes.size(), got->length);
    return bytes;
  }
  Attributes attr(FileId id) {
    const auto reply = ns().getattr(lazy_, {id});
    EXPECT_TRUE(reply);
    return reply ? reply->attr : Attributes{};
  }
  Result<PutKeyReply> put(std::string_view key, std::string_view bytes, std::uint64_t hint = 0,
                          std::size_t chunk = 65536) {
    STOA_TRY(upload, ns().upload_begin(durable_, {hint}));
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
      const auto part = bytes.substr(at, chunk);
      const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(part))};
      STOA_CHECK_OK(ns().upload_write(durable_, {upload, pieces}));
    }
    return ns().put_key(durable_, {.root = kRootId, .key = key, .upload = upload});
  }
  Usage usage() { return ns().usage(durable_, {kRootId})->usage; }

  std::string folder_;
  std::unique_ptr<MetricRegistry> metrics_ = std::make_unique<MetricRegistry>();
  kv::MemoryKv kv_;
  std::unique_ptr<BlobStore> blobs_;
  VolumeOptions options_;
  std::unique_ptr<Volume> volume_;
  const OpContext durable_{};
  const OpContext lazy_{.durability = Durability::kApplied};
};

}  // namespace stoa::core::test
