// Every operation of the namespace on names and attributes, as free functions over VolumeContext. Contracts:
// core/api/namespace.h. One file each: create.cc holds create(), and so on.
#pragma once

#include "core/txn/getattr.h"
#include "core/txn/path_of.h"
#include "core/txn/reach.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

Result<LookupReply> lookup(VolumeContext&, const OpContext&, const LookupRequest&);
Result<GetAclReply> get_acl(VolumeContext&, const OpContext&, const GetAclRequest&);
Result<SetattrReply> setattr(VolumeContext&, const OpContext&, const SetattrRequest&);
Result<AccessReply> access(VolumeContext&, const OpContext&, const AccessRequest&);
Result<ReadlinkReply> readlink(VolumeContext&, const OpContext&, const ReadlinkRequest&);
Result<StatfsReply> statfs(VolumeContext&, const OpContext&, const StatfsRequest&);

Result<CreateReply> create(VolumeContext&, const OpContext&, const CreateRequest&);
Result<OpenReply> open(VolumeContext&, const OpContext&, const OpenRequest&);
Result<CreateReply> mkdir(VolumeContext&, const OpContext&, const MkdirRequest&);
Result<CreateReply> symlink(VolumeContext&, const OpContext&, const SymlinkRequest&);
Result<CreateReply> mknod(VolumeContext&, const OpContext&, const MknodRequest&);
Result<CreateReply> link(VolumeContext&, const OpContext&, const LinkRequest&);
Result<RemoveReply> unlink(VolumeContext&, const OpContext&, const RemoveRequest&);
Result<RemoveReply> rmdir(VolumeContext&, const OpContext&, const RemoveRequest&);
Result<RenameReply> rename(VolumeContext&, const OpContext&, const RenameRequest&);
Result<ReaddirReply> readdir(VolumeContext&, const OpContext&, const ReaddirRequest&);
Status remove_tree(VolumeContext&, const OpContext&, const RemoveRequest&);

Result<GetXattrReply> get_xattr(VolumeContext&, const OpContext&, const GetXattrRequest&);
Result<XattrChangeReply> set_xattr(VolumeContext&, const OpContext&, const SetXattrRequest&);
Result<ListXattrsReply> list_xattrs(VolumeContext&, const OpContext&, const ListXattrsRequest&);
Result<XattrChangeReply> remove_xattr(VolumeContext&, const OpContext&, const RemoveXattrRequest&);

Result<LookupKeyReply> lookup_key(VolumeContext&, const OpContext&, const LookupKeyRequest&);
Result<PutKeyReply> put_key(VolumeContext&, const OpContext&, const PutKeyRequest&);
Result<PutKeyReply> concatenate(VolumeContext&, const OpContext&, const ConcatenateRequest&);
Result<RemoveKeyReply> remove_key(VolumeContext&, const OpContext&, const RemoveKeyRequest&);
Status set_meta(VolumeContext&, const OpContext&, const SetMetaRequest&);
Result<ListKeysReply> list_keys(VolumeContext&, const OpContext&, const ListKeysRequest&);

Result<UsageReply> usage(VolumeContext&, const OpContext&, const UsageRequest&);
// Tells the log of soft limits that were passed or are kept again since the last call.
Status report_soft_limits(VolumeContext&);
Status set_quota(VolumeContext&, const OpContext&, const SetQuotaRequest&);
Status count_owners(VolumeContext&, const OpContext&, const CountOwnersRequest&);
Result<ListOwnerQuotasReply> list_owner_quotas(VolumeContext&, const OpContext&, const ListOwnerQuotasRequest&);
Result<ListQuotasReply> list_quotas(VolumeContext&, const OpContext&, const ListQuotasRequest&);
Result<ResolvePathReply> resolve_path(VolumeContext&, const OpContext&, const ResolvePathRequest&);
Result<AncestorsReply> ancestors(VolumeContext&, const OpContext&, const AncestorsRequest&);
Status find_flows(VolumeContext&, const OpContext&, const FindFlowsRequest&);

}  // namespace stoa::core
