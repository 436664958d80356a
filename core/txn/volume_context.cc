#include "core/txn/volume_context.h"

#include <algorithm>
#include <random>

#include "base/assert.h"
#include "core/inode/name_fold.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {
constexpr std::uint64_t kIdsReservedAtOnce = 65536;
constexpr std::uint32_t kLinksOfLeafDirectory = 2;  // its name and its ".": no subdirectory's ".."

std::uint64_t random_verifier() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

StateOptions state_options(const VolumeOptions& options) {
  return {.lease_recall_timeout = std::chrono::milliseconds(options.lease_recall_timeout_ms),
          .grace = std::chrono::milliseconds(options.grace_ms),
          .now = [time = options.time] { return time->steady(); }};
}
}  // namespace

VolumeContext::VolumeContext(KvStore& kv_store, BlobStore& blob_store, MetricRegistry& registry,
                             const VolumeOptions& volume_options, std::uint64_t next_journal, FileId next_id,
                             EventLog& event_log, DataState& data_state, FileWatch& file_watch)
    : blobs(blob_store),
      metrics(registry),
      options(volume_options),
      write_verifier(random_verifier()),
      events(event_log),
      ledger(registry, &time, &kv_store),
      committer(kv_store, registry, next_journal, time),
      kv(kv_store, committer),
      nodes(kv, volume_options.cached_inodes_max),
      entries(volume_options.cached_inodes_max),
      data(&data_state),
      watch(&file_watch),
      state(state_options(volume_options), *watch, kv, committer, registry),
      next_id_(static_cast<std::uint64_t>(next_id)),
      id_limit_(static_cast<std::uint64_t>(next_id)) {}

Result<FileId> VolumeContext::next_id() {
  const std::lock_guard lock(id_mutex_);
  if (next_id_ == id_limit_) {
    // The reservation precedes, in the log, every record that uses an id from it.
    WriteBatch batch;
    batch.put(Family::kConfig, keys::kIdConfig, keys::be64(id_limit_ + kIdsReservedAtOnce));
    STOA_CHECK_OK(committer.commit({.batch = std::move(batch)}));
    id_limit_ += kIdsReservedAtOnce;
  }
  STOA_ASSERT(next_id_ < id_limit_, "ids are given from what is reserved in the store");
  return FileId{next_id_++};
}

Result<NodeLocks> NodeLocks::take(const OpContext& ctx, std::initializer_list<NodeRef> nodes) {
  std::array<const NodeRef*, kMax> wanted{};
  std::size_t count = 0;
  for (const NodeRef& node : nodes) {
    const auto same = [&](const NodeRef* other) { return *other == node; };
    if (node == nullptr || std::ranges::any_of(std::span(wanted).first(count), same)) continue;
    STOA_ASSERT(count < kMax, "an operation locks a few nodes");
    wanted[count++] = &node;
  }
  std::ranges::sort(std::span(wanted).first(count), {}, [](const NodeRef* node) { return (*node)->id; });
  Result<NodeLocks> taken{NodeLocks()};
  for (std::size_t i = 0; i < count; ++i) {
    STOA_ASSERT(i == 0 || (*wanted[i - 1])->id < (*wanted[i])->id, "a file has one node, and nodes are locked by id");
    if (!(*wanted[i])->lock.lock_by(ctx.deadline)) return fail(Cause::kFileNotFree);
    taken->nodes_[taken->count_++] = *wanted[i];
  }
  return taken;
}

void NodeLocks::release() {
  while (count_ > 0) {
    --count_;
    STOA_ASSERT(nodes_[count_] != nullptr, "what was locked is unlocked once");
    nodes_[count_]->lock.unlock();
    nodes_[count_].reset();
  }
}

Result<EntryRecord> find_form(const VolumeView& volume, const Node& dir, std::string_view raw, bool directory) {
  if (directory && dir.record.is_directory() && dir.record.links <= kLinksOfLeafDirectory) return EntryRecord{};
  std::string key = keys::id_name(dir.id, raw);
  if (directory) key += '/';
  if (const auto cached = volume.entries.find(key)) return *cached;
  std::string value;
  STOA_TRY(found, volume.kv.get(Family::kEntry, key, &value));
  EntryRecord record;
  if (found) {
    STOA_TRY(decoded, EntryRecord::decode(value));
    record = decoded;
  }
  volume.entries.set(key, record);
  return record;
}

namespace {

// The directory has the plain name; a file beside it has the alias.
Result<FoundEntry> find_plain(const VolumeView& volume, const Node& dir, std::string raw) {
  STOA_TRY(as_directory, find_form(volume, dir, raw, true));
  if (as_directory.exists()) return FoundEntry{std::move(raw), as_directory};
  STOA_TRY(as_file, find_form(volume, dir, raw, false));
  return FoundEntry{std::move(raw), as_file};
}

// The one component with this prefix and hash; siblings that share 160 bytes are few, so the scan is short.
Result<FoundEntry> find_long(const VolumeView& volume, FileId dir, const PosixName& name) {
  const std::string lower = keys::id_name(dir, *name.long_prefix);
  const auto it = volume.kv.scan(Family::kEntry, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) {
    std::string_view raw = keys::after_id(it->key());
    STOA_TRY(record, EntryRecord::decode(it->value()));
    if (record.type == FileType::kDirectory) raw.remove_suffix(1);
    if (!matches_long_alias(raw, record.hidden_by_directory(), name)) continue;
    return FoundEntry{std::string(raw), record};
  }
  STOA_CHECK_OK(it->status());
  // A component cannot be created by its LONG alias: the rest of its name is unknown.
  return fail(Errc::kNotFound);
}

}  // namespace

Result<FoundEntry> find_posix(const VolumeView& volume, const Node& dir, std::string_view name) {
  STOA_TRY(parsed, parse_posix_name(name));
  if (parsed.long_prefix) return find_long(volume, dir.id, parsed);
  if (parsed.file_beside_directory) {
    STOA_TRY(record, find_form(volume, dir, parsed.raw, false));
    if (!record.hidden_by_directory()) return fail(Errc::kNotFound);
    return FoundEntry{std::move(parsed.raw), record};
  }
  return find_plain(volume, dir, std::move(parsed.raw));
}

Result<FoundEntry> find_ignoring_case(const VolumeView& volume, const Node& dir, std::string_view name) {
  STOA_TRY(exact, find_posix(volume, dir, name));
  // An alias is generated, and is compared with case.
  if (exact.record.exists() || exact.raw != name) return std::move(exact);
  const std::string folded = fold_name(name);
  if (folded != name) {
    STOA_TRY(found, find_plain(volume, dir, folded));
    if (found.record.exists()) return std::move(found);
  }
  const std::string lower = keys::folds_of(dir.id, folded);
  const auto it = volume.kv.scan(Family::kFold, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) {
    std::string_view raw = it->key().substr(lower.size());
    if (raw.ends_with('/')) raw.remove_suffix(1);
    if (fold_name(raw) != folded) continue;
    STOA_TRY(found, find_plain(volume, dir, std::string(raw)));
    if (found.record.exists()) return std::move(found);
  }
  STOA_CHECK_OK(it->status());
  return std::move(exact);
}

Result<NodeRef> node_of(const VolumeView& volume, const OpContext& ctx, const NodeRef& dir, std::string_view raw,
                        const EntryRecord& record) {
  auto node = volume.nodes.get(record.id);
  if (node || node.error().code != Errc::kStale) return node;
  // A file and its last name go together, under the lock of the directory.
  STOA_TRY(lock, share_by(dir->lock, ctx.deadline));
  if (dir->deleted) return fail(Errc::kStale);
  STOA_TRY(now, find_form(volume, *dir, raw, record.type == FileType::kDirectory));
  if (now.id != record.id) return fail(Errc::kStale);
  node = volume.nodes.get(record.id);
  if (node || node.error().code != Errc::kStale) return node;
  return fail(Cause::kNameDangling);
}

Status require_live(const Node& node) {
  if (node.deleted) return fail(Errc::kStale);
  return {};
}

Status require_directory(const Node& node) {
  STOA_CHECK_OK(require_live(node));
  if (!node.record.is_directory()) return fail(Errc::kNotDirectory);
  return {};
}

Status sync_or_defer(VolumeContext& volume, const OpContext& ctx, CommitTicket ticket) {
  if (ctx.durability == Durability::kApplied) return {};
  if (ctx.defers) {
    ctx.pending.add(volume.shard, ticket);
    return {};
  }
  return volume.committer.wait_durable(ticket, ctx.durable_by);
}

}  // namespace stoa::core
