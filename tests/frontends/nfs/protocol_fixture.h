// An NFS server on a volume, for tests. The volume lies in memory, or on RocksDB and host files when a test restarts
// it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/metrics.h"
#include "core/volume/volume.h"
#include "frontends/nfs/nfs_server.h"
#include "tests/frontends/nfs/nfs_caller.h"

namespace stoa::test {

enum class Store { kMemory, kDisk };

class ProtocolTest : public testing::Test {
 protected:
  explicit ProtocolTest(Store store = Store::kMemory, const core::VolumeOptions& volume_options = {});
  ~ProtocolTest() override;

  // A directory of the volume's root, published as "/name".
  void publish(const std::string& name, std::vector<core::ClientRule> clients);
  static core::ClientRule anyone(core::Squash squash = core::Squash::kNone, bool read_only = false);
  // Ends the server and the volume and starts them again.
  void restart();
  void start_protocol();
  std::uint64_t metric(std::string_view line_start) const;
  // From now on, denials on the volume are in the journal; returns the server's refusals since, as "claimed
  // identity: request: reason".
  void audit_denials();
  std::vector<std::string> refusals();

  nfs::NfsServerOptions options;
  MetricRegistry metrics;
  std::unique_ptr<core::Volume> volume;
  std::unique_ptr<nfs::NfsServer> server;
  std::uint16_t port = 0;

 private:
  void open();
  const Store store_;
  const core::VolumeOptions volume_options_;
  std::string folder_;
  std::unique_ptr<core::KvStore> kv_;
  std::unique_ptr<core::BlobStore> blobs_;
};

// With one export "/test", open to all, and its root.
class ExportedTest : public ProtocolTest {
 protected:
  explicit ExportedTest(Store store = Store::kMemory);
  std::unique_ptr<NfsCaller> nfs;  // uid 0
  Handle root;
};

}  // namespace stoa::test
