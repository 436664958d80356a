#include "core/audit/audited_namespace.h"

#include <functional>

namespace stoa::core {
namespace {

using enum ChangeKind;

// What a request is about, for the record of its denial (and for what reads and lists).
JournalNote note_of(const LookupRequest& r) { return {.kind = kLookup, .parent = r.parent, .name = r.name}; }
JournalNote note_of(const GetattrRequest& r) { return {.kind = kLookup, .id = r.id}; }
JournalNote note_of(const GetAclRequest& r) { return {.kind = kLookup, .id = r.id}; }
JournalNote note_of(const SetattrRequest& r) { return {.kind = r.set.size ? kContent : kAttributes, .id = r.id}; }
JournalNote note_of(const AccessRequest& r) { return {.kind = kLookup, .id = r.id}; }
JournalNote note_of(const ReadlinkRequest& r) { return {.kind = kRead, .id = r.id}; }
JournalNote note_of(const StatfsRequest& r) { return {.kind = kLookup, .id = r.id}; }
JournalNote note_of(const OpenRequest& r) {
  const bool writes = r.disposition != OpenDisposition::kOpen || (r.access & kAccessRead) == 0;
  return {.kind = writes ? kContent : kRead, .parent = r.parent, .name = r.name};
}
JournalNote note_of(const CreateRequest& r) { return {.kind = kCreate, .parent = r.parent, .name = r.name, .type = FileType::kRegular}; }
JournalNote note_of(const MkdirRequest& r) { return {.kind = kCreate, .parent = r.parent, .name = r.name, .type = FileType::kDirectory}; }
JournalNote note_of(const SymlinkRequest& r) { return {.kind = kCreate, .parent = r.parent, .name = r.name, .type = FileType::kSymlink}; }
JournalNote note_of(const MknodRequest& r) { return {.kind = kCreate, .parent = r.parent, .name = r.name, .type = r.type}; }
JournalNote note_of(const LinkRequest& r) { return {.kind = kLink, .id = r.id, .parent = r.parent, .name = r.name}; }
JournalNote note_of(const RemoveRequest& r) { return {.kind = kRemove, .parent = r.parent, .name = r.name}; }
JournalNote note_of(const RenameRequest& r) {
  return {.kind = kRename, .parent = r.from_parent, .name = r.from_name, .to_parent = r.to_parent, .to_name = r.to_name};
}
JournalNote note_of(const ReaddirRequest& r) { return {.kind = kList, .id = r.dir, .type = FileType::kDirectory}; }
JournalNote note_of(const ReadRequest& r) { return {.kind = kRead, .id = r.id}; }
JournalNote note_of(const ReadSlicesRequest& r) { return {.kind = kRead, .id = r.id}; }
JournalNote note_of(const WriteRequest& r) { return {.kind = kContent, .id = r.id}; }
JournalNote note_of(const CommitRequest& r) { return {.kind = kContent, .id = r.id}; }
JournalNote note_of(const RangeRequest& r) { return {.kind = kContent, .id = r.id}; }
JournalNote note_of(const SeekRequest& r) { return {.kind = kRead, .id = r.id}; }
JournalNote note_of(const CopyRangeRequest& r) { return {.kind = kContent, .id = r.to}; }
JournalNote note_of(const GetXattrRequest& r) { return {.kind = kLookup, .id = r.id}; }
JournalNote note_of(const SetXattrRequest& r) { return {.kind = kXattr, .id = r.id, .name = r.name}; }
JournalNote note_of(const ListXattrsRequest& r) { return {.kind = kLookup, .id = r.id}; }
JournalNote note_of(const RemoveXattrRequest& r) { return {.kind = kXattr, .id = r.id, .name = r.name}; }
JournalNote note_of(const LookupKeyRequest& r) { return {.kind = kLookup, .parent = r.root, .name = r.key}; }
JournalNote note_of(const PutKeyRequest& r) { return {.kind = kContent, .parent = r.root, .name = r.key}; }
JournalNote note_of(const ConcatenateRequest& r) { return {.kind = kContent, .parent = r.root, .name = r.key}; }
JournalNote note_of(const RemoveKeyRequest& r) { return {.kind = kRemove, .parent = r.root, .name = r.key}; }
JournalNote note_of(const SetMetaRequest& r) { return {.kind = kXattr, .id = r.id}; }
JournalNote note_of(const ListKeysRequest& r) { return {.kind = kList, .id = r.root, .type = FileType::kDirectory}; }
JournalNote note_of(const SetQuotaRequest& r) { return {.kind = kQuota, .id = r.dir}; }
JournalNote note_of(const CountOwnersRequest& r) { return {.kind = kQuota, .id = r.dir}; }

bool is_denial(Errc code) {
  return code == Errc::kAccess || code == Errc::kNotOwner || code == Errc::kReadOnly || code == Errc::kQuota;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ULL; }

}  // namespace

template <class Request, class Operation>
auto AuditedNamespace::seen(const OpContext& ctx, const Request& req, Operation operation) -> decltype(operation()) {
  auto reply = operation();
  if (!registry_.audited()) [[likely]] return reply;
  if (!reply) {
    if (is_denial(reply.error().code)) denied(ctx, note_of(req), reply.error().code);
  } else if constexpr (std::is_same_v<Request, ReadRequest> || std::is_same_v<Request, ReadSlicesRequest>) {
    observed(ctx, note_of(req), AuditClass::kRead);
  } else if constexpr (std::is_same_v<Request, OpenRequest>) {
    if (!reply->created && (req.access & kAccessRead) != 0) observed(ctx, {.kind = kRead, .id = reply->attr.id}, AuditClass::kRead);
  } else if constexpr (std::is_same_v<Request, ReaddirRequest> || std::is_same_v<Request, ListKeysRequest>) {
    observed(ctx, note_of(req), AuditClass::kList);
  }
  return reply;
}

#define STOA_AUDITED(reply, name, request) \
  reply AuditedNamespace::name(const OpContext& ctx, const request& req) { \
    return seen(ctx, req, [&] { return inner_.name(ctx, req); }); \
  }
STOA_AUDITED(Result<LookupReply>, lookup, LookupRequest)
STOA_AUDITED(Result<GetattrReply>, getattr, GetattrRequest)
STOA_AUDITED(Result<GetAclReply>, get_acl, GetAclRequest)
STOA_AUDITED(Result<SetattrReply>, setattr, SetattrRequest)
STOA_AUDITED(Result<AccessReply>, access, AccessRequest)
STOA_AUDITED(Result<ReadlinkReply>, readlink, ReadlinkRequest)
STOA_AUDITED(Result<StatfsReply>, statfs, StatfsRequest)
STOA_AUDITED(Result<OpenReply>, open, OpenRequest)
STOA_AUDITED(Result<CreateReply>, create, CreateRequest)
STOA_AUDITED(Result<CreateReply>, mkdir, MkdirRequest)
STOA_AUDITED(Result<CreateReply>, symlink, SymlinkRequest)
STOA_AUDITED(Result<CreateReply>, mknod, MknodRequest)
STOA_AUDITED(Result<CreateReply>, link, LinkRequest)
STOA_AUDITED(Result<RemoveReply>, unlink, RemoveRequest)
STOA_AUDITED(Result<RemoveReply>, rmdir, RemoveRequest)
STOA_AUDITED(Result<RenameReply>, rename, RenameRequest)
STOA_AUDITED(Result<ReaddirReply>, readdir, ReaddirRequest)
STOA_AUDITED(Result<ReadReply>, read, ReadRequest)
STOA_AUDITED(Result<ReadSlicesReply>, read_slices, ReadSlicesRequest)
STOA_AUDITED(Result<WriteReply>, write, WriteRequest)
STOA_AUDITED(Result<CommitReply>, commit, CommitRequest)
STOA_AUDITED(Result<RangeReply>, allocate, RangeRequest)
STOA_AUDITED(Result<RangeReply>, punch, RangeRequest)
STOA_AUDITED(Result<SeekReply>, seek, SeekRequest)
STOA_AUDITED(Result<CopyRangeReply>, copy_range, CopyRangeRequest)
STOA_AUDITED(Result<GetXattrReply>, get_xattr, GetXattrRequest)
STOA_AUDITED(Result<XattrChangeReply>, set_xattr, SetXattrRequest)
STOA_AUDITED(Result<ListXattrsReply>, list_xattrs, ListXattrsRequest)
STOA_AUDITED(Result<XattrChangeReply>, remove_xattr, RemoveXattrRequest)
STOA_AUDITED(Result<LookupKeyReply>, lookup_key, LookupKeyRequest)
STOA_AUDITED(Result<PutKeyReply>, put_key, PutKeyRequest)
STOA_AUDITED(Result<PutKeyReply>, concatenate, ConcatenateRequest)
STOA_AUDITED(Result<RemoveKeyReply>, remove_key, RemoveKeyRequest)
STOA_AUDITED(Status, set_meta, SetMetaRequest)
STOA_AUDITED(Result<ListKeysReply>, list_keys, ListKeysRequest)
STOA_AUDITED(Status, remove_tree, RemoveRequest)
STOA_AUDITED(Status, set_quota, SetQuotaRequest)
STOA_AUDITED(Status, count_owners, CountOwnersRequest)
#undef STOA_AUDITED

bool AuditedNamespace::wanted(const AuditTable& table, const OpContext& ctx, const JournalNote& note, AuditClass as) {
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

void AuditedNamespace::denied(const OpContext& ctx, const JournalNote& note, Errc why) {
  const auto registry = registry_.snapshot();
  const AuditTable* const table = registry->audit();
  if (table == nullptr || !table->any(AuditClass::kDenied) || !wanted(*table, ctx, note, AuditClass::kDenied)) return;
  if (!denials_.admit(ctx.client, ctx.door, std::chrono::steady_clock::now())) {
    journal_.call();  // who reads it asks for the number when the second is over
    return;
  }
  JournalNote record = note;
  record.result = why;
  // The request was answered with the denial already; a store that failed is everybody's trouble, and said elsewhere.
  (void)journal_.append(record, ctx);
}

void AuditedNamespace::observed(const OpContext& ctx, const JournalNote& note, AuditClass as) {
  if (ctx.door == Door::kInternal) return;
  const auto registry = registry_.snapshot();
  const AuditTable* const table = registry->audit();
  if (table == nullptr || !table->any(as)) return;
  // A changed policy is another table, and asks again.
  std::uint64_t key = mix(reinterpret_cast<std::uintptr_t>(table), static_cast<std::uint64_t>(note.id));
  key = mix(mix(key, ctx.cred.uid), std::hash<std::string>{}(ctx.client) + static_cast<std::uint64_t>(as));
  if (!recent_.first(key, std::chrono::steady_clock::now())) return;
  if (wanted(*table, ctx, note, as)) (void)journal_.append(note, ctx);
}

std::optional<DenialLimit::Time> AuditedNamespace::report_omitted() {
  for (const DenialLimit::Omitted& omitted : denials_.take(std::chrono::steady_clock::now())) {
    const OpContext ctx{.door = omitted.door, .client = omitted.client};
    (void)journal_.append({.kind = kOmitted, .id = kRootId, .count = omitted.count}, ctx);
  }
  return denials_.due();
}

}  // namespace stoa::core
