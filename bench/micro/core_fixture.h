// A volume on either engine for the micro benchmarks of the core. Metadata only: content stays inline.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "backends/kv/memory/memory_kv.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "core/volume/volume.h"

namespace stoa::core {

enum class Engine : int { kMemory, kRocks };
enum class Background : bool { kOff, kOn };

// These benchmarks make no blob; a request for one has left the metadata path.
class NoBlobs final : public BlobStore {
 public:
  bool begin_adoption() override { return false; }
  Status adopt(BlobId) override { return none(); }
  Status finish_adoption() override { return {}; }
  Result<BlobId> reserve(std::uint64_t) override { return none(); }
  std::uint64_t capacity(BlobId) const override { return 0; }
  Status read(BlobId, std::uint64_t, std::span<std::byte>) override { return none(); }
  Status write(BlobId, std::uint64_t, ConstBuffers) override { return none(); }
  Result<DataSlice> slice(BlobId, std::uint64_t, std::uint64_t) override { return none(); }
  Status sync(std::span<const BlobId>) override { return {}; }
  Status punch(BlobId, std::uint64_t, std::uint64_t) override { return none(); }
  Status allocate(BlobId, std::uint64_t, std::uint64_t) override { return none(); }
  Result<std::uint64_t> seek(BlobId, std::uint64_t, std::uint64_t, bool) override { return none(); }
  Result<std::uint64_t> allocated(BlobId, std::uint64_t) override { return none(); }
  Status release(BlobId) override { return none(); }
  Space space() const override { return {std::uint64_t{1} << 40, std::uint64_t{1} << 40}; }
  std::vector<DirectoryHealth> health() const override { return {}; }
  void for_each(const std::function<void(BlobId)>&) const override {}
  bool holds(BlobId) const override { return false; }

 private:
  static std::unexpected<Error> none() { return fail(Errc::kNotSupported, "no blobs here"); }
};

// RocksDB's files lie below $TMPDIR (else /var/tmp), so that syncs have the cost of the disk.
class CoreFixture {
 public:
  explicit CoreFixture(Engine engine, Background background = Background::kOn);
  ~CoreFixture();
  void reopen();  // the volume, with empty caches
  Namespace& ns() { return volume_->ns(); }
  Volume& volume() { return *volume_; }
  // An unused folder beside RocksDB's files; the caller removes it.
  static std::string scratch_folder(const std::string& what);
  FileId mkdir(const std::string& name);
  // Files f00000000.. of `bytes` inline bytes.
  FileId filled_directory(const std::string& name, std::uint64_t files);

 private:
  std::string folder_;
  std::unique_ptr<KvStore> kv_;
  NoBlobs blobs_;
  MetricRegistry metrics_;
  const Background background_;
  std::unique_ptr<Volume> volume_;
};

std::string numbered(std::uint64_t index);

}  // namespace stoa::core
