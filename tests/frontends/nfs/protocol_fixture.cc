#include "tests/frontends/nfs/protocol_fixture.h"

#include <stdlib.h>

#include <filesystem>

#include "backends/blob/local/local_blob_store.h"
#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "core/journal/journal.h"

namespace stoa::test {

ProtocolTest::ProtocolTest(Store store, const core::VolumeOptions& volume_options)
    : store_(store), volume_options_(volume_options) {
  options.port = 0;
  options.limits.waiting_max = 0;  // no request waits for a recall: a test sees that it met one
  if (store_ == Store::kDisk) {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoa-nfs-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ + "/data");
  }
  open();
}

ProtocolTest::~ProtocolTest() {
  server.reset();
  volume.reset();
  blobs_.reset();
  kv_.reset();
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

void ProtocolTest::open() {
  bool fresh = true;
  if (store_ == Store::kMemory) {
    fresh = kv_ == nullptr;
    if (fresh) kv_ = std::make_unique<kv::MemoryKv>();
    if (fresh) blobs_ = std::make_unique<blob::MemoryBlobs>();
  } else {
    fresh = !std::filesystem::exists(folder_ + "/meta");
    auto kv = kv::open_rocks({.path = folder_ + "/meta", .create = fresh});
    ASSERT_TRUE(kv) << describe(kv.error());
    kv_ = std::move(*kv);
    auto blobs = LocalBlobStore::open({.directories = {folder_ + "/data"}}, metrics);
    ASSERT_TRUE(blobs) << describe(blobs.error());
    blobs_ = std::move(*blobs);
  }
  if (fresh) {
    const Status formatted = core::Volume::format(*kv_, "test");
    ASSERT_TRUE(formatted) << describe(formatted.error());
  }
  auto opened = core::Volume::open(*kv_, *blobs_, metrics, volume_options_);
  ASSERT_TRUE(opened) << describe(opened.error());
  volume = std::move(*opened);
}

void ProtocolTest::start_protocol() {
  auto started =
      nfs::NfsServer::start(options, volume->ns(), volume->state(), volume->registry(), volume->handles(), metrics);
  ASSERT_TRUE(started) << describe(started.error());
  server = std::move(*started);
  port = server->port();
}

void ProtocolTest::restart() {
  server.reset();
  volume.reset();
  if (store_ == Store::kDisk) {
    blobs_.reset();
    kv_.reset();
  }
  open();
  start_protocol();
}

core::ClientRule ProtocolTest::anyone(core::Squash squash, bool read_only) {
  return {.network = *core::Network::parse("*"), .read_only = read_only, .squash = squash};
}

void ProtocolTest::publish(const std::string& name, std::vector<core::ClientRule> clients) {
  auto dir = volume->ns().mkdir({}, {.parent = core::kRootId, .name = name, .set = {.mode = 0777}});
  ASSERT_TRUE(dir) << describe(dir.error());
  auto added = volume->registry().add_export(
      {.name = name, .root = dir->attr.id, .path = "/" + name, .nfs = true, .clients = std::move(clients)});
  ASSERT_TRUE(added) << describe(added.error());
}

void ProtocolTest::audit_denials() {
  ASSERT_TRUE(volume->registry().set_audit_policy({core::kRootId, core::bit(core::AuditClass::kDenied)}));
}

std::vector<std::string> ProtocolTest::refusals() {
  std::vector<std::string> found;
  const auto page = volume->journal().read(0, 10'000);
  EXPECT_TRUE(page);
  for (const core::JournalRecord& record : page->records) {
    if (record.kind != core::ChangeKind::kRefused) continue;
    EXPECT_EQ(record.client, "127.0.0.1");
    EXPECT_EQ(record.protocol, core::Protocol::kNfs);
    EXPECT_EQ(record.result, Errc::kAccess);
    found.push_back(record.to_name + ": " + record.name);
  }
  return found;
}

std::uint64_t ProtocolTest::metric(std::string_view line_start) const {
  const std::string text = metrics.render();
  const auto at = text.find("\n" + std::string(line_start) + " ");
  return at == text.npos ? 0 : std::stoull(text.substr(at + line_start.size() + 2));
}

ExportedTest::ExportedTest(Store store) : ProtocolTest(store) {
  publish("test", {anyone()});
  start_protocol();
  nfs = std::make_unique<NfsCaller>(port);
  const auto mounted = nfs->mount("/test");
  EXPECT_TRUE(mounted);
  root = mounted.value_or(Handle{});
}

}  // namespace stoa::test
