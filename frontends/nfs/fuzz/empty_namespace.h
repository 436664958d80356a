// A namespace of one directory that answers every call of the NFS server with success, for the fuzz target of the
// decoders.
#pragma once

#include <memory>

#include "core/api/namespace.h"
#include "core/api/operations.h"
#include "core/api/registry.h"

namespace stoa::test {

// The answers that decoders get: the one directory for all that NFS asks, kNotSupported for the rest.
class EmptyNamespace final : public core::Namespace {
 public:
#define STOA_OPERATION(kind, name, reply, request, routing)                                               \
  Result<core::operations::name::Reply> name(const core::OpContext&, const core::request& req) override { \
    return answer<core::operations::name::Reply>(req);                                                    \
  }
#include "core/api/operations.def"

  Status find_qos_classes(const core::OpContext&, core::FileId, const core::QosTable&,
                          std::vector<qos::QosClass*>&) override {
    return {};
  }
  Status sync(const core::OpContext&, const core::PendingDurability&) override { return {}; }
  void refused(const core::OpContext&, const core::AuthFailure&) override {}
  std::uint64_t boot_verifier() const override { return 1; }
  std::uint64_t volume_id() const override { return 1; }

 private:
  static core::Attributes file() {
    return {.id = core::FileId{5}, .generation = 1, .type = core::FileType::kDirectory, .mode = 0777, .links = 2};
  }

  template <class Reply, class Request>
  static Result<Reply> answer(const Request& req) {
    if constexpr (requires { Result<Reply>(reply_to(req)); }) {
      return reply_to(req);
    } else if constexpr (std::is_same_v<Reply, core::CreateReply>) {
      return core::CreateReply{true, file(), {}, file()};
    } else {
      return fail(Errc::kNotSupported);
    }
  }
  static core::LookupReply reply_to(const core::LookupRequest&) { return {file(), file()}; }
  static core::GetattrReply reply_to(const core::GetattrRequest&) { return {file()}; }
  static core::GetAclReply reply_to(const core::GetAclRequest&) {
    return {std::make_shared<const core::Acl>(), false, file()};
  }
  static core::SetattrReply reply_to(const core::SetattrRequest&) { return {{}, file()}; }
  static core::AccessReply reply_to(const core::AccessRequest&) { return {0x3f, file()}; }
  static core::ReadlinkReply reply_to(const core::ReadlinkRequest&) { return {"target", file()}; }
  static core::StatfsReply reply_to(const core::StatfsRequest&) { return {1, 1, 1, 1, 1, 1, file()}; }
  static core::OpenReply reply_to(const core::OpenRequest& req) {
    return {.open = core::OpenId{1}, .created = req.id == core::kNoFile, .attr = file(), .parent = file()};
  }
  static core::RemoveReply reply_to(const core::RemoveRequest&) { return {core::FileId{6}, {}, file()}; }
  static core::RenameReply reply_to(const core::RenameRequest&) { return {core::FileId{6}, {}, file(), {}, file()}; }
  static core::ReaddirReply reply_to(const core::ReaddirRequest&) {
    return {{{core::FileId{6}, core::FileType::kRegular, 3, "name", file()}}, true, file()};
  }
  static core::ReadReply reply_to(const core::ReadRequest& req) { return {req.into.size() / 2, false, file()}; }
  static core::ReadSlicesReply reply_to(const core::ReadSlicesRequest&) { return {{}, 0, true, file()}; }
  static core::WriteReply reply_to(const core::WriteRequest& req) { return {req.data[0].size(), {}, file()}; }
  static core::CommitReply reply_to(const core::CommitRequest&) { return {{}, file()}; }
  static core::AncestorsReply reply_to(const core::AncestorsRequest&) { return {}; }
};

// A registry that never changes: one export, open to all.
class OneExport final : public core::Registry, public core::RegistrySnapshot {
 public:
  OneExport() {
    exports_.push_back(
        {.id = core::ExportId{1}, .name = "e", .root = core::FileId{5}, .nfs = true, .clients = {core::ClientRule{}}});
  }
  std::shared_ptr<const core::RegistrySnapshot> snapshot() const override { return {std::shared_ptr<void>(), this}; }
  Result<core::Export> add_export(const core::Export&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status change_export(const core::Export&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status remove_export(std::string_view, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status add_user(const core::User&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status change_user(const core::User&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status remove_user(std::string_view, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status add_group(const core::Group&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status remove_group(std::string_view, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status set_qos_class(const core::QosRule&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status remove_qos_class(const core::QosTarget&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status add_token(const core::Token&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status remove_token(std::string_view, const Deadline&) override { return fail(Errc::kNotSupported); }
  void note_use(const core::Token&, Timestamp) override {}
  Timestamp last_use(const core::Token&) const override { return {}; }
  Status set_recycle(const core::RecyclePolicy&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status remove_recycle(core::FileId, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status set_audit_policy(const core::AuditPolicy&, const Deadline&) override { return fail(Errc::kNotSupported); }
  Status remove_audit_policy(core::FileId, const Deadline&) override { return fail(Errc::kNotSupported); }
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
  std::vector<const core::QosRule*> qos_rules() const override { return {}; }
  const core::QosRule* find_qos_rule(const core::QosTarget&) const override { return nullptr; }
  const core::Token* find_token(const core::TokenHash&) const override { return nullptr; }
  const std::vector<core::Token>& tokens() const override { return tokens_; }
  const core::QosTable* qos_classes() const override { return nullptr; }
  qos::QosUse qos_use(const core::QosTarget&) const override { return {}; }
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
