// What protocols see of a volume: about forty blocking calls on values.
//
// Rules for every call:
//  - Thread-safe. Blocks at most for disk reads, and, for mutating calls, for one sync shared with other callers (see
//    OpContext::pending to wait later and together). Parks nothing, unless OpContext::lease_patience asks for it.
//  - On error nothing has changed: names, bytes, usage and time stamps are as before. (Data calls that fail part-way
//    through the disk, kIo and kNoSpace, may have changed the bytes of the requested range, never the size.)
//  - Common errors, not repeated below: kNotFound (a name), kStale (an id that is gone), kAccess, kNotOwner, kReadOnly,
//    kNotDirectory, kQuota, kNoSpace, kTimeout, kIo, kCorrupt, kShutdown, kRecallPending.
#pragma once

#include "base/error.h"
#include "core/api/context.h"
#include "core/api/recycle.h"
#include "core/api/refusal.h"
#include "core/api/requests.h"

namespace stoa::core {

class Namespace {
 public:
  virtual ~Namespace() = default;

  virtual Result<LookupReply> lookup(const OpContext&, const LookupRequest&) = 0;
  virtual Result<GetattrReply> getattr(const OpContext&, const GetattrRequest&) = 0;
  virtual Result<GetAclReply> get_acl(const OpContext&, const GetAclRequest&) = 0;
  virtual Result<SetattrReply> setattr(const OpContext&, const SetattrRequest&) = 0;
  virtual Result<AccessReply> access(const OpContext&, const AccessRequest&) = 0;
  virtual Result<ReadlinkReply> readlink(const OpContext&, const ReadlinkRequest&) = 0;
  virtual Result<StatfsReply> statfs(const OpContext&, const StatfsRequest&) = 0;

  virtual Result<OpenReply> open(const OpContext&, const OpenRequest&) = 0;
  virtual Result<CreateReply> create(const OpContext&, const CreateRequest&) = 0;
  virtual Result<CreateReply> mkdir(const OpContext&, const MkdirRequest&) = 0;
  virtual Result<CreateReply> symlink(const OpContext&, const SymlinkRequest&) = 0;
  virtual Result<CreateReply> mknod(const OpContext&, const MknodRequest&) = 0;
  virtual Result<CreateReply> link(const OpContext&, const LinkRequest&) = 0;
  virtual Result<RemoveReply> unlink(const OpContext&, const RemoveRequest&) = 0;
  virtual Result<RemoveReply> rmdir(const OpContext&, const RemoveRequest&) = 0;
  virtual Result<RenameReply> rename(const OpContext&, const RenameRequest&) = 0;
  // kBadCookie: a cookie that this directory never gave out.
  virtual Result<ReaddirReply> readdir(const OpContext&, const ReaddirRequest&) = 0;

  virtual Result<ReadReply> read(const OpContext&, const ReadRequest&) = 0;
  virtual Result<ReadSlicesReply> read_slices(const OpContext&, const ReadSlicesRequest&) = 0;
  virtual Result<WriteReply> write(const OpContext&, const WriteRequest&) = 0;  // kFileTooBig
  virtual Result<CommitReply> commit(const OpContext&, const CommitRequest&) = 0;
  virtual Result<RangeReply> allocate(const OpContext&, const RangeRequest&) = 0;
  virtual Result<RangeReply> punch(const OpContext&, const RangeRequest&) = 0;
  virtual Result<SeekReply> seek(const OpContext&, const SeekRequest&) = 0;
  virtual Result<CopyRangeReply> copy_range(const OpContext&, const CopyRangeRequest&) = 0;

  virtual Result<GetXattrReply> get_xattr(const OpContext&, const GetXattrRequest&) = 0;  // kNoAttribute
  virtual Result<XattrChangeReply> set_xattr(const OpContext&, const SetXattrRequest&) = 0;
  virtual Result<ListXattrsReply> list_xattrs(const OpContext&, const ListXattrsRequest&) = 0;
  virtual Result<XattrChangeReply> remove_xattr(const OpContext&, const RemoveXattrRequest&) = 0;

  virtual Result<LookupKeyReply> lookup_key(const OpContext&, const LookupKeyRequest&) = 0;
  virtual Result<UploadId> upload_begin(const OpContext&, const UploadBeginRequest&) = 0;  // kBusy: too many
  virtual Status upload_write(const OpContext&, const UploadWriteRequest&) = 0;
  virtual void upload_discard(UploadId) = 0;
  virtual Result<PutKeyReply> put_key(const OpContext&, const PutKeyRequest&) = 0;
  virtual Result<PutKeyReply> concatenate(const OpContext&, const ConcatenateRequest&) = 0;
  virtual Result<RemoveKeyReply> remove_key(const OpContext&, const RemoveKeyRequest&) = 0;
  virtual Status set_meta(const OpContext&, const SetMetaRequest&) = 0;
  virtual Result<ListKeysReply> list_keys(const OpContext&, const ListKeysRequest&) = 0;
  // Removes a directory and all below it (a multipart upload that was aborted), in bounded transactions.
  virtual Status remove_tree(const OpContext&, const RemoveRequest&) = 0;

  virtual Result<UsageReply> usage(const OpContext&, const UsageRequest&) = 0;
  virtual Status set_quota(const OpContext&, const SetQuotaRequest&) = 0;
  virtual Status count_owners(const OpContext&, const CountOwnersRequest&) = 0;
  virtual Result<ListOwnerQuotasReply> list_owner_quotas(const OpContext&, const ListOwnerQuotasRequest&) = 0;
  virtual Result<ListQuotasReply> list_quotas(const OpContext&, const ListQuotasRequest&) = 0;
  virtual Result<ResolvePathReply> resolve_path(const OpContext&, const ResolvePathRequest&) = 0;
  virtual Result<PathOfReply> path_of(const OpContext&, const PathOfRequest&) = 0;
  virtual Result<AncestorsReply> ancestors(const OpContext&, const AncestorsRequest&) = 0;  // asks for no permission

  // The recycle bin (core/api/recycle.h).
  virtual Result<ListRecycledReply> list_recycled(const OpContext&, const ListRecycledRequest&) = 0;
  virtual Result<RestoreReply> restore(const OpContext&, const RestoreRequest&) = 0;
  virtual Result<PurgeReply> purge(const OpContext&, const PurgeRequest&) = 0;
  virtual Result<RecycleStatusReply> recycle_status(const OpContext&, const RecycleStatusRequest&) = 0;

  // Blocks until all that it names is durable: the content is synced file by file side by side, the metadata once for
  // all. Files that are gone by now need nothing. kIo, kNoSpace: something is not, and none of it may be acknowledged;
  // asked for a part of it, that part may succeed.
  virtual Status settle(const OpContext&, const PendingDurability&) = 0;

  // What the protocol refused by itself, for audit. The context says who asked as far as that is known, and from where.
  // Cheap; waits for no disk.
  virtual void refused(const OpContext&, const Refusal&) = 0;

  // The same for the life of one run of the server; another one after each start (RFC 1813 3.3.7, writeverf3).
  virtual std::uint64_t boot_verifier() const = 0;
  // For ever the same for one volume: part of every handle, and the file system id of every protocol.
  virtual std::uint64_t volume_id() const = 0;

  // Part of what a protocol does before a request. Asks for no permission. As ancestors() in the table, but next to
  // free as long as neither the flows of the table's directories nor the directories above the file are others than at
  // the last time. kStale: nothing was appended.
  virtual Status find_flows(const OpContext&, const FindFlowsRequest&) = 0;
};

}  // namespace stoa::core
