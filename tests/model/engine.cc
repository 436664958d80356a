#include "tests/model/engine.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "backends/blob/local/local_blob_store.h"
#include "backends/kv/memory/memory_kv.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "tests/model/memory_blobs.h"

namespace stoa::model {
namespace {

namespace fs = std::filesystem;

Result<std::unique_ptr<core::Volume>> open_or_format(core::KvStore& kv, core::BlobStore& blobs, MetricRegistry& metrics,
                                                     const core::VolumeOptions& options) {
  auto opened = core::Volume::open(kv, blobs, metrics, options);
  if (opened || opened.error().code != Errc::kNotFound) return opened;
  STOA_CHECK_OK(core::Volume::format(kv, "model"));
  return core::Volume::open(kv, blobs, metrics, options);
}

class MemoryEngine final : public Engine {
 public:
  Status open(const core::VolumeOptions& options) override {
    metrics_.emplace();
    STOA_TRY(volume, open_or_format(kv_, blobs_, *metrics_, options));
    volume_ = std::move(volume);
    return {};
  }
  void close() override { volume_.reset(); }
  core::Volume& volume() override { return *volume_; }

 private:
  kv::MemoryKv kv_;
  MemoryBlobs blobs_;
  std::optional<MetricRegistry> metrics_;
  std::unique_ptr<core::Volume> volume_;
};

// The metadata as in real life; the content in memory, or in host files as well.
class RocksEngine final : public Engine {
 public:
  explicit RocksEngine(bool host_files) : host_files_(host_files) {
    std::string pattern = (fs::current_path() / "model.XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::create_directory(folder_ / "blobs");
  }
  ~RocksEngine() override {
    close();
    fs::remove_all(folder_);
  }
  Status open(const core::VolumeOptions& options) override {
    metrics_.emplace();
    STOA_TRY(kv, kv::open_rocks({.path = (folder_ / "kv").string(), .create = true}));
    kv_ = std::move(kv);
    core::BlobStore* blobs = &memory_blobs_;
    if (host_files_) {
      STOA_TRY(local, LocalBlobStore::open({.directories = {(folder_ / "blobs").string()}}, *metrics_));
      local_blobs_ = std::move(local);
      blobs = local_blobs_.get();
    }
    STOA_TRY(volume, open_or_format(*kv_, *blobs, *metrics_, options));
    volume_ = std::move(volume);
    return {};
  }
  void close() override {
    volume_.reset();
    local_blobs_.reset();
    kv_.reset();
  }
  core::Volume& volume() override { return *volume_; }

 private:
  const bool host_files_;
  fs::path folder_;
  MemoryBlobs memory_blobs_;
  std::optional<MetricRegistry> metrics_;
  std::unique_ptr<core::KvStore> kv_;
  std::unique_ptr<core::BlobStore> local_blobs_;
  std::unique_ptr<core::Volume> volume_;
};

}  // namespace

std::unique_ptr<Engine> make_memory_engine() {
  return std::make_unique<MemoryEngine>();
}
std::unique_ptr<Engine> make_rocksdb_engine() {
  return std::make_unique<RocksEngine>(false);
}
std::unique_ptr<Engine> make_local_engine() {
  return std::make_unique<RocksEngine>(true);
}

}  // namespace stoa::model
