// NFSv4 operations called one by one on a volume in memory, without the COMPOUND loop.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "core/volume/volume.h"
#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/compound.h"
#include "frontends/nfs/v4/operations.h"
#include "tests/frontends/nfs/v4/fake_state_table.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::nfs4 {
class ClientTable {};  // the operations on files never look at it
}  // namespace stoa::nfs4

namespace stoa::test {

using nfs4::Attr;
using nfs4::Bitmap;
using nfs4::Nfs4Status;

Bytes encoded(const Bitmap& map);
Bytes fattr(const Bitmap& map, const Xdr& values);
inline Bytes no_attributes() {
  return fattr({}, Xdr());
}
// A stateid4 that the double of check_io_stateid() lets pass, and one that it refuses with kBadStateId.
Bytes good_stateid();
Bytes bad_stateid();

// With the export "test", open to all.
class OperationTest : public testing::Test {
 protected:
  OperationTest();

  core::FileId publish(const std::string& name, std::vector<core::ClientRule> clients, bool read_only = false);
  static core::ClientRule anyone(core::Squash squash = core::Squash::kNone);
  // A new COMPOUND, as of this caller, with nothing current.
  void begin(std::uint32_t minor = 2, std::uint32_t uid = 0);
  // Runs one operation; its result without the status is in `out` (and readable through `in`) afterwards.
  Nfs4Status run(Nfs4Status (*operation)(nfs4::Compound&), std::span<const std::byte> arguments = {});
  Nfs4Status put_root(std::string_view export_name = "test");  // begins at the export's root
  Nfs4Status lookup(std::string_view name) { return run(nfs4::op_lookup, Xdr().string(name)); }
  void save() { ASSERT_EQ(run(nfs4::op_savefh), Nfs4Status::kOk); }
  Bytes handle();
  Nfs4Status putfh(std::span<const std::byte> bytes) { return run(nfs4::op_putfh, Xdr().opaque(bytes)); }

  core::FileId make_file(std::string_view name, std::string_view text = {}, std::uint32_t mode = 0644);
  core::FileId make_directory(std::string_view name, std::uint32_t mode = 0755);
  core::Attributes attributes(core::FileId id);
  std::string content(core::FileId id);

  // GETATTR of the current file: the reader is positioned at the values. Fails the test unless just these
  // came.
  rpc::XdrReader values(const Bitmap& wanted);
  std::uint64_t number(Attr attribute);  // of eight bytes

  MetricRegistry metrics;
  kv::MemoryKv kv;
  blob::MemoryBlobs blobs;
  std::unique_ptr<core::Volume> volume;
  core::FileId root = core::kNoFile;
  FakeStateTable state;
  nfs4::ClientTable clients;
  std::unique_ptr<nfs4::Environment> environment;
  std::unique_ptr<nfs::ExportAccess> access;
  rpc::Peer peer;
  rpc::CallHeader header;
  rpc::ReplyBuffer buffer;
  std::unique_ptr<nfs::Call> call;
  std::unique_ptr<rpc::Reply> reply;
  std::unique_ptr<nfs4::Compound> c;
  Bytes arguments_;
  rpc::XdrReader in{{}};
};

}  // namespace stoa::test
