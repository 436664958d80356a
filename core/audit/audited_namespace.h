// The namespace as doors see it, with an eye on what is no change and so in no transaction: denials, reads and listings. While no
// directory has a policy of audit, each call asks one flag; else what a policy wants goes to the journal, not durably.
#pragma once

#include "core/api/namespace.h"
#include "core/api/registry.h"
#include "core/audit/denial_limit.h"
#include "core/audit/recent_reads.h"
#include "core/journal/journal.h"

namespace stoa::core {

class AuditedNamespace final : public Namespace {
 public:
  AuditedNamespace(Namespace& inner, const Registry& registry, Journal& journal)
      : inner_(inner), registry_(registry), journal_(journal) {}

#define STOA_AUDITED(reply, name, request) reply name(const OpContext& ctx, const request& req) override;
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

  // Nothing here is for audit.
  Result<UploadId> upload_begin(const OpContext& ctx, const UploadBeginRequest& req) override { return inner_.upload_begin(ctx, req); }
  Status upload_write(const OpContext& ctx, const UploadWriteRequest& req) override { return inner_.upload_write(ctx, req); }
  void upload_discard(UploadId upload) override { inner_.upload_discard(upload); }
  Result<UsageReply> usage(const OpContext& ctx, const UsageRequest& req) override { return inner_.usage(ctx, req); }
  Result<ListOwnerQuotasReply> list_owner_quotas(const OpContext& ctx, const ListOwnerQuotasRequest& req) override {
    return inner_.list_owner_quotas(ctx, req);
  }
  Result<ListQuotasReply> list_quotas(const OpContext& ctx, const ListQuotasRequest& req) override { return inner_.list_quotas(ctx, req); }
  Result<ResolvePathReply> resolve_path(const OpContext& ctx, const ResolvePathRequest& req) override {
    return inner_.resolve_path(ctx, req);
  }
  Result<PathOfReply> path_of(const OpContext& ctx, const PathOfRequest& req) override { return inner_.path_of(ctx, req); }
  Result<AncestorsReply> ancestors(const OpContext& ctx, const AncestorsRequest& req) override { return inner_.ancestors(ctx, req); }
  Result<ListRecycledReply> list_recycled(const OpContext& ctx, const ListRecycledRequest& req) override {
    return inner_.list_recycled(ctx, req);
  }
  Result<RestoreReply> restore(const OpContext& ctx, const RestoreRequest& req) override { return inner_.restore(ctx, req); }
  Result<PurgeReply> purge(const OpContext& ctx, const PurgeRequest& req) override { return inner_.purge(ctx, req); }
  Result<RecycleStatusReply> recycle_status(const OpContext& ctx, const RecycleStatusRequest& req) override {
    return inner_.recycle_status(ctx, req);
  }
  Status settle(const OpContext& ctx, const Unsettled& unsettled) override { return inner_.settle(ctx, unsettled); }
  std::uint64_t boot_verifier() const override { return inner_.boot_verifier(); }
  std::uint64_t volume_id() const override { return inner_.volume_id(); }

  // Volume::report_omitted_denials().
  std::optional<DenialLimit::Time> report_omitted();

 private:
  template <class Request, class Operation>
  auto seen(const OpContext& ctx, const Request& req, Operation operation) -> decltype(operation());
  void denied(const OpContext& ctx, const JournalNote& note, Errc why);
  void observed(const OpContext& ctx, const JournalNote& note, AuditClass as);
  bool wanted(const AuditTable& table, const OpContext& ctx, const JournalNote& note, AuditClass as);

  Namespace& inner_;
  const Registry& registry_;
  Journal& journal_;
  DenialLimit denials_;
  RecentReads recent_;
};

}  // namespace stoa::core
