#include "frontends/nfs/export_access.h"

#include "frontends/kerberos/principals.h"

namespace stoa::nfs {
namespace {

// Longer than any sync; shorter than the patience of clients (60 s and more).
constexpr std::chrono::seconds kCallTime{50};

// The next component of `path`, which is cut from it; empty at the end.
std::string_view next_component(std::string_view& path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view component = path.substr(0, path.find('/'));
  path.remove_prefix(component.size());
  return component;
}

}  // namespace

const IdentityRules ExportAccess::kNoKerberos{};

Deadline deadline_of(const rpc::Call& call) {
  return Deadline(call.now + kCallTime);
}

Status ExportAccess::enter(const rpc::Call& call, core::ExportId id) {
  const core::Export* found = snapshot_->find_export(id);
  if (found == nullptr || !found->nfs) return fail(Errc::kStale);
  return enter(call, *found);
}

Status ExportAccess::enter(const rpc::Call& call, const core::Export& found) {
  const core::ClientRule* rule = found.rule_for(call.peer.address);
  if (rule == nullptr) return fail(Errc::kAccess);
  export_ = &found;
  context_.request_id = call.request_id;
  context_.request = call.request;
  context_.protocol = core::Protocol::kNfs;
  const rpc::Credential& credential = call.header.credential;
  flavor_allowed_ = is_allowed(flavors_of(found, rules_), credential);
  const core::User* user = nullptr;
  if (credential.sys) {
    user = snapshot_->find_user_by_uid(credential.uid);
  } else if (!credential.principal.empty()) {
    user = kerberos::user_of_principal(*snapshot_, rules_.realm, credential.principal);
  }
  squash(*rule, credential, user, context_.cred);
  if (context_.client != call.peer.text) context_.client = call.peer.text;
  context_.root = found.root;
  context_.read_only = found.read_only || rule->read_only;
  context_.deadline = deadline_of(call);
  context_.durability = core::Durability::kDurable;
  context_.defers = call.pending != nullptr;
  context_.holder = core::kNoHolder;
  context_.open = core::kNoOpen;  // the thread may have served a call before that came through one
  return {};
}

void ExportAccess::report_refused(const rpc::Call& call, core::Namespace& ns, core::FileId directory,
                                  std::string_view request, std::string_view reason) const {
  const rpc::Credential& credential = call.header.credential;
  std::string claimed;
  if (credential.sys) {
    claimed = "uid " + std::to_string(credential.uid);
    if (!credential.machine.empty()) claimed.append(" on ").append(credential.machine);
  } else if (!credential.principal.empty()) {
    claimed.append("principal ").append(credential.principal);
  }
  ns.refused({.request_id = call.request_id, .protocol = core::Protocol::kNfs, .client = call.peer.text},
             {.request = request, .reason = reason, .claimed = claimed, .directory = directory});
}

void ExportAccess::report_refused(const rpc::Call& call, core::Namespace& ns, const core::Export& by,
                                  std::string_view request) const {
  const bool address = by.rule_for(call.peer.address) == nullptr;
  report_refused(call, ns, by.root, request,
                 address ? "the export has no rule for this address" : "the export wants another security flavor");
}

Result<core::Attributes> find_directory(const Call& call, core::Namespace& ns, std::string_view request,
                                        std::string_view path) {
  ExportAccess& access = call.scope;
  if (!path.starts_with('/')) return fail(Errc::kNotFound);
  const std::string asked = std::string(request) + " " + std::string(path);
  const std::string_view name = next_component(path);
  const core::Export* found = access.snapshot().find_export(name);
  if (found == nullptr || !found->nfs) return fail(Errc::kNotFound);
  if (const Status entered = access.enter(call, *found); !entered) {
    access.report_refused(call, ns, *found, asked);
    return fail(entered.error());
  }

  // The path is walked with the server's account, as everywhere: the rule decides about mounting, every later call
  // about reading.
  core::OpContext ctx = access.context();
  ctx.cred = core::Credentials::superuser();
  STOA_TRY(root, ns.getattr(ctx, {.id = found->root}));
  core::Attributes attr = root.attr;
  for (std::string_view component = next_component(path); !component.empty(); component = next_component(path)) {
    STOA_TRY(reply, ns.lookup(ctx, {.parent = attr.id, .name = component, .root = found->root}));
    attr = reply.attr;
  }
  if (attr.type != core::FileType::kDirectory) return fail(Errc::kNotDirectory);
  return attr;
}

void ExportAccess::find_qos_classes(const rpc::Call& call, const core::FileRef& ref, core::Namespace& ns,
                                    std::vector<qos::QosClass*>& path) {
  const core::QosTable* table = snapshot_->qos_classes();
  if (table == nullptr) return;
  // Authentication need not be repeated where the caller's identity does not matter.
  const core::Export* found = snapshot_->find_export(ref.scope);
  if (found == nullptr || !found->nfs || found->rule_for(call.peer.address) == nullptr) return;
  core::QosCaller caller{.protocol = core::Protocol::kNfs, .through = found->id, .address = call.peer.address};
  if (table->has_owners()) {
    if (!enter(call, *found)) return;
    caller.cred = &context_.cred;
  }
  find_path(*table, caller, ref.id, ns, path);
}

void ExportAccess::find_qos_classes_here(const rpc::Call& call, core::FileId file, core::Namespace& ns,
                                         std::vector<qos::QosClass*>& path) {
  const core::QosTable* table = snapshot_->qos_classes();
  if (table == nullptr) return;
  find_path(
      *table,
      {.protocol = core::Protocol::kNfs, .through = export_->id, .address = call.peer.address, .cred = &context_.cred},
      file, ns, path);
}

void ExportAccess::find_path(const core::QosTable& table, const core::QosCaller& caller, core::FileId file,
                             core::Namespace& ns, std::vector<qos::QosClass*>& path) {
  of_directories_.clear();
  // A file that is gone is the operation's to tell.
  if (table.has_directories()) (void)ns.find_qos_classes(context_, file, table, of_directories_);
  table.compose_path(caller, of_directories_, path);
}

}  // namespace stoa::nfs
