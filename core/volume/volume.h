// A volume: one namespace tree on a key-value store and a blob store. Puts the parts of the core together.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"
#include "core/api/event_log.h"
#include "core/api/file_handle.h"
#include "core/api/namespace.h"
#include "core/api/registry.h"
#include "core/api/state.h"
#include "core/blob/blob_store.h"
#include "core/kv/kv_store.h"
#include "core/txn/volume_options.h"
#include "core/verify/check_report.h"
#include "qos/scheduler.h"

namespace stoa::core {

class Journal;
struct Transfer;

struct VolumeInfo {
  std::uint64_t id = 0;
  std::string name;
  Timestamp created;
};

// A fault that limits the service of a volume.
enum class ProblemKind : std::uint8_t {
  kMetadataFailed,   // nothing is accepted any more; a restart may help
  kMetadataStalled,  // changes wait for room
  kMetadataFull,     // nothing may grow
  kBlobDirectory,    // content is missing or cannot be reached
  kDamage,           // content does not match its checksums
  kKeptContent,      // no file refers to content, more than a crash leaves behind
};
std::string_view to_string(ProblemKind kind);  // "metadata_failed"
// Content that does not match its checksum, or cannot be read.
struct DamagedRange {
  FileId id = kNoFile;
  std::string path;  // of the file now; empty: it has none that can be found
  std::uint64_t offset = 0, length = 0;
};
struct Problem {
  ProblemKind kind;
  std::string path{};  // of the host, where there is one
  std::string
      error{};  // kMetadataFailed, kMetadataStalled, kBlobDirectory: what the store or the system said; may be empty
  std::vector<DamagedRange> damage{};  // kDamage: all that is known
  std::uint64_t blobs = 0, bytes = 0;  // kKeptContent
};
// Problems that make the volume unhealthy. A full disk is reported to clients as such, and damage affects single files.
inline bool fails(const Problem& problem) {
  return problem.kind == ProblemKind::kMetadataFailed || problem.kind == ProblemKind::kMetadataStalled ||
         problem.kind == ProblemKind::kBlobDirectory;
}

class Volume {
 public:
  // Writes an empty volume with a root directory owned by uid 0, mode 0755. kExists when `kv` holds one already.
  static Status format(KvStore& kv, const std::string& name, const TimeSource& time = kSystemTime);

  // Opens the volume, replays the state left by a crash (gc queue, lazy sizes), and begins background work. `kv`,
  // `blobs` and `metrics` must outlive the volume. Errors: kNotFound when not formatted; kNotSupported: written by a
  // newer version; kCorrupt.
  static Result<std::unique_ptr<Volume>> open(KvStore& kv, BlobStore& blobs, MetricRegistry& metrics,
                                              const VolumeOptions& options = {});
  virtual ~Volume() = default;  // flushes and stops background work

  virtual Namespace& ns() = 0;
  virtual Registry& registry() = 0;
  virtual StateTable& state() = 0;          // opens, byte-range locks and caching leases of all protocols
  virtual qos::Scheduler& scheduler() = 0;  // of the QoS classes in the registry's snapshots
  virtual Journal& journal() = 0;           // all changes, in order (core/journal/journal.h)
  virtual const HandleCodec& handles() const = 0;
  virtual EventLog& events() = 0;  // events for administrators
  virtual VolumeInfo info() const = 0;
  // Adds to the journal the number of denials omitted for being too many (core/audit/denial_limit.h). For the writer of
  // the audit log: the time to call again; absent: when the journal has called.
  virtual std::optional<std::chrono::steady_clock::time_point> report_omitted_denials() = 0;
  // The bytes that users have read and written through all protocols since the last call, as far as audit was on
  // (core/audit/transfer_tally.h).
  virtual std::vector<Transfer> take_transfers() = 0;

  // Makes all that was applied durable, lazy attributes included.
  virtual Status flush() = 0;
  // Recounts usage, follows every name, layout and blob reference. Works on one consistent snapshot of the metadata, so
  // it is exact while the volume is in use, too.
  virtual Result<CheckReport> check(const CheckOptions& options) = 0;

  // One round of background work now, for tests and for `background = false`.
  virtual Status run_gc() = 0;  // frees all unused blobs of the gc queue, and unclaimed orphans; reports events
  virtual Status run_purge(Timestamp now) = 0;  // one step of purging the recycle bins by age and size
  // Counts this many more files for usage by user and group (CountOwnersRequest). True: counting is complete
  // everywhere.
  virtual Result<bool> run_owner_count(std::size_t files_max) = 0;
  virtual Status run_scrub() = 0;  // verifies every recorded checksum once

  // The present problems; performs a durable change (core/volume/health.h). Thread-safe.
  virtual std::vector<Problem> health() = 0;
  // The damaged content found so far; bounded.
  virtual std::vector<DamagedRange> damage() const = 0;
};

}  // namespace stoa::core
