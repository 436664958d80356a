// A volume on a small disk that is filled with each kind of object. Growth is refused in time, removals work, nothing
// that was acknowledged is lost, and it goes on by itself.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "backends/blob/local/local_blob_store.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "core/volume/volume.h"
#include "tests/small_disk.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kDiskBytes = 128u << 20;
constexpr int kMany = 2'000'000;

bool becomes_true(const std::function<bool()>& condition) {
  // RocksDB tries again a second after each failure, and needs many where other work slows it down.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(300);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

class FullDiskVolumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.mounted()) GTEST_SKIP() << disk_.why_not();
    std::filesystem::create_directory(disk_.path() + "/blobs");
    open_kv();
    ASSERT_TRUE(Volume::format(*kv_, "test"));
    open();
    if (volume_ == nullptr) return;
    const auto dir = volume_->ns().mkdir(ctx_, {.parent = kRootId, .name = "full", .set = {.mode = 0777}});
    ASSERT_TRUE(dir);
    dir_ = dir->attr.id;
  }
  void open_kv() {
    auto kv = kv::open_rocks(
        {.path = disk_.path() + "/meta", .create = true, .zeroed_log_bytes = 32u << 20, .reserve = true});
    ASSERT_TRUE(kv) << describe(kv.error());
    kv_ = std::move(*kv);
  }
  void open() {
    metrics_ = std::make_unique<MetricRegistry>();
    auto blobs = LocalBlobStore::open({.directories = {disk_.path() + "/blobs"}}, *metrics_);
    ASSERT_TRUE(blobs) << describe(blobs.error());
    blobs_ = std::move(*blobs);
    auto volume = Volume::open(*kv_, *blobs_, *metrics_, {.background = false});
    ASSERT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  void reopen() {
    volume_.reset();
    blobs_.reset();
    kv_.reset();
    open_kv();
    open();
  }
  Namespace& ns() { return volume_->ns(); }
  static std::string name(int i) { return "n" + std::to_string(i); }
  static std::string noise(std::size_t size, int seed) {
    std::string bytes(size, '\0');
    auto state = static_cast<std::uint32_t>(seed) * 2654435761u + 1;
    for (char& c : bytes) {
      state = state * 1664525u + 1013904223u;
      c = static_cast<char>('a' + (state >> 24) % 26);
    }
    return bytes;
  }

  // Makes objects until one is refused; returns the error.
  int fill(const std::function<Status(int)>& make, Errc& refused) {
    for (int i = 0; i < kMany; ++i) {
      const Status made = make(i);
      if (made) continue;
      refused = made.error().code;
      return i;
    }
    return kMany;
  }

  // The whole story of one kind.
  void fill_and_recover(const std::function<Status(int)>& make, const std::function<bool(int)>& is_there,
                        const std::function<Status(int)>& remove) {
    Errc refused{};
    const int count = fill(make, refused);
    ASSERT_LT(count, kMany);
    EXPECT_GT(count, 100);
    EXPECT_EQ(refused, Errc::kNoSpace);
    for (int i = 0; i < count; i += 97) EXPECT_TRUE(is_there(i)) << i;
    reopen();
    ASSERT_NE(volume_, nullptr);
    for (int i = 0; i < count; i += 97) EXPECT_TRUE(is_there(i)) << i;
    disk_.fill_but(0);
    for (int i = 0; i < count; ++i) {
      const Status done = remove(i);
      ASSERT_TRUE(done) << i << " of " << count << ": " << describe(done.error());
    }
    disk_.give_back();
    ASSERT_TRUE(volume_->run_gc());
    EXPECT_TRUE(becomes_true([&] { return kv_->has_room(); }));
    const Status made = make(0);
    EXPECT_TRUE(made) << describe(made.error());
    const auto report = volume_->check({.read_data = true});
    ASSERT_TRUE(report) << describe(report.error());
    for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
  }
  bool exists(int i) { return ns().lookup(ctx_, {.parent = dir_, .name = name(i)}).has_value(); }
  Status unlink(int i) {
    STOA_CHECK_OK(ns().unlink(quick(i), {.parent = dir_, .name = name(i)}));
    return {};
  }
  // Each tenth is durable: the rest of the time would be that of syncs.
  const OpContext& quick(int i) const { return i % 10 == 0 ? ctx_ : lazy_; }

  stoa::test::SmallDisk disk_{kDiskBytes};
  std::unique_ptr<MetricRegistry> metrics_;
  std::unique_ptr<KvStore> kv_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<Volume> volume_;
  FileId dir_{};
  const OpContext ctx_{};
  const OpContext lazy_{.durability = Durability::kApplied};
};

TEST_F(FullDiskVolumeTest, SymbolicLinks) {
  fill_and_recover(
      [&](int i) -> Status {
        const std::string target = noise(4000, i);
        STOA_CHECK_OK(ns().symlink(quick(i), {.parent = dir_, .name = name(i), .target = target}));
        return {};
      },
      [&](int i) {
        const auto found = ns().lookup(ctx_, {.parent = dir_, .name = name(i)});
        if (!found) return false;
        const auto target = ns().readlink(ctx_, {found->attr.id});
        return target && target->target == noise(4000, i);
      },
      [&](int i) { return unlink(i); });
}

TEST_F(FullDiskVolumeTest, InlineFiles) {
  fill_and_recover(
      [&](int i) -> Status {
        STOA_TRY(made, ns().create(quick(i), {.parent = dir_, .name = name(i), .mode = CreateMode::kGuarded}));
        const std::string text = noise(16000, i);
        const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
        const auto written = ns().write(quick(i), {made.attr.id, 0, pieces});
        if (!written) {
          STOA_CHECK_OK(unlink(i));
          return fail(written.error());
        }
        return {};
      },
      [&](int i) {
        const auto found = ns().lookup(ctx_, {.parent = dir_, .name = name(i)});
        if (!found) return false;
        std::string text(16000, '?');
        const auto got = ns().read(ctx_, {found->attr.id, 0, std::as_writable_bytes(std::span(text))});
        return got && text == noise(16000, i);
      },
      [&](int i) { return unlink(i); });
}

TEST_F(FullDiskVolumeTest, ExtendedAttributes) {
  const auto file = ns().create(ctx_, {.parent = dir_, .name = "f", .mode = CreateMode::kGuarded});
  ASSERT_TRUE(file);
  std::vector<FileId> files;
  fill_and_recover(
      [&](int i) -> Status {
        if (i % 500 == 0 && static_cast<std::size_t>(i / 500) >= files.size()) {
          STOA_TRY(made, ns().create(ctx_, {.parent = dir_, .name = name(i), .mode = CreateMode::kGuarded}));
          files.push_back(made.attr.id);
        }
        const std::string value = noise(4000, i), attribute = name(i);
        STOA_CHECK_OK(ns().set_xattr(
            quick(i), {.id = files[static_cast<std::size_t>(i / 500)], .name = attribute, .value = value}));
        return {};
      },
      [&](int i) {
        const auto found = ns().get_xattr(ctx_, {.id = files[static_cast<std::size_t>(i / 500)], .name = name(i)});
        return found && found->value == noise(4000, i);
      },
      [&](int i) -> Status {
        STOA_CHECK_OK(ns().remove_xattr(quick(i), {.id = files[static_cast<std::size_t>(i / 500)], .name = name(i)}));
        return {};
      });
}

TEST_F(FullDiskVolumeTest, ObjectsAndTheirMetadata) {
  fill_and_recover(
      [&](int i) -> Status {
        const std::string key = "full/" + name(i), text = noise(9000, i), meta = noise(500, i);
        STOA_CHECK_OK(ns().put_key(
            quick(i), {.root = kRootId, .key = key, .bytes = std::as_bytes(std::span(text)), .meta = meta}));
        return {};
      },
      [&](int i) { return exists(i); },
      [&](int i) -> Status {
        STOA_CHECK_OK(ns().remove_key(quick(i), {.root = kRootId, .key = "full/" + name(i)}));
        return {};
      });
}

TEST_F(FullDiskVolumeTest, ContentThatFillsTheDiskLeavesTheMetadataAlone) {
  const auto file = ns().create(ctx_, {.parent = dir_, .name = "large", .mode = CreateMode::kGuarded});
  ASSERT_TRUE(file);
  const std::string text = noise(1u << 20, 1);
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
  Errc refused{};
  const int count = fill(
      [&](int i) -> Status {
        STOA_CHECK_OK(ns().write(ctx_, {file->attr.id, static_cast<std::uint64_t>(i) << 20, pieces}));
        return {};
      },
      refused);
  EXPECT_EQ(refused, Errc::kNoSpace);
  EXPECT_GT(count, 20);
  reopen();
  ASSERT_NE(volume_, nullptr);
  ASSERT_TRUE(ns().setattr(ctx_, {.id = file->attr.id, .set = {.size = 1u << 20}}));
  ASSERT_TRUE(volume_->run_gc());
  EXPECT_TRUE(becomes_true([&] { return ns().write(ctx_, {file->attr.id, 0, pieces}).has_value(); }));
}

// Growth and removals side by side while the disk is full.
TEST_F(FullDiskVolumeTest, WhatMayBeDoneOnAFullDisk) {
  ASSERT_TRUE(ns().create(ctx_, {.parent = dir_, .name = "file", .mode = CreateMode::kGuarded}));
  const auto file =
      ns().create(ctx_, {.parent = dir_, .name = "other", .mode = CreateMode::kGuarded, .set = {.size = 1000}});
  ASSERT_TRUE(file);
  ASSERT_TRUE(ns().mkdir(ctx_, {.parent = dir_, .name = "dir"}));
  ASSERT_TRUE(ns().set_xattr(ctx_, {.id = file->attr.id, .name = "x", .value = "12345"}));
  disk_.fill_but(0);
  ASSERT_TRUE(becomes_true([&] { return !kv_->has_room(); }));
  const std::string text = "text";
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
  const auto code = [](const auto& reply) { return reply ? Errc{} : reply.error().code; };
  EXPECT_EQ(code(ns().create(ctx_, {.parent = dir_, .name = "new", .mode = CreateMode::kGuarded})), Errc::kNoSpace);
  EXPECT_EQ(code(ns().mkdir(ctx_, {.parent = dir_, .name = "new"})), Errc::kNoSpace);
  EXPECT_EQ(code(ns().symlink(ctx_, {.parent = dir_, .name = "new", .target = "t"})), Errc::kNoSpace);
  EXPECT_EQ(code(ns().mknod(ctx_, {.parent = dir_, .name = "new", .type = FileType::kFifo})), Errc::kNoSpace);
  EXPECT_EQ(code(ns().link(ctx_, {.id = file->attr.id, .parent = dir_, .name = "new"})), Errc::kNoSpace);
  EXPECT_EQ(code(ns().write(ctx_, {file->attr.id, 1000, pieces})), Errc::kNoSpace);
  EXPECT_EQ(code(ns().setattr(ctx_, {.id = file->attr.id, .set = {.size = 2000}})), Errc::kNoSpace);
  EXPECT_EQ(code(ns().set_xattr(ctx_, {.id = file->attr.id, .name = "y", .value = "1"})), Errc::kNoSpace);
  EXPECT_EQ(code(ns().set_xattr(ctx_, {.id = file->attr.id, .name = "x", .value = "123456"})), Errc::kNoSpace);
  EXPECT_EQ(code(ns().put_key(ctx_, {.root = dir_, .key = "new", .bytes = std::as_bytes(std::span(text))})),
            Errc::kNoSpace);
  EXPECT_EQ(code(ns().rename(
                ctx_, {.from_parent = dir_, .from_name = "file", .to_parent = dir_, .to_name = "a longer name"})),
            Errc::kNoSpace);

  EXPECT_TRUE(ns().rename(ctx_, {.from_parent = dir_, .from_name = "file", .to_parent = dir_, .to_name = "name"}));
  EXPECT_TRUE(ns().set_xattr(ctx_, {.id = file->attr.id, .name = "x", .value = "1234"}));
  EXPECT_TRUE(ns().setattr(ctx_, {.id = file->attr.id, .set = {.mode = 0600}}));
  EXPECT_TRUE(ns().setattr(ctx_, {.id = file->attr.id, .set = {.size = 10}}));
  EXPECT_TRUE(ns().remove_xattr(ctx_, {.id = file->attr.id, .name = "x"}));
  EXPECT_TRUE(ns().unlink(ctx_, {.parent = dir_, .name = "name"}));
  EXPECT_TRUE(ns().rmdir(ctx_, {.parent = dir_, .name = "dir"}));
  EXPECT_TRUE(ns().remove_key(ctx_, {.root = dir_, .key = "other"}));

  const auto full = volume_->health();
  ASSERT_EQ(full.size(), 1U);
  EXPECT_EQ(full[0].kind, ProblemKind::kMetadataFull);
  EXPECT_EQ(full[0].path, disk_.path() + "/meta");
  disk_.give_back();
  EXPECT_TRUE(becomes_true([&] { return kv_->has_room(); }));
  EXPECT_TRUE(ns().create(ctx_, {.parent = dir_, .name = "new", .mode = CreateMode::kGuarded}));
  EXPECT_TRUE(volume_->health().empty());
}

}  // namespace
}  // namespace stoa::core
