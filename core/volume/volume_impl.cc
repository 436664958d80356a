#include <random>

#include "base/debug_assert.h"
#include "base/log.h"
#include "core/audit/audited_namespace.h"
#include "core/blob/kept_blobs.h"
#include "core/data/adoption.h"
#include "core/data/flush.h"
#include "core/data/gc.h"
#include "core/data/live_sums.h"
#include "core/data/open_files.h"
#include "core/journal/journal.h"
#include "core/kv/keys.h"
#include "core/links/orphan.h"
#include "core/namespace/find_qos_classes.h"
#include "core/namespace/owner_count.h"
#include "core/namespace/quota.h"
#include "core/recycle/bin.h"
#include "core/recycle/purge.h"
#include "core/registry/stored_registry.h"
#include "core/txn/operations.h"
#include "core/txn/sealed.h"
#include "core/verify/check.h"
#include "core/volume/background.h"
#include "core/volume/gone_directories.h"
#include "core/volume/health.h"
#include "core/volume/opened_tree.h"
#include "core/volume/replay_usage.h"
#include "core/volume/volume.h"
#include "core/volume/volume_record.h"

namespace stoa::core {
namespace {

class NamespaceImpl final : public Namespace {
 public:
  NamespaceImpl(VolumeContext& volume, std::uint64_t volume_id)
      : volume_(volume),
        volume_id_(volume_id),
        requests_(volume.metrics.counter("stoa_operations_total", "Operations of all protocols")) {}

  std::uint64_t requests() const { return requests_.value(); }

#define STOA_OPERATION(kind, name, reply, request, routing)                                \
  Result<reply> name(const OpContext& ctx, const request& req) override {                  \
    return answered<operations::name>(ctx, [&] { return core::name(volume_, ctx, req); }); \
  }
#include "core/api/operations.def"

  // Part of another request, so not one itself.
  Status find_qos_classes(const OpContext& ctx, FileId file, const QosTable& table,
                          std::vector<qos::QosClass*>& found) override {
    return core::find_qos_classes(volume_, ctx, file, table, found);
  }
  void refused(const OpContext&, const AuthFailure&) override { requests_.add(); }
  Status sync(const OpContext& ctx, const PendingDurability& pending) override {
    STOA_TRY(flushed, flush_files(volume_, ctx.after_change(), pending.written()));
    return volume_.committer.wait_durable(std::max(flushed, pending.newest(volume_.shard)), ctx.durable_by);
  }
  std::uint64_t boot_verifier() const override { return volume_.write_verifier; }
  std::uint64_t volume_id() const override { return volume_id_; }

 private:
  // What reads may be late: it leaves nothing. To give back an upload never fails.
  template <class Of>
  static constexpr bool begins_in_time =
      Of::kKind != OperationKind::kReads && !std::is_same_v<Of, operations::upload_discard>;

  // Here all locks are gone: the lease holder can be recalled, and a front end that cannot park can wait. An operation
  // that answered kRecallPending has changed nothing, so it is simply done again.
  template <class Of, class Operation>
  auto answered(const OpContext& ctx, Operation operation) -> decltype(operation()) {
    requests_.add();
    if (begins_in_time<Of> && ctx.expired()) return fail(Errc::kTimeout, "the deadline had passed before it began");
    std::chrono::steady_clock::time_point until{};
    for (;;) {
      auto reply = operation();
      volume_.state.send_recalls();
      const bool pending = !reply && reply.error().code == Errc::kRecallPending;
      STOA_DEBUG_ASSERT(!pending || reply.error().subject != 0, "a recall that is waited for tells its file");
      if (!pending || ctx.lease_patience.count() == 0) return reply;
      const auto now = volume_.time.steady();
      if (until == std::chrono::steady_clock::time_point{})
        until = std::min(now + ctx.lease_patience, ctx.deadline.at());
      if (now >= until || !volume_.state.wait_until_clear(FileId{reply.error().subject}, until)) return reply;
    }
  }

  VolumeContext& volume_;
  const std::uint64_t volume_id_;
  Counter& requests_;
};

std::uint64_t random64() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

class VolumeImpl final : public Volume {
 public:
  VolumeImpl(KvStore& kv, BlobStore& blobs, MetricRegistry& metrics, const VolumeOptions& options, VolumeRecord record,
             std::uint64_t next_journal, FileId next_id)
      : record_(std::move(record)),
        next_journal_(next_journal),
        opened_(kv, blobs, metrics, options, next_journal, next_id),
        journal_(kv, volume_.committer, volume_.time),
        ns_(volume_, record_.info.id),
        handles_(record_.info.id, record_.handle_key) {}

  Status start() {
    STOA_TRY(finished, FinishedRequests::load(volume_.kv, next_journal_));
    volume_.finished = std::move(finished);
    STOA_CHECK_OK(replay_usage(volume_));
    adoption_.emplace(volume_, [this] {
      const KeptBlobs kept = kept_blobs(volume_.blobs);
      if (kept.blobs == 0) return;
      volume_.events.add(Severity::kCritical, EventKind::kContentWithoutFiles, {},
                         {std::to_string(kept.blobs), std::to_string(kept.bytes)});
    });
    if (!volume_.options.background) STOA_CHECK_OK(adoption_->run());
    STOA_CHECK_OK(recover_open_files(volume_));
    STOA_CHECK_OK(volume_.state.load());
    STOA_TRY(seals, count_seals(volume_));
    volume_.nodes.seals = seals;
    STOA_CHECK_OK(sweep_orphans(volume_));
    STOA_TRY(registry, StoredRegistry::load(
                           volume_.kv,
                           [this](const WriteBatch& batch, const Deadline& by) -> Status {
                             STOA_CHECK_OK(volume_.room.admit_settings(batch));
                             return volume_.committer.write_durably(batch, by);
                           },
                           scheduler_, volume_.time));
    registry_ = std::move(registry);
    STOA_TRY(bins, has_bins(volume_));
    volume_.recycle.any = bins;
    volume_.recycle.registry = registry_.get();
    audited_ = audit(ns_, *registry_, journal_, volume_.time);
    volume_.metrics.gauge_callback("stoa_cached_inodes", "Inodes in memory", {},
                                   [this] { return static_cast<double>(volume_.nodes.size()); });
    volume_.metrics.gauge_callback("stoa_cached_acl_bytes", "Memory of the ACLs of inodes in memory", {},
                                   [this] { return static_cast<double>(volume_.nodes.acl_bytes()); });
    if (volume_.options.background) {
      const qos::BackgroundThrottle::PolicyContext throttle{.terms = [this] { return registry_->background_terms(); },
                                                            .requests = [this] { return ns_.requests(); }};
      background_.emplace(volume_, *adoption_, *registry_, opened_.head, throttle);
    }
    return {};
  }
  ~VolumeImpl() override {
    background_.reset();
    if (const Status flushed = flush(); !flushed) {
      log_error("volume", "the last flush failed", {{"error", describe(flushed.error())}});
    }
    volume_.metrics.drop_callbacks();  // before the objects that they read go
  }

  Namespace& ns() override { return *audited_; }
  Registry& registry() override { return *registry_; }
  StateTable& state() override { return volume_.state; }
  qos::Scheduler& scheduler() override { return scheduler_; }
  Journal& journal() override { return journal_; }
  const HandleCodec& handles() const override { return handles_; }
  EventLog& events() override { return volume_.events; }
  VolumeInfo info() const override { return record_.info; }
  std::optional<std::chrono::steady_clock::time_point> report_omitted_denials() override {
    return audited_->report_omitted();
  }
  std::vector<Transfer> take_transfers() override { return audited_->take_transfers(); }
  Status flush() override {
    STOA_CHECK_OK(flush_lazy(volume_));
    STOA_CHECK_OK(store_quiet_sums(volume_, true));
    STOA_CHECK_OK(volume_.committer.checkpoint_usage());
    return volume_.committer.wait_durable(volume_.committer.applied());
  }
  Result<CheckReport> check(const CheckOptions& options) override {
    // All blobs in use must be known.
    STOA_CHECK_OK(adoption_->run());
    return check_volume(volume_, options);
  }
  Status run_gc() override {
    STOA_CHECK_OK(sweep_orphans(volume_));
    STOA_CHECK_OK(collect_garbage(volume_));
    STOA_CHECK_OK(forget_gone_directories(volume_, *registry_));
    tell_damage(volume_);
    return report_soft_limits(volume_);
  }
  Status run_purge(Timestamp now) override {
    const Status purged = age_bins(volume_, now);
    volume_.state.send_recalls();
    return purged;
  }
  Result<bool> run_owner_count(std::size_t files_max) override {
    STOA_TRY(looked_at, count_more_owners(volume_, files_max));
    return !looked_at;
  }
  Status run_scrub() override {
    STOA_CHECK_OK(record_sums_of_quiet_files(volume_, 0));
    return scrub_all(volume_);
  }
  std::vector<Problem> health() override {
    std::vector<Problem> found = health_.look();
    if (const KeptBlobs kept = kept_blobs(volume_.blobs); kept.blobs != 0) {
      found.push_back({.kind = ProblemKind::kKeptContent, .blobs = kept.blobs, .bytes = kept.bytes});
    }
    return found;
  }
  std::vector<DamagedRange> damage() const override { return damaged_ranges(volume_); }

 private:
  const VolumeRecord record_;
  const std::uint64_t next_journal_;  // at the start
  OpenedTree opened_;
  VolumeContext& volume_ = opened_.volume;  // looking for the path of a damaged file fills its caches
  Health health_{volume_};
  Journal journal_;
  NamespaceImpl ns_;
  const HandleCodec handles_;
  qos::Scheduler& scheduler_ = opened_.head.scheduler;
  std::unique_ptr<StoredRegistry> registry_;
  std::unique_ptr<AuditedNamespace> audited_;
  std::optional<Adoption> adoption_;
  std::optional<Background> background_;
};

Result<std::uint64_t> next_journal_sequence(KvStore& kv) {
  // The engine drops the oldest records, never the newest: walk down from the top by halving the distance.
  std::uint64_t next = 1;
  for (int bit = 62; bit >= 0; --bit) {
    const std::uint64_t probe = next + (std::uint64_t{1} << bit);
    const auto it = kv.scan(Family::kJournal, keys::be64(probe - 1), {});
    STOA_CHECK_OK(it->status());
    if (it->valid()) next = probe;
  }
  return next;
}

}  // namespace

std::string_view to_string(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::kMetadataFailed:
      return "metadata_failed";
    case ProblemKind::kMetadataStalled:
      return "metadata_stalled";
    case ProblemKind::kMetadataFull:
      return "metadata_full";
    case ProblemKind::kBlobDirectory:
      return "blob_directory";
    case ProblemKind::kDamage:
      return "damage";
    case ProblemKind::kKeptContent:
      return "kept_content";
  }
  return "";
}

Status Volume::format(KvStore& kv, const std::string& name, const TimeSource& time) {
  std::string present;
  STOA_TRY(exists, kv.get(Family::kConfig, keys::kVolumeConfig, &present));
  if (exists) return fail(Cause::kVolumeExists);
  WriteBatch batch;
  const Timestamp now = time.wall();
  const VolumeRecord record{{random64(), name, now}, {random64(), random64()}};
  batch.put(Family::kConfig, keys::kVolumeConfig, record.encode());
  batch.put(Family::kConfig, keys::kIdConfig, keys::be64(static_cast<std::uint64_t>(kFirstFreeId)));
  for (const FileId id : {kRootId, kMultipartId}) {
    Inode root;
    root.id = id;
    root.generation = 1;
    root.type = FileType::kDirectory;
    root.mode = id == kRootId ? 0755 : 0700;
    root.links = 2;
    root.atime = root.mtime = root.ctime = root.btime = now;
    batch.put(Family::kInode, keys::id_key(id), root.encode());
  }
  const WriteBatch* const batches[] = {&batch};
  STOA_CHECK_OK(kv.apply(batches));
  return kv.sync();
}

Result<std::unique_ptr<Volume>> Volume::open(KvStore& kv, BlobStore& blobs, MetricRegistry& metrics,
                                             const VolumeOptions& options) {
  std::string value;
  STOA_TRY(exists, kv.get(Family::kConfig, keys::kVolumeConfig, &value));
  if (!exists) return fail(Cause::kVolumeMissing);
  STOA_TRY(record, VolumeRecord::decode(value));
  STOA_TRY(has_ids, kv.get(Family::kConfig, keys::kIdConfig, &value));
  if (!has_ids || value.size() != 8) return fail(Errc::kCorrupt, "the id counter is missing");
  const FileId next_id{keys::read_be64(value)};
  STOA_TRY(next_journal, next_journal_sequence(kv));
  auto volume = std::make_unique<VolumeImpl>(kv, blobs, metrics, options, std::move(record), next_journal, next_id);
  STOA_CHECK_OK(volume->start());
  return volume;
}

}  // namespace stoa::core
