// Every operation of the namespace on names and attributes, as free functions over Tree. Contracts:
// core/api/namespace.h. One file each: create.cc holds create(), and so on.
#pragma once

#include "core/txn/getattr.h"
#include "core/txn/path_of.h"
#include "core/txn/reach.h"
#include "core/txn/tree.h"

namespace stoa::core {

Result<LookupReply> lookup(Tree&, const OpContext&, const LookupRequest&);
Result<GetAclReply> get_acl(Tree&, const OpContext&, const GetAclRequest&);
Result<SetattrReply> setattr(Tree&, const OpContext&, const SetattrRequest&);
Result<AccessReply> access(Tree&, const OpContext&, const AccessRequest&);
Result<ReadlinkReply> readlink(Tree&, const OpContext&, const ReadlinkRequest&);
Result<StatfsReply> statfs(Tree&, const OpContext&, const StatfsRequest&);

Result<CreateReply> create(Tree&, const OpContext&, const CreateRequest&);
Result<OpenReply> open(Tree&, const OpContext&, const OpenRequest&);
Result<CreateReply> mkdir(Tree&, const OpContext&, const MkdirRequest&);
Result<CreateReply> symlink(Tree&, const OpContext&, const SymlinkRequest&);
Result<CreateReply> mknod(Tree&, const OpContext&, const MknodRequest&);
Result<CreateReply> link(Tree&, const OpContext&, const LinkRequest&);
Result<RemoveReply> unlink(Tree&, const OpContext&, const RemoveRequest&);
Result<RemoveReply> rmdir(Tree&, const OpContext&, const RemoveRequest&);
Result<RenameReply> rename(Tree&, const OpContext&, const RenameRequest&);
Result<ReaddirReply> readdir(Tree&, const OpContext&, const ReaddirRequest&);
Status remove_tree(Tree&, const OpContext&, const RemoveRequest&);

Result<GetXattrReply> get_xattr(Tree&, const OpContext&, const GetXattrRequest&);
Result<XattrChangeReply> set_xattr(Tree&, const OpContext&, const SetXattrRequest&);
Result<ListXattrsReply> list_xattrs(Tree&, const OpContext&, const ListXattrsRequest&);
Result<XattrChangeReply> remove_xattr(Tree&, const OpContext&, const RemoveXattrRequest&);

Result<LookupKeyReply> lookup_key(Tree&, const OpContext&, const LookupKeyRequest&);
Result<PutKeyReply> put_key(Tree&, const OpContext&, const PutKeyRequest&);
Result<PutKeyReply> concatenate(Tree&, const OpContext&, const ConcatenateRequest&);
Result<RemoveKeyReply> remove_key(Tree&, const OpContext&, const RemoveKeyRequest&);
Status set_meta(Tree&, const OpContext&, const SetMetaRequest&);
Result<ListKeysReply> list_keys(Tree&, const OpContext&, const ListKeysRequest&);

Result<UsageReply> usage(Tree&, const OpContext&, const UsageRequest&);
// Tells the log of soft limits that were passed or are kept again since the last call.
Status report_soft_limits(Tree&);
Status set_quota(Tree&, const OpContext&, const SetQuotaRequest&);
Status count_owners(Tree&, const OpContext&, const CountOwnersRequest&);
Result<ListOwnerQuotasReply> list_owner_quotas(Tree&, const OpContext&, const ListOwnerQuotasRequest&);
Result<ListQuotasReply> list_quotas(Tree&, const OpContext&, const ListQuotasRequest&);
Result<ResolvePathReply> resolve_path(Tree&, const OpContext&, const ResolvePathRequest&);
Result<AncestorsReply> ancestors(Tree&, const OpContext&, const AncestorsRequest&);
Status find_flows(Tree&, const OpContext&, const FindFlowsRequest&);

}  // namespace stoa::core
