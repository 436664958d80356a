// Blobs in host files: small ones as slots of container files, big ones in files of their own. README.md has the map.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/blob/local/pairing.h"
#include "base/metrics.h"
#include "core/blob/kept_blobs.h"

namespace stoa::blob_local {
class HostIo;
}

namespace stoa {

struct LocalBlobStoreOptions {
  // Existing, writable, empty at the first start. The order does not matter; later starts may add directories.
  std::vector<std::string> directories;
  // They may all be new: a volume is being made. False: that is refused (disks that are not mounted).
  bool create = true;
  std::optional<BlobPairing> pairing{};  // absent: not compared with anything
  bool sweep_all = false;                // free all unadopted blobs, regardless of their amount (sweep.h)
  // Kept free on each host file system, at most 2 % of it.
  std::uint64_t reserve_bytes = 256u << 20;
  std::size_t open_files_max = 2048;
  bool direct_io = true;                  // large writes past the page cache, where the file system can
  std::uint64_t written_cache_bytes = 0;  // memory of such writes that is kept for reads shortly after
  blob_local::HostIo* io = nullptr;       // tests put faults here; must outlive the store
};

class LocalBlobStore : public core::BlobStore, public core::KeepsBlobs {
 public:
  // Whether the directories may become those of a new volume. kInvalid: one is not empty; the text names its owner.
  static Status require_new(const std::vector<std::string>& directories);

  // Errors: kInvalid for no directories, for ones that do not belong together, or not to the metadata. kNotFound: one
  // is missing; kBusy: another process has it; kCorrupt: its identity cannot be read; kNotSupported: written by a newer
  // version. `metrics` must outlive the store.
  static Result<std::unique_ptr<LocalBlobStore>> open(const LocalBlobStoreOptions& options, MetricRegistry& metrics);
};

}  // namespace stoa
