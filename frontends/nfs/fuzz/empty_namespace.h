// A namespace of one directory that answers every call of the NFS protocol with success, for the fuzz target of the
// decoders.
#pragma once

#include <memory>

#include "core/api/namespace.h"
#include "core/api/registry.h"

namespace stoa::test {

class EmptyNamespace final : public core::Namespace {
 public:
  Result<core::LookupReply> lookup(const core::OpContext&, const core::LookupRequest&) override {
    return core::LookupReply{file(), file()};
  }
  Result<core::GetattrReply> getattr(const core::OpContext&, const core::GetattrRequest&) override {
    return core::GetattrReply{file()};
  }
  Result<core::GetAclReply> get_acl(const core::OpContext&, const core::GetAclRequest&) override {
    return core::GetAclReply{std::make_shared<const core::Acl>(), false, file()};
  }
  Result<core::SetattrReply> setattr(const core::OpContext&, const core::SetattrRequest&) override {
    return core::SetattrReply{{}, file()};
  }
  Result<core::AccessReply> access(const core::OpContext&, const core::AccessRequest&) override {
    return core::AccessReply{0x3f, file()};
  }
  Result<core::ReadlinkReply> readlink(const core::OpContext&, const core::ReadlinkRequest&) override {
    return core::ReadlinkReply{"target", file()};
  }
  Result<core::StatfsReply> statfs(const core::OpContext&, const core::StatfsRequest&) override {
    return core::StatfsReply{1, 1, 1, 1, 1, 1, file()};
  }
  Result<core::OpenReply> open(const core::OpContext&, const core::OpenRequest& req) override {
    return core::OpenReply{
        .open = core::OpenId{1}, .created = req.id == core::kNoFile, .attr = file(), .parent = file()};
  }
  Result<core::CreateReply> create(const core::OpContext&, const core::CreateRequest&) override { return made(); }
  Result<core::CreateReply> mkdir(const core::OpContext&, const core::MkdirRequest&) override { return made(); }
  Result<core::CreateReply> symlink(const core::OpContext&, const core::SymlinkRequest&) override { return made(); }
  Result<core::CreateReply> mknod(const core::OpContext&, const core::MknodRequest&) override { return made(); }
  Result<core::CreateReply> link(const core::OpContext&, const core::LinkRequest&) override { return made(); }
  Result<core::RemoveReply> unlink(const core::OpContext&, const core::RemoveRequest&) override {
    return core::RemoveReply{core::FileId{6}, {}, file()};
  }
  Result<core::RemoveReply> rmdir(const core::OpContext&, const core::RemoveRequest&) override {
    return core::RemoveReply{core::FileId{6}, {}, file()};
  }
  Result<core::RenameReply> rename(const core::OpContext&, const core::RenameRequest&) override {
    return core::RenameReply{core::FileId{6}, {}, file(), {}, file()};
  }
  Result<core::ReaddirReply> readdir(const core::OpContext&, const core::ReaddirRequest&) override {
    return core::ReaddirReply{{{core::FileId{6}, core::FileType::kRegular, 3, "name", file()}}, true, file()};
  }
  Result<core::ReadReply> read(const core::OpContext&, const core::ReadRequest& request) override {
    return core::ReadReply{request.into.size() / 2, false, file()};
  }
  Result<core::ReadSlicesReply> read_slices(const core::OpContext&, const core::ReadSlicesRequest&) override {
    return core::ReadSlicesReply{{}, 0, true, file()};
  }
  Result<core::WriteReply> write(const core::OpContext&, const core::WriteRequest& request) override {
    return core::WriteReply{request.data[0].size(), {}, file()};
  }
  Result<core::CommitReply> commit(const core::OpContext&, const core::CommitRequest&) override {
    return core::CommitReply{{}, file()};
  }
  Result<core::RangeReply> allocate(const core::OpContext&, const core::RangeRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::RangeReply> punch(const core::OpContext&, const core::RangeRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::SeekReply> seek(const core::OpContext&, const core::SeekRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::CopyRangeReply> copy_range(const core::OpContext&, const core::CopyRangeRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::GetXattrReply> get_xattr(const core::OpContext&, const core::GetXattrRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::XattrChangeReply> set_xattr(const core::OpContext&, const core::SetXattrRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::ListXattrsReply> list_xattrs(const core::OpContext&, const core::ListXattrsRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::XattrChangeReply> remove_xattr(const core::OpContext&, const core::RemoveXattrRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::LookupKeyReply> lookup_key(const core::OpContext&, const core::LookupKeyRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::UploadId> upload_begin(const core::OpContext&, const core::UploadBeginRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Status upload_write(const core::OpContext&, const core::UploadWriteRequest&) override {
    return fail(Errc::kNotSupported);
  }
  void upload_discard(core::UploadId) override {}
  Result<core::PutKeyReply> put_key(const core::OpContext&, const core::PutKeyRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::PutKeyReply> concatenate(const core::OpContext&, const core::ConcatenateRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::RemoveKeyReply> remove_key(const core::OpContext&, const core::RemoveKeyRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Status set_meta(const core::OpContext&, const core::SetMetaRequest&) override { return fail(Errc::kNotSupported); }
  Result<core::ListKeysReply> list_keys(const core::OpContext&, const core::ListKeysRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Status remove_tree(const core::OpContext&, const core::RemoveRequest&) override { return fail(Errc::kNotSupported); }
  Result<core::UsageReply> usage(const core::OpContext&, const core::UsageRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Status set_quota(const core::OpContext&, const core::SetQuotaRequest&) override { return fail(Errc::kNotSupported); }
  Status count_owners(const core::OpContext&, const core::CountOwnersRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::ListOwnerQuotasReply> list_owner_quotas(const core::OpContext&,
                                                       const core::ListOwnerQuotasRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::ListQuotasReply> list_quotas(const core::OpContext&, const core::ListQuotasRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::ResolvePathReply> resolve_path(const core::OpContext&, const core::ResolvePathRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::AncestorsReply> ancestors(const core::OpContext&, const core::AncestorsRequest&) override {
    return core::AncestorsReply{};
  }
  Status find_flows(const core::OpContext&, const core::FindFlowsRequest&) override { return {}; }
  Result<core::PathOfReply> path_of(const core::OpContext&, const core::PathOfRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::ListRecycledReply> list_recycled(const core::OpContext&, const core::ListRecycledRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::RestoreReply> restore(const core::OpContext&, const core::RestoreRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::PurgeReply> purge(const core::OpContext&, const core::PurgeRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Result<core::RecycleStatusReply> recycle_status(const core::OpContext&, const core::RecycleStatusRequest&) override {
    return fail(Errc::kNotSupported);
  }
  Status settle(const core::OpContext&, const core::PendingDurability&) override { return {}; }
  void refused(const core::OpContext&, const core::Refusal&) override {}
  std::uint64_t boot_verifier() const override { return 1; }
  std::uint64_t volume_id() const override { return 1; }

 private:
  static core::Attributes file() {
    return {.id = core::FileId{5}, .generation = 1, .type = core::FileType::kDirectory, .mode = 0777, .links = 2};
  }
  static core::CreateReply made() { return {true, file(), {}, file()}; }
};

// A registry that never changes: one export, open to all.
class OneExport final : public core::Registry, public core::RegistrySnapshot {
 public:
  OneExport() {
    exports_.push_back(
        {.id = core::ExportId{1}, .name = "e", .root = core::FileId{5}, .nfs = true, .clients = {core::ClientRule{}}});
  }
  std::shared_ptr<const core::RegistrySnapshot> snapshot() const override { return {std::shared_ptr<void>(), this}; }
  Result<core::Export> add_export(const core::Export&) override { return fail(Errc::kNotSupported); }
  Status change_export(const core::Export&) override { return fail(Errc::kNotSupported); }
  Status remove_export(std::string_view) override { return fail(Errc::kNotSupported); }
  Status add_user(const core::User&) override { return fail(Errc::kNotSupported); }
  Status change_user(const core::User&) override { return fail(Errc::kNotSupported); }
  Status remove_user(std::string_view) override { return fail(Errc::kNotSupported); }
  Status add_group(const core::Group&) override { return fail(Errc::kNotSupported); }
  Status remove_group(std::string_view) override { return fail(Errc::kNotSupported); }
  Status set_flow(const core::FlowRule&) override { return fail(Errc::kNotSupported); }
  Status remove_flow(const core::FlowTarget&) override { return fail(Errc::kNotSupported); }
  Status add_token(const core::Token&) override { return fail(Errc::kNotSupported); }
  Status remove_token(std::string_view) override { return fail(Errc::kNotSupported); }
  void note_use(const core::Token&, Timestamp) override {}
  Timestamp last_use(const core::Token&) const override { return {}; }
  Status set_recycle(const core::RecyclePolicy&) override { return fail(Errc::kNotSupported); }
  Status remove_recycle(core::FileId) override { return fail(Errc::kNotSupported); }
  Status set_audit_policy(const core::AuditPolicy&) override { return fail(Errc::kNotSupported); }
  Status remove_audit_policy(core::FileId) override { return fail(Errc::kNotSupported); }
  bool audited() const override { return false; }

  const core::Export* find_export(core::ExportId id) const override {
    return id == core::ExportId{1} ? &exports_.front() : nullptr;
  }
  const core::Export* find_export(std::string_view name) const override {
    return name == "e" ? &exports_.front() : nullptr;
  }
  const std::vector<core::Export>& exports() const override { return exports_; }
  const core::User* find_user(std::string_view) const override { return nullptr; }
  const core::User* find_user_by_uid(std::uint32_t) const override { return nullptr; }
  std::pair<const core::User*, const core::S3Key*> find_key(std::string_view) const override { return {}; }
  const std::vector<core::User>& users() const override { return users_; }
  const core::User* find_user_by_principal(std::string_view) const override { return nullptr; }
  const core::User* find_user_by_sid(std::string_view) const override { return nullptr; }
  const core::Group* find_group(std::string_view) const override { return nullptr; }
  const core::Group* find_group_by_gid(std::uint32_t) const override { return nullptr; }
  const core::Group* find_group_by_sid(std::string_view) const override { return nullptr; }
  const std::vector<core::Group>& groups() const override { return groups_; }
  std::vector<const core::FlowRule*> flow_rules() const override { return {}; }
  const core::FlowRule* find_flow_rule(const core::FlowTarget&) const override { return nullptr; }
  const core::Token* find_token(const core::TokenHash&) const override { return nullptr; }
  const std::vector<core::Token>& tokens() const override { return tokens_; }
  const core::FlowTable* flows() const override { return nullptr; }
  qos::FlowUse flow_use(const core::FlowTarget&) const override { return {}; }
  const core::RecycleTable* recycle() const override { return nullptr; }
  const core::AuditTable* audit() const override { return nullptr; }
  std::string sid_of(const core::User&) const override { return {}; }
  std::string sid_of(const core::Group&) const override { return {}; }

 private:
  std::vector<core::Export> exports_;
  std::vector<core::User> users_;
  std::vector<core::Group> groups_;
  std::vector<core::Token> tokens_;
};

}  // namespace stoa::test
