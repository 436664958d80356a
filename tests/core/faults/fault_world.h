// A volume in memory that fails at the points of a test, with an object of each kind.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "base/fault_plan.h"
#include "core/volume/volume.h"

namespace stoa::core::test {

class FaultWorld {
 public:
  FaultWorld();
  // A crash: unsynced changes may be lost.
  void crash(bool unsynced_is_lost);
  // Closes the volume and opens it again, without faults.
  void reopen();

  Namespace& ns() { return volume_->ns(); }
  Volume& volume() { return *volume_; }
  FaultPlan& faults() { return faults_; }
  // A file of the initial world: "/dir/inline".
  FileId id(const std::string& path) const { return ids_.at(path); }
  RecycleItemId deleted() const { return deleted_; }
  OpContext durable() const { return {}; }
  OpContext lazy() const { return {.durability = Durability::kApplied}; }
  // One that holds nothing yet.
  HolderId holder() { return volume_->state().add_holder(Protocol::kNfs, nullptr); }
  Status write(FileId id, std::uint64_t offset, std::string_view text, const OpContext& ctx);

  // Everything that a client can see but times and change counters; usage and the recycle bin, too.
  std::string dump();
  // The oracle: the verifier finds nothing.
  void expect_consistent();

 private:
  void open();
  void fill();
  FileId made(const std::string& path, const Result<CreateReply>& reply);
  void dump_directory(FileId dir, const std::string& path, std::string& out);
  void dump_file(const DirectoryEntry& entry, const std::string& path, std::string& out);

  FaultPlan faults_;
  kv::MemoryKv kv_{&faults_};
  blob::MemoryBlobs blobs_{&faults_};
  MetricRegistry metrics_;
  VolumeOptions options_;
  std::unique_ptr<Volume> volume_;
  std::map<std::string, FileId> ids_;
  RecycleItemId deleted_{};
};

}  // namespace stoa::core::test
