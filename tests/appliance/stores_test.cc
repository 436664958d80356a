// open_stores() on pieces left by a development version, a crash or tampering. The programs: folder_test.
#include "appliance/stores/stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "appliance/cli/terminal_error.h"
#include "appliance/data_folder/volume_mark.h"
#include "appliance/stores/blob_folders.h"
#include "appliance/stores/usable_memory.h"
#include "backends/blob/local/local_blob_store.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "core/kv/codec.h"
#include "core/kv/keys.h"
#include "core/volume/generation_record.h"

namespace stoa::appliance {
namespace {

using testing::HasSubstr;

class StoresTest : public testing::Test {
 protected:
  StoresTest() {
    // In memory, where that is possible: each start of a real disk's metadata syncs a hundred times (log_files.h).
    const std::filesystem::path memory = "/dev/shm";
    std::string name =
        ((std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) / "stoa-stores-XXXXXX")
            .string();
    root_ = mkdtemp(name.data());
    folder_.path = root_ + "/data";
    std::filesystem::create_directories(folder_.path);
  }
  ~StoresTest() override { std::filesystem::remove_all(root_); }

  std::string directory(const std::string& name) {
    std::filesystem::create_directories(root_ + "/" + name);
    return root_ + "/" + name;
  }
  // The error text; empty: success.
  std::string open(const OpenStores& options = {}) {
    MetricRegistry metrics;
    const auto stores = open_stores(config_, folder_, metrics, options);
    made_ = stores && stores->made;
    code_ = stores ? Errc{} : stores.error().code;
    if (stores) {
      EXPECT_TRUE(stores->blobs->finish_adoption());
    }
    return stores ? std::string() : cli::terminal_text(stores.error());
  }
  void make() {
    ASSERT_EQ(open({.new_volume = "test"}), "");
    ASSERT_TRUE(made_);
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  void copy(const std::string& from, const std::string& to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  }

  std::string root_;
  DataFolder folder_;
  Config config_;
  bool made_ = false;
  Errc code_{};
};

TEST_F(StoresTest, AVolumeIsMadeOnceAndOnlyOnRequest) {
  EXPECT_THAT(open(), HasSubstr("there is no volume"));
  EXPECT_EQ(code_, Errc::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path));
  make();
  EXPECT_EQ(open({.new_volume = "test"}), "");
  EXPECT_FALSE(made_);
  EXPECT_EQ(text_of(folder_.path + "/blob_directories"), "blobs\n");
  EXPECT_THAT(text_of(folder_.blobs() + "/identity"), HasSubstr("\ngeneration 2 "));
}

// Volumes of development versions before 0.1.0 are refused with an explanation and the remedy.
TEST_F(StoresTest, AVolumeOfADevelopmentVersionIsRefused) {
  make();
  {
    auto kv = kv::open_rocks({.path = folder_.meta()});
    ASSERT_TRUE(kv);
    const std::string body = std::string(8, 'i') + "\1v" + std::string(24, 'k');
    core::WriteBatch batch;
    batch.put(core::Family::kConfig, core::keys::kVolumeConfig, core::encode_record(3, 3, body));
    const core::WriteBatch* const batches[] = {&batch};
    ASSERT_TRUE((*kv)->apply(batches));
    ASSERT_TRUE((*kv)->sync());
  }
  const std::string before = text_of(folder_.blobs() + "/identity");
  const std::string refused = open({.new_volume = "test"});
  EXPECT_EQ(code_, Errc::kNotSupported);
  EXPECT_THAT(refused, HasSubstr("a development version of Stoa before 0.1.0"));
  EXPECT_THAT(refused, HasSubstr("cannot read it"));
  EXPECT_THAT(refused, HasSubstr("this version cannot read it; nothing was changed"));
  EXPECT_EQ(text_of(folder_.blobs() + "/identity"), before);

  const std::string old = directory("old/blobs");
  write(old + "/identity", "stoa-blob-directory 2 s0 0 1\nvolume ab\ngeneration 5 77 1790000000\n");
  folder_.path = directory("fresh");
  config_.blob_directories = {old};
  EXPECT_THAT(open({.new_volume = "test"}), HasSubstr("before 0.1.0, which this version cannot read"));
  EXPECT_EQ(code_, Errc::kNotSupported);
}

TEST_F(StoresTest, WhatWasBegunAndNotFinishedIsMadeAnew) {
  ASSERT_TRUE(write_volume_mark(folder_, {}));
  make();
  // Metadata whose creation was interrupted.
  folder_.path = directory("second");
  ASSERT_TRUE(write_volume_mark(folder_, {}));
  directory("second/meta");
  write(folder_.meta() + "/LOG", "");
  make();
  // Metadata that are there, and no blob directory.
  folder_.path = directory("third");
  {
    auto kv = kv::open_rocks({.path = folder_.meta(), .create = true});
    ASSERT_TRUE(core::Volume::format(**kv, "test"));
  }
  directory("third/blobs");
  ASSERT_TRUE(write_volume_mark(folder_, {}));
  EXPECT_EQ(open({.new_volume = "test"}), "");
  EXPECT_EQ(open({.new_volume = "test"}), "");
}

// The three steps of pairing.h, with a crash behind each: the files afterwards.
TEST_F(StoresTest, ACrashBetweenTwoStepsOfRaisingLeavesPiecesThatFit) {
  const std::vector<std::string> disks = {directory("d0"), directory("d1")};
  config_.blob_directories = disks;
  make();
  ASSERT_EQ(open(), "");
  const auto save = [&](const std::string& name) {
    std::filesystem::remove_all(root_ + "/" + name);
    directory(name);
    copy(folder_.meta(), root_ + "/" + name + "/meta");
    for (const std::string& disk : disks) copy(disk, root_ + "/" + name + disk.substr(disk.rfind('/')));
  };
  const auto restore = [&](const std::string& name, const std::string& piece, const std::string& to) {
    std::filesystem::remove_all(to);
    copy(root_ + "/" + name + "/" + piece, to);
  };
  save("before");
  // A start that dies between the steps: its directories have noted the next generation, and the metadata have it or
  // not.
  MetricRegistry metrics;
  core::Generation next;
  {
    auto kv = kv::open_rocks({.path = folder_.meta()});
    ASSERT_TRUE(kv);
    const auto info = core::read_volume_info(**kv);
    char id[17];
    std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>((*info)->id));
    BlobPairing pairing{
        .volume = id, .generation = *core::read_generation(**kv), .metadata = folder_.meta(), .home = folder_.path};
    pairing.raise = [&](const core::Generation& generation) -> Status {
      next = generation;
      return fail(Errc::kIo, "the power went");
    };
    EXPECT_FALSE(LocalBlobStore::open({.directories = disks, .create = false, .pairing = pairing}, metrics));
  }
  save("noted");
  {
    auto kv = kv::open_rocks({.path = folder_.meta()});
    ASSERT_TRUE(core::write_generation(**kv, next));
  }
  save("raised");
  ASSERT_EQ(open(), "");  // of "raised"; its directories have taken it, noted one more, and taken that
  save("after");

  // Step 1 for one and both; step 2 done or not.
  for (const char* d1 : {"before", "noted"}) {
    restore("before", "meta", folder_.meta());
    restore("noted", "d0", disks[0]);
    restore(d1, "d1", disks[1]);
    EXPECT_EQ(open(), "") << d1;
  }
  restore("raised", "meta", folder_.meta());
  restore("noted", "d0", disks[0]);
  restore("noted", "d1", disks[1]);
  EXPECT_EQ(open(), "");
  // And states that no crash leaves.
  restore("raised", "meta", folder_.meta());
  restore("noted", "d0", disks[0]);
  restore("before", "d1", disks[1]);
  EXPECT_THAT(open(), HasSubstr("the blob directory is older"));
  restore("noted", "meta", folder_.meta());
  restore("after", "d0", disks[0]);
  restore("after", "d1", disks[1]);
  EXPECT_THAT(open(), HasSubstr("the metadata are older"));
  restore("after", "meta", folder_.meta());
  restore("before", "d1", disks[1]);
  EXPECT_THAT(open(), HasSubstr("the blob directory is older"));
}

TEST_F(StoresTest, AMarkThatCannotBeReadIsNotWrittenAnew) {
  make();
  write(folder_.mark(), "");
  EXPECT_THAT(open({.new_volume = "test"}), HasSubstr("cannot be understood"));
  EXPECT_EQ(text_of(folder_.mark()), "");
}

TEST_F(StoresTest, AVolumeInMemoryEmptiesOnlyWhatWasOneInMemory) {
  config_.engine = "memory";
  make();
  make();
  config_.engine = "rocksdb";
  EXPECT_THAT(open({.new_volume = "test"}), HasSubstr("holds the content of volume 'memory'"));
}

TEST_F(StoresTest, MemoryIsWhatTheMachineHasOrAnyControlGroupAboveAllows) {
  const std::uint64_t machine = usable_memory(root_);
  EXPECT_GT(machine, 64u << 20);
  const std::string group = directory("sys/fs/cgroup/above/own");
  write(directory("proc/self") + "/cgroup", "0::/above/own\n");
  write(group + "/memory.max", "max\n");
  EXPECT_EQ(usable_memory(root_), machine);
  write(directory("sys/fs/cgroup/above") + "/memory.max", "33554432\n");
  EXPECT_EQ(usable_memory(root_), 32u << 20);
  write(group + "/memory.max", "1048576\n");
  EXPECT_EQ(usable_memory(root_), 1u << 20);
}

}  // namespace
}  // namespace stoa::appliance
