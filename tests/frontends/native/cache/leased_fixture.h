// A client with leases, and another client of the same volume that has none.
#pragma once

#include <cstring>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "frontends/native/cache/leased_storage.h"
#include "tests/frontends/native/cache/granting_storage.h"

namespace stoa::native {

class LeasedFixture : public ::testing::Test {
 protected:
  LeasedFixture() {
    EXPECT_TRUE(core::Volume::format(kv_, "test"));
    auto volume = core::Volume::open(kv_, blobs_, metrics_, {.background = false});
    volume_ = std::move(*volume);
    mine_ = std::make_unique<mount::VolumeStorage>(*volume_);
    others_ = std::make_unique<mount::VolumeStorage>(*volume_);
    server_ = std::make_unique<GrantingStorage>(*mine_);
    make({});
  }
  ~LeasedFixture() override { leased_.reset(); }
  void make(const LeaseCacheLimits& limits) { leased_ = std::move(*LeasedStorage::make(*server_, *server_, limits)); }

  LeasedStorage& leased() { return *leased_; }
  GrantingStorage& server() { return *server_; }
  Storage& other() { return *others_; }
  // How many calls the server gets while something is done.
  int calls_of(const std::function<void()>& work) {
    const int before = server_->calls;
    work();
    return server_->calls - before;
  }
  // What the server does before a change of another client: the lease on the file is recalled, and given back.
  std::uint32_t recall(core::FileId file, std::uint32_t keeps = 0,
                       core::RecallReason reason = core::RecallReason::kChange) {
    const std::uint64_t lease = server_->lease_of(file);
    leased_->lease_recalled({.lease = lease, .keeps = keeps, .reason = reason});
    return server_->acknowledged(lease);
  }
  core::FileId make_file(std::string_view name, std::uint32_t mode = 0644, core::FileId dir = core::kRootId) {
    auto made =
        others_->create(root, {.parent = dir, .name = name, .mode = core::CreateMode::kGuarded, .set = {.mode = mode}});
    EXPECT_TRUE(made) << name;
    return made ? made->id : core::kNoFile;
  }
  core::FileId make_dir(std::string_view name, std::uint32_t mode = 0755) {
    auto made = others_->mkdir(root, {.parent = core::kRootId, .name = name, .set = {.mode = mode}});
    EXPECT_TRUE(made) << name;
    return made ? made->id : core::kNoFile;
  }
  static std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
  static std::string text_of(Storage& storage, const Asker& asker, core::FileId id, OpenNumber open) {
    char into[64]{};
    auto got = storage.read(asker, id, open, 0, std::as_writable_bytes(std::span(into)));
    return got ? std::string(into, *got) : describe(got.error());
  }

  const Asker root{.cred = core::Credentials::superuser()};
  const Asker ann{.cred = {.uid = 1001, .gid = 1001}};
  const Asker bob{.cred = {.uid = 1002, .gid = 1002}};

 private:
  kv::MemoryKv kv_;
  blob::MemoryBlobs blobs_;
  MetricRegistry metrics_;
  std::unique_ptr<core::Volume> volume_;
  std::unique_ptr<mount::VolumeStorage> mine_, others_;
  std::unique_ptr<GrantingStorage> server_;
  std::unique_ptr<LeasedStorage> leased_;
};

}  // namespace stoa::native
