#include "core/audit/audited_namespace.h"

#include <functional>
#include <ranges>

#include "core/audit/recent_reads.h"

namespace stoa::core {
namespace {

using enum ChangeKind;

// What a request is about, for the record of its denial (and for what reads and lists).
JournalNote note_of(const LookupRequest& r) {
  return {.kind = kLookup, .parent = r.parent, .name = r.name};
}
JournalNote note_of(const GetattrRequest& r) {
  return {.kind = kLookup, .id = r.id};
}
JournalNote note_of(const GetAclRequest& r) {
  return {.kind = kLookup, .id = r.id};
}
JournalNote note_of(const SetattrRequest& r) {
  return {.kind = r.set.size ? kContent : kAttributes, .id = r.id};
}
JournalNote note_of(const AccessRequest& r) {
  return {.kind = kLookup, .id = r.id};
}
JournalNote note_of(const ReadlinkRequest& r) {
  return {.kind = kRead, .id = r.id};
}
JournalNote note_of(const StatfsRequest& r) {
  return {.kind = kLookup, .id = r.id};
}
// Of a file that was there.
JournalNote note_of_opened(const OpenRequest& r, FileId id) {
  const bool writes = r.disposition == OpenDisposition::kOverwrite ||
                      r.disposition == OpenDisposition::kOverwriteOrCreate || (r.access & ~kShareRead) != 0;
  return {.kind = writes ? kContent : kRead, .id = id};
}
JournalNote note_of(const OpenRequest& r) {
  if (r.disposition != OpenDisposition::kOpen && r.disposition != OpenDisposition::kOverwrite) {
    return {.kind = kCreate, .parent = r.parent, .name = r.name, .type = FileType::kRegular};
  }
  JournalNote note = note_of_opened(r, r.id);
  note.parent = r.parent;
  note.name = r.name;
  return note;
}
JournalNote note_of(const CreateRequest& r) {
  return {.kind = kCreate, .parent = r.parent, .name = r.name, .type = FileType::kRegular};
}
JournalNote note_of(const MkdirRequest& r) {
  return {.kind = kCreate, .parent = r.parent, .name = r.name, .type = FileType::kDirectory};
}
JournalNote note_of(const SymlinkRequest& r) {
  return {.kind = kCreate, .parent = r.parent, .name = r.name, .type = FileType::kSymlink};
}
JournalNote note_of(const MknodRequest& r) {
  return {.kind = kCreate, .parent = r.parent, .name = r.name, .type = r.type};
}
JournalNote note_of(const LinkRequest& r) {
  return {.kind = kLink, .id = r.id, .parent = r.parent, .name = r.name};
}
JournalNote note_of(const RemoveRequest& r) {
  return {.kind = kRemove, .parent = r.parent, .name = r.name};
}
JournalNote note_of(const RenameRequest& r) {
  return {
      .kind = kRename, .parent = r.from_parent, .name = r.from_name, .to_parent = r.to_parent, .to_name = r.to_name};
}
JournalNote note_of(const ReaddirRequest& r) {
  return {.kind = kList, .id = r.dir, .type = FileType::kDirectory};
}
JournalNote note_of(const ReadRequest& r) {
  return {.kind = kRead, .id = r.id};
}
JournalNote note_of(const ReadSlicesRequest& r) {
  return {.kind = kRead, .id = r.id};
}
JournalNote note_of(const WriteRequest& r) {
  return {.kind = kContent, .id = r.id};
}
JournalNote note_of(const CommitRequest& r) {
  return {.kind = kContent, .id = r.id};
}
JournalNote note_of(const RangeRequest& r) {
  return {.kind = kContent, .id = r.id};
}
JournalNote note_of(const SeekRequest& r) {
  return {.kind = kRead, .id = r.id};
}
JournalNote note_of(const CopyRangeRequest& r) {
  return {.kind = kContent, .id = r.to};
}
JournalNote note_of(const GetXattrRequest& r) {
  return {.kind = kLookup, .id = r.id};
}
JournalNote note_of(const SetXattrRequest& r) {
  return {.kind = kXattr, .id = r.id, .name = r.name};
}
JournalNote note_of(const ListXattrsRequest& r) {
  return {.kind = kLookup, .id = r.id};
}
JournalNote note_of(const RemoveXattrRequest& r) {
  return {.kind = kXattr, .id = r.id, .name = r.name};
}
JournalNote note_of(const LookupKeyRequest& r) {
  return {.kind = kLookup, .parent = r.root, .name = r.key};
}
JournalNote note_of(const PutKeyRequest& r) {
  return {.kind = kContent, .parent = r.root, .name = r.key};
}
JournalNote note_of(const ConcatenateRequest& r) {
  return {.kind = kContent, .parent = r.root, .name = r.key};
}
JournalNote note_of(const RemoveKeyRequest& r) {
  return {.kind = kRemove, .parent = r.root, .name = r.key};
}
JournalNote note_of(const SetMetaRequest& r) {
  return {.kind = kXattr, .id = r.id};
}
JournalNote note_of(const ListKeysRequest& r) {
  return {.kind = kList, .id = r.root, .type = FileType::kDirectory};
}
JournalNote note_of(const SetQuotaRequest& r) {
  return {.kind = kQuota, .id = r.dir};
}
JournalNote note_of(const ListRecycledRequest& r) {
  return {.kind = kList, .id = r.dir, .type = FileType::kDirectory};
}
JournalNote note_of(const RecycleStatusRequest& r) {
  return {.kind = kLookup, .id = r.dir};
}
JournalNote note_of(const CountOwnersRequest& r) {
  return {.kind = kQuota, .id = r.dir};
}

bool is_denial(Errc code) {
  return code == Errc::kAccess || code == Errc::kNotOwner || code == Errc::kReadOnly || code == Errc::kQuota;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ULL;
}

// The bytes that an answered request moved.
template <class Request, class Reply>
Transfer moved(const Request&, const Reply& reply) {
  if constexpr (std::is_same_v<Request, ReadRequest> || std::is_same_v<Request, ReadSlicesRequest>)
    return {.read = reply.length};
  if constexpr (std::is_same_v<Request, WriteRequest>) return {.written = reply.length};
  if constexpr (std::is_same_v<Request, CopyRangeRequest>) return {.read = reply.length, .written = reply.length};
  if constexpr (std::is_same_v<Request, PutKeyRequest>) return {.written = reply.attr.size};
  return {};
}

class AuditedNamespaceImpl final : public AuditedNamespace {
 public:
  AuditedNamespaceImpl(Namespace& inner, const Registry& registry, Journal& journal)
      : inner_(inner), registry_(registry), journal_(journal) {}

  Result<LookupReply> lookup(const OpContext& ctx, const LookupRequest& req) override {
    return seen(&Namespace::lookup, ctx, req);
  }
  Result<GetattrReply> getattr(const OpContext& ctx, const GetattrRequest& req) override {
    return seen(&Namespace::getattr, ctx, req);
  }
  Result<GetAclReply> get_acl(const OpContext& ctx, const GetAclRequest& req) override {
    return seen(&Namespace::get_acl, ctx, req);
  }
  Result<SetattrReply> setattr(const OpContext& ctx, const SetattrRequest& req) override {
    return seen(&Namespace::setattr, ctx, req);
  }
  Result<AccessReply> access(const OpContext& ctx, const AccessRequest& req) override {
    return seen(&Namespace::access, ctx, req);
  }
  Result<ReadlinkReply> readlink(const OpContext& ctx, const ReadlinkRequest& req) override {
    return seen(&Namespace::readlink, ctx, req);
  }
  Result<StatfsReply> statfs(const OpContext& ctx, const StatfsRequest& req) override {
    return seen(&Namespace::statfs, ctx, req);
  }
  Result<OpenReply> open(const OpContext& ctx, const OpenRequest& req) override {
    return seen(&Namespace::open, ctx, req);
  }
  Result<CreateReply> create(const OpContext& ctx, const CreateRequest& req) override {
    return seen(&Namespace::create, ctx, req);
  }
  Result<CreateReply> mkdir(const OpContext& ctx, const MkdirRequest& req) override {
    return seen(&Namespace::mkdir, ctx, req);
  }
  Result<CreateReply> symlink(const OpContext& ctx, const SymlinkRequest& req) override {
    return seen(&Namespace::symlink, ctx, req);
  }
  Result<CreateReply> mknod(const OpContext& ctx, const MknodRequest& req) override {
    return seen(&Namespace::mknod, ctx, req);
  }
  Result<CreateReply> link(const OpContext& ctx, const LinkRequest& req) override {
    return seen(&Namespace::link, ctx, req);
  }
  Result<RemoveReply> unlink(const OpContext& ctx, const RemoveRequest& req) override {
    return seen(&Namespace::unlink, ctx, req);
  }
  Result<RemoveReply> rmdir(const OpContext& ctx, const RemoveRequest& req) override {
    return seen(&Namespace::rmdir, ctx, req);
  }
  Result<RenameReply> rename(const OpContext& ctx, const RenameRequest& req) override {
    return seen(&Namespace::rename, ctx, req);
  }
  Result<ReaddirReply> readdir(const OpContext& ctx, const ReaddirRequest& req) override {
    return seen(&Namespace::readdir, ctx, req);
  }
  Result<ReadReply> read(const OpContext& ctx, const ReadRequest& req) override {
    return seen(&Namespace::read, ctx, req);
  }
  Result<ReadSlicesReply> read_slices(const OpContext& ctx, const ReadSlicesRequest& req) override {
    return seen(&Namespace::read_slices, ctx, req);
  }
  Result<WriteReply> write(const OpContext& ctx, const WriteRequest& req) override {
    return seen(&Namespace::write, ctx, req);
  }
  Result<CommitReply> commit(const OpContext& ctx, const CommitRequest& req) override {
    return seen(&Namespace::commit, ctx, req);
  }
  Result<RangeReply> allocate(const OpContext& ctx, const RangeRequest& req) override {
    return seen(&Namespace::allocate, ctx, req);
  }
  Result<RangeReply> punch(const OpContext& ctx, const RangeRequest& req) override {
    return seen(&Namespace::punch, ctx, req);
  }
  Result<SeekReply> seek(const OpContext& ctx, const SeekRequest& req) override {
    return seen(&Namespace::seek, ctx, req);
  }
  Result<CopyRangeReply> copy_range(const OpContext& ctx, const CopyRangeRequest& req) override {
    return seen(&Namespace::copy_range, ctx, req);
  }
  Result<GetXattrReply> get_xattr(const OpContext& ctx, const GetXattrRequest& req) override {
    return seen(&Namespace::get_xattr, ctx, req);
  }
  Result<XattrChangeReply> set_xattr(const OpContext& ctx, const SetXattrRequest& req) override {
    return seen(&Namespace::set_xattr, ctx, req);
  }
  Result<ListXattrsReply> list_xattrs(const OpContext& ctx, const ListXattrsRequest& req) override {
    return seen(&Namespace::list_xattrs, ctx, req);
  }
  Result<XattrChangeReply> remove_xattr(const OpContext& ctx, const RemoveXattrRequest& req) override {
    return seen(&Namespace::remove_xattr, ctx, req);
  }
  Result<LookupKeyReply> lookup_key(const OpContext& ctx, const LookupKeyRequest& req) override {
    return seen(&Namespace::lookup_key, ctx, req);
  }
  Result<PutKeyReply> put_key(const OpContext& ctx, const PutKeyRequest& req) override {
    return seen(&Namespace::put_key, ctx, req);
  }
  Result<PutKeyReply> concatenate(const OpContext& ctx, const ConcatenateRequest& req) override {
    return seen(&Namespace::concatenate, ctx, req);
  }
  Result<RemoveKeyReply> remove_key(const OpContext& ctx, const RemoveKeyRequest& req) override {
    return seen(&Namespace::remove_key, ctx, req);
  }
  Status set_meta(const OpContext& ctx, const SetMetaRequest& req) override {
    return seen(&Namespace::set_meta, ctx, req);
  }
  Result<ListKeysReply> list_keys(const OpContext& ctx, const ListKeysRequest& req) override {
    return seen(&Namespace::list_keys, ctx, req);
  }
  Status remove_tree(const OpContext& ctx, const RemoveRequest& req) override {
    return seen(&Namespace::remove_tree, ctx, req);
  }
  Status set_quota(const OpContext& ctx, const SetQuotaRequest& req) override {
    return seen(&Namespace::set_quota, ctx, req);
  }
  Status count_owners(const OpContext& ctx, const CountOwnersRequest& req) override {
    return seen(&Namespace::count_owners, ctx, req);
  }
  Result<ListRecycledReply> list_recycled(const OpContext& ctx, const ListRecycledRequest& req) override {
    return seen(&Namespace::list_recycled, ctx, req);
  }
  Result<RecycleStatusReply> recycle_status(const OpContext& ctx, const RecycleStatusRequest& req) override {
    return seen(&Namespace::recycle_status, ctx, req);
  }
  Result<RestoreReply> restore(const OpContext& ctx, const RestoreRequest& req) override {
    auto reply = inner_.restore(ctx, req);
    if (!reply) denied_items(ctx, kRestore, kNoFile, std::span(&req.item, 1), reply.error().code);
    return reply;
  }
  Result<PurgeReply> purge(const OpContext& ctx, const PurgeRequest& req) override {
    auto reply = inner_.purge(ctx, req);
    if (!reply) denied_items(ctx, kPurge, req.dir, req.items, reply.error().code);
    return reply;
  }
  void refused(const OpContext& ctx, const Refusal& refusal) override;

  // Nothing here is for audit.
  Result<UploadId> upload_begin(const OpContext& ctx, const UploadBeginRequest& req) override {
    return inner_.upload_begin(ctx, req);
  }
  Status upload_write(const OpContext& ctx, const UploadWriteRequest& req) override {
    return inner_.upload_write(ctx, req);
  }
  void upload_discard(UploadId upload) override { inner_.upload_discard(upload); }
  Result<UsageReply> usage(const OpContext& ctx, const UsageRequest& req) override { return inner_.usage(ctx, req); }
  Result<ListOwnerQuotasReply> list_owner_quotas(const OpContext& ctx, const ListOwnerQuotasRequest& req) override {
    return inner_.list_owner_quotas(ctx, req);
  }
  Result<ListQuotasReply> list_quotas(const OpContext& ctx, const ListQuotasRequest& req) override {
    return inner_.list_quotas(ctx, req);
  }
  Result<ResolvePathReply> resolve_path(const OpContext& ctx, const ResolvePathRequest& req) override {
    return inner_.resolve_path(ctx, req);
  }
  Result<PathOfReply> path_of(const OpContext& ctx, const PathOfRequest& req) override {
    return inner_.path_of(ctx, req);
  }
  Result<AncestorsReply> ancestors(const OpContext& ctx, const AncestorsRequest& req) override {
    return inner_.ancestors(ctx, req);
  }
  Status find_flows(const OpContext& ctx, const FindFlowsRequest& req) override { return inner_.find_flows(ctx, req); }
  Status settle(const OpContext& ctx, const PendingDurability& pending) override { return inner_.settle(ctx, pending); }
  std::uint64_t boot_verifier() const override { return inner_.boot_verifier(); }
  std::uint64_t volume_id() const override { return inner_.volume_id(); }

  std::optional<DenialLimit::Time> report_omitted() override;
  std::vector<Transfer> take_transfers() override { return transfers_.take(); }

 private:
  template <class Reply, class Request>
  Reply seen(Reply (Namespace::*operation)(const OpContext&, const Request&), const OpContext& ctx, const Request& req);
  void denied(const OpContext& ctx, const JournalNote& note, Errc why);
  void denied_items(const OpContext& ctx, ChangeKind kind, FileId dir, std::span<const RecycleItemId> items, Errc why);
  void observed(const OpContext& ctx, const JournalNote& note, AuditClass as);
  bool wanted(const AuditTable& table, const OpContext& ctx, const JournalNote& note, AuditClass as);

  Namespace& inner_;
  const Registry& registry_;
  Journal& journal_;
  DenialLimit denials_;
  RecentReads recent_;
  TransferTally transfers_;
};

template <class Reply, class Request>
Reply AuditedNamespaceImpl::seen(Reply (Namespace::*operation)(const OpContext&, const Request&), const OpContext& ctx,
                                 const Request& req) {
  Reply reply = (inner_.*operation)(ctx, req);
  if (!registry_.audited()) [[likely]]
    return reply;
  if (!reply) {
    JournalNote note = note_of(req);
    if constexpr (std::is_same_v<Request, OpenRequest>) {
      if (reply.error().subject != 0) note = note_of_opened(req, FileId{reply.error().subject});
    }
    if (is_denial(reply.error().code)) denied(ctx, note, reply.error().code);
    return reply;
  }
  if constexpr (std::is_same_v<Request, ReadRequest> || std::is_same_v<Request, ReadSlicesRequest>) {
    observed(ctx, note_of(req), AuditClass::kRead);
  } else if constexpr (std::is_same_v<Request, ReaddirRequest> || std::is_same_v<Request, ListKeysRequest>) {
    observed(ctx, note_of(req), AuditClass::kList);
  }
  if constexpr (!std::is_same_v<Reply, Status>) {
    Transfer transfer = moved(req, *reply);
    if (transfer != Transfer{} && ctx.protocol != Protocol::kInternal) {
      transfer.uid = ctx.cred.uid;
      transfers_.add(transfer);
    }
  }
  return reply;
}

bool AuditedNamespaceImpl::wanted(const AuditTable& table, const OpContext& ctx, const JournalNote& note,
                                  AuditClass as) {
  const auto at = [&](FileId id, std::string_view key) {
    const auto above = inner_.ancestors(ctx, {.id = id, .key = key});
    return above && table.wants(above->directories, as);
  };
  if (note.parent == kNoFile) return at(note.id, {});
  // Keys have directories in them; names have none.
  const bool key = note.name.contains('/');
  if (at(note.parent, key ? note.name : std::string_view{})) return true;
  return note.to_parent != kNoFile && at(note.to_parent, {});
}

void AuditedNamespaceImpl::denied(const OpContext& ctx, const JournalNote& note, Errc why) {
  const auto registry = registry_.snapshot();
  const AuditTable* const table = registry->audit();
  if (table == nullptr || !table->any(AuditClass::kDenied) || !wanted(*table, ctx, note, AuditClass::kDenied)) return;
  const auto verdict = denials_.admit(ctx.client, ctx.protocol, std::chrono::steady_clock::now());
  // Who reads the journal asks for the number when the second is over; a flood wakes him once.
  if (verdict == DenialLimit::Verdict::kFirstCount) journal_.call();
  if (verdict != DenialLimit::Verdict::kRecord) return;
  JournalNote record = note;
  record.result = why;
  // The request was answered with the denial already; a store that failed is everybody's trouble, and said elsewhere.
  (void)journal_.append(record, ctx);
}

// With the path that each had; only as many as may be recorded at once.
void AuditedNamespaceImpl::denied_items(const OpContext& ctx, ChangeKind kind, FileId dir,
                                        std::span<const RecycleItemId> items, Errc why) {
  if (!registry_.audited() || !is_denial(why)) return;
  if (items.empty()) return denied(ctx, {.kind = kind, .id = dir}, why);
  for (const RecycleItemId& item : items | std::views::take(DenialLimit::kPerSecond)) {
    const auto found = inner_.list_recycled({}, {.dir = kRootId, .item = item});
    if (!found || found->items.empty()) continue;
    const RecycledItem& what = found->items.front();
    JournalNote note{.kind = kind, .id = what.id, .type = what.type};
    if (!what.path.empty()) note.parent = kRootId, note.name = std::string_view(what.path).substr(1);
    denied(ctx, note, why);
  }
}

void AuditedNamespaceImpl::refused(const OpContext& ctx, const Refusal& refusal) {
  if (!registry_.audited()) return;
  constexpr std::size_t kBytesMax = 1024;  // a client must not fill the journal with what it claims
  std::string what(refusal.request.substr(0, kBytesMax));
  what.append(": ").append(refusal.reason);
  denied(ctx,
         {.kind = kRefused, .id = refusal.directory, .name = what, .to_name = refusal.claimed.substr(0, kBytesMax)},
         Errc::kAccess);
}

void AuditedNamespaceImpl::observed(const OpContext& ctx, const JournalNote& note, AuditClass as) {
  if (ctx.protocol == Protocol::kInternal) return;
  const auto registry = registry_.snapshot();
  const AuditTable* const table = registry->audit();
  if (table == nullptr || !table->any(as)) return;
  // A changed policy is another table, and asks again.
  std::uint64_t key = mix(reinterpret_cast<std::uintptr_t>(table), static_cast<std::uint64_t>(note.id));
  key = mix(mix(key, ctx.cred.uid), std::hash<std::string>{}(ctx.client) + static_cast<std::uint64_t>(as));
  if (!recent_.first(key, std::chrono::steady_clock::now())) return;
  if (wanted(*table, ctx, note, as)) (void)journal_.append(note, ctx);
}

std::optional<DenialLimit::Time> AuditedNamespaceImpl::report_omitted() {
  for (const DenialLimit::Omitted& omitted : denials_.take(std::chrono::steady_clock::now())) {
    const OpContext ctx{.protocol = omitted.protocol, .client = omitted.client};
    (void)journal_.append({.kind = kOmitted, .id = kRootId, .count = omitted.count}, ctx);
  }
  return denials_.due();
}

}  // namespace

std::unique_ptr<AuditedNamespace> audit(Namespace& inner, const Registry& registry, Journal& journal) {
  return std::make_unique<AuditedNamespaceImpl>(inner, registry, journal);
}

}  // namespace stoa::core
