#include "core/audit/audited_namespace.h"

#include <functional>
#include <ranges>

#include "core/audit/recent_reads.h"

namespace stoa::core {
namespace {

using enum ChangeKind;

// Whether a request is for audit. Those are not that move bytes without a name yet, or that only administrators make.
template <class Request>
constexpr bool kForAudit = true;
template <>
constexpr bool kForAudit<UploadBeginRequest> = false;
template <>
constexpr bool kForAudit<UploadWriteRequest> = false;
template <>
constexpr bool kForAudit<UploadDiscardRequest> = false;
template <>
constexpr bool kForAudit<UsageRequest> = false;
template <>
constexpr bool kForAudit<ListOwnerQuotasRequest> = false;
template <>
constexpr bool kForAudit<ListQuotasRequest> = false;
template <>
constexpr bool kForAudit<ResolvePathRequest> = false;
template <>
constexpr bool kForAudit<PathOfRequest> = false;
template <>
constexpr bool kForAudit<AncestorsRequest> = false;
template <>
constexpr bool kForAudit<SealedRequest> = false;

// The subject of a request, for the record of its denial (or of its read or listing).
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
// For an existing file.
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
JournalNote note_of(const SetSealedRequest& r) {
  return {.kind = kAttributes, .id = r.dir};
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
// Without the bin items in the request: each is a denial of its own.
JournalNote note_of(const RestoreRequest&) {
  return {.kind = kRestore};
}
JournalNote note_of(const PurgeRequest& r) {
  return {.kind = kPurge, .id = r.dir};
}

template <class Request>
std::span<const RecycleItemId> items_of(const Request&) {
  return {};
}
template <>
std::span<const RecycleItemId> items_of(const RestoreRequest& r) {
  return {&r.item, 1};
}
template <>
std::span<const RecycleItemId> items_of(const PurgeRequest& r) {
  return r.items;
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
  AuditedNamespaceImpl(Namespace& inner, const Registry& registry, Journal& journal, const TimeSource& time)
      : inner_(inner), registry_(registry), journal_(journal), time_(time) {}

#define STOA_OPERATION(kind, name, reply, request, routing) \
  Result<reply> name(const OpContext& ctx, const request& req) override { return seen(&Namespace::name, ctx, req); }
#include "core/api/operations.def"

  void refused(const OpContext& ctx, const AuthFailure& failure) override;

  // Nothing to audit.
  Status find_qos_classes(const OpContext& ctx, FileId file, const QosTable& table,
                          std::vector<qos::QosClass*>& found) override {
    return inner_.find_qos_classes(ctx, file, table, found);
  }
  Status sync(const OpContext& ctx, const PendingDurability& pending) override { return inner_.sync(ctx, pending); }
  std::uint64_t boot_verifier() const override { return inner_.boot_verifier(); }
  std::uint64_t volume_id() const override { return inner_.volume_id(); }

  std::optional<DenialLimit::Time> report_omitted() override;
  std::vector<Transfer> take_transfers() override { return transfers_.take(); }

 private:
  template <class Reply, class Request>
  Reply seen(Reply (Namespace::*operation)(const OpContext&, const Request&), const OpContext& ctx, const Request& req);
  template <class Reply, class Request>
  void look_at(const OpContext& ctx, const Request& req, const Reply& reply);
  void denied(const OpContext& ctx, const JournalNote& note, Errc why);
  void denied_items(const OpContext& ctx, const JournalNote& about, std::span<const RecycleItemId> items, Errc why);
  void observed(const OpContext& ctx, const JournalNote& note, AuditClass as);
  bool wanted(const AuditTable& table, const OpContext& ctx, const JournalNote& note, AuditClass as);

  Namespace& inner_;
  const Registry& registry_;
  Journal& journal_;
  const TimeSource& time_;
  DenialLimit denials_;
  RecentReads recent_;
  TransferTally transfers_;
};

template <class Reply, class Request>
Reply AuditedNamespaceImpl::seen(Reply (Namespace::*operation)(const OpContext&, const Request&), const OpContext& ctx,
                                 const Request& req) {
  Reply reply = (inner_.*operation)(ctx, req);
  if constexpr (kForAudit<Request>) {
    if (registry_.audited()) [[unlikely]]
      look_at(ctx, req, reply);
  }
  return reply;
}

template <class Reply, class Request>
void AuditedNamespaceImpl::look_at(const OpContext& ctx, const Request& req, const Reply& reply) {
  if (!reply) {
    JournalNote note = note_of(req);
    if constexpr (std::is_same_v<Request, OpenRequest>) {
      if (reply.error().subject != 0) note = note_of_opened(req, FileId{reply.error().subject});
    }
    if (is_denial(reply.error().code)) denied_items(ctx, note, items_of(req), reply.error().code);
    return;
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
  const auto verdict = denials_.admit(ctx.client, ctx.protocol, time_.steady());
  // The reader of the journal fetches the number when the second is over; a flood wakes it once.
  if (verdict == DenialLimit::Verdict::kFirstCount) journal_.call();
  if (verdict != DenialLimit::Verdict::kRecord) return;
  JournalNote record = note;
  record.result = why;
  // The denial was answered already; a store that failed affects all requests, and is reported elsewhere.
  (void)journal_.append(record, ctx);
}

// Bin items with their old paths, as many as may be recorded at once.
void AuditedNamespaceImpl::denied_items(const OpContext& ctx, const JournalNote& about,
                                        std::span<const RecycleItemId> items, Errc why) {
  if (items.empty()) return denied(ctx, about, why);
  for (const RecycleItemId& item : items | std::views::take(DenialLimit::kPerSecond)) {
    const auto found = inner_.list_recycled({}, {.dir = kRootId, .item = item});
    if (!found || found->items.empty()) continue;
    const RecycledItem& what = found->items.front();
    JournalNote note{.kind = about.kind, .id = what.id, .type = what.type};
    if (!what.path.empty()) note.parent = kRootId, note.name = std::string_view(what.path).substr(1);
    denied(ctx, note, why);
  }
}

void AuditedNamespaceImpl::refused(const OpContext& ctx, const AuthFailure& failure) {
  if (!registry_.audited()) return;
  constexpr std::size_t kBytesMax = 1024;  // a client must not fill the journal with its claims
  std::string what(failure.request.substr(0, kBytesMax));
  what.append(": ").append(failure.reason);
  denied(ctx,
         {.kind = kRefused, .id = failure.directory, .name = what, .to_name = failure.claimed.substr(0, kBytesMax)},
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
  if (!recent_.first(key, time_.steady())) return;
  if (wanted(*table, ctx, note, as)) (void)journal_.append(note, ctx);
}

std::optional<DenialLimit::Time> AuditedNamespaceImpl::report_omitted() {
  for (const DenialLimit::Omitted& omitted : denials_.take(time_.steady())) {
    const OpContext ctx{.protocol = omitted.protocol, .client = omitted.client};
    (void)journal_.append({.kind = kOmitted, .id = kRootId, .count = omitted.count}, ctx);
  }
  return denials_.due();
}

}  // namespace

std::unique_ptr<AuditedNamespace> audit(Namespace& inner, const Registry& registry, Journal& journal,
                                        const TimeSource& time) {
  return std::make_unique<AuditedNamespaceImpl>(inner, registry, journal, time);
}

}  // namespace stoa::core
