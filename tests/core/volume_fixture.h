// A volume on either engine for tests: TYPED_TEST over MemoryEngine and RocksEngine.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "core/volume/volume.h"

namespace stoa::core::test {

// The error; none: success.
inline Errc code(const Status& status) {
  return status ? Errc{} : status.error().code;
}

struct MemoryEngine {
  std::unique_ptr<KvStore> open(const std::string&) { return std::make_unique<kv::MemoryKv>(); }
  static constexpr bool kDurable = false;
};
struct RocksEngine {
  std::unique_ptr<KvStore> open(const std::string& folder) {
    auto kv = kv::open_rocks({.path = folder, .create = true});
    if (!kv) ADD_FAILURE() << describe(kv.error());
    return std::move(*kv);
  }
  static constexpr bool kDurable = true;
};

template <class Engine>
class VolumeTest : public ::testing::Test {
 protected:
  VolumeTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoa-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    kv_ = engine_.open(folder_ + "/meta");
    EXPECT_TRUE(Volume::format(*kv_, "test"));
    open();
  }
  ~VolumeTest() override {
    volume_.reset();
    kv_.reset();
    std::filesystem::remove_all(folder_);
  }
  void open() {
    options_.background = false;
    auto volume = Volume::open(*kv_, blobs_, metrics_, options_);
    ASSERT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  // Ends the volume as a stop would and opens it again; with a durable engine the database, too.
  void reopen() {
    volume_.reset();
    if (Engine::kDurable) {
      kv_.reset();
      kv_ = engine_.open(folder_ + "/meta");
    }
    open();
  }
  Namespace& ns() { return volume_->ns(); }

  // The oracle: the verifier finds nothing.
  void expect_consistent() {
    const auto report = volume_->check({});
    ASSERT_TRUE(report) << describe(report.error());
    for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
  }

  Result<FileId> mkdir(FileId parent, std::string_view name) {
    STOA_TRY(made, ns().mkdir(root_, {.parent = parent, .name = name, .set = {.mode = 0777}}));
    return made.attr.id;
  }
  Result<FileId> create(FileId parent, std::string_view name) {
    STOA_TRY(made, ns().create(root_, {.parent = parent, .name = name, .mode = CreateMode::kGuarded}));
    return made.attr.id;
  }
  Status write(FileId id, std::uint64_t offset, std::string_view text) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
    STOA_CHECK_OK(ns().write(root_, {id, offset, pieces}));
    return {};
  }
  std::string read(FileId id, std::uint64_t offset = 0, std::size_t length = 1 << 20) {
    std::string text(length, '?');
    const auto got = ns().read(root_, {id, offset, std::as_writable_bytes(std::span(text))});
    if (!got) return "error: " + describe(got.error());
    text.resize(got->length);
    return text;
  }
  Result<PutKeyReply> put(FileId root, std::string_view key, std::string_view text) {
    return ns().put_key(root_, {.root = root, .key = key, .bytes = std::as_bytes(std::span(text))});
  }
  std::vector<std::string> names(FileId dir) {
    std::vector<std::string> all;
    const auto listing = ns().readdir(root_, {.dir = dir, .cookie = 2});
    if (!listing) return {"error: " + describe(listing.error())};
    for (const DirectoryEntry& entry : listing->entries) all.push_back(entry.name);
    return all;
  }
  Usage usage(FileId dir) {
    const auto reply = ns().usage(root_, {dir});
    return reply ? reply->usage : Usage{-1, -1, -1};
  }

  Engine engine_;
  std::string folder_;
  MetricRegistry metrics_;
  blob::MemoryBlobs blobs_;
  VolumeOptions options_;
  std::unique_ptr<KvStore> kv_;
  std::unique_ptr<Volume> volume_;
  const OpContext root_{};
};

// RocksDB is not built with sanitizers, and many times slower beside them: its own tests (tests/backends/kv/rocksdb)
// run it there.
#ifdef STOA_TEST_SANITIZED
using Engines = ::testing::Types<MemoryEngine>;
#else
using Engines = ::testing::Types<MemoryEngine, RocksEngine>;
#endif

}  // namespace stoa::core::test
