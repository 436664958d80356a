// Identity of a caller, and its access by the export of its handle. Shared by all programs of this server.
#pragma once

#include <memory>

#include "base/deadline.h"
#include "core/api/context.h"
#include "core/api/file_handle.h"
#include "core/api/namespace.h"
#include "core/api/registry.h"
#include "frontends/nfs/identity.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::nfs {

// The end of every wait on behalf of a call. Left out is the wait of a change that is made for its durability.
Deadline deadline_of(const rpc::Call& call);

// Of one worker thread: the context that its calls reuse, and the snapshot of the registry of the present batch.
class ExportAccess final {
 public:
  // `rules` must outlive it.
  explicit ExportAccess(const core::Registry& registry, const IdentityRules& rules = kNoKerberos)
      : registry_(registry), rules_(rules) {}

  void refresh() { snapshot_ = registry_.snapshot(); }
  bool governs() const { return snapshot_->qos_classes() != nullptr; }
  const core::RegistrySnapshot& snapshot() const { return *snapshot_; }
  const IdentityRules& rules() const { return rules_; }

  // Makes the context of a call through this export: credentials squashed, read-only where the export or the client's
  // rule require it. kStale: no such export (any more), or not one over NFS; kAccess: no rule for this client.
  Status enter(const rpc::Call& call, core::ExportId id);
  Status enter(const rpc::Call& call, const core::Export& found);

  // The QoS classes that a call pays that comes in through the export of this handle; none when it may not come in.
  void find_qos_classes(const rpc::Call& call, const core::FileRef& ref, core::Namespace& ns,
                        std::vector<qos::QosClass*>& path);

  // The same of a call that has come in, for a file of the export that was entered last.
  void find_qos_classes_here(const rpc::Call& call, core::FileId file, core::Namespace& ns,
                             std::vector<qos::QosClass*>& path);

  // Whether the export that was entered last accepts the security flavor of this call. Each program has its own error
  // for a call that does not, and lets some pass.
  bool flavor_allowed() const { return flavor_allowed_; }

  // Reports to audit that the export refuses the call (core::Namespace::refused): for its address, or its security
  // flavor. `request`: the operation, as "MNT /projects".
  void report_refused(const rpc::Call& call, core::Namespace& ns, const core::Export& by,
                      std::string_view request) const;
  // For an admitted call that the server itself refused for `reason`.
  void report_refused(const rpc::Call& call, core::Namespace& ns, std::string_view request,
                      std::string_view reason) const {
    report_refused(call, ns, entered().root, request, reason);
  }

  core::OpContext& context() { return context_; }
  // What the calls that came in since the last time have left to be made durable.
  void hand_over(core::PendingDurability& to) {
    to.merge(context_.pending);
    context_.pending.clear();
  }
  // Of the last enter() that succeeded; until the next refresh().
  const core::Export& entered() const { return *export_; }

 private:
  static const IdentityRules kNoKerberos;

  void find_path(const core::QosTable& table, const core::QosCaller& caller, core::FileId file, core::Namespace& ns,
                 std::vector<qos::QosClass*>& path);
  void report_refused(const rpc::Call& call, core::Namespace& ns, core::FileId directory, std::string_view request,
                      std::string_view reason) const;

  const core::Registry& registry_;
  const IdentityRules& rules_;
  std::shared_ptr<const core::RegistrySnapshot> snapshot_;
  core::OpContext context_;
  const core::Export* export_ = nullptr;
  bool flavor_allowed_ = true;
  std::vector<qos::QosClass*> of_directories_;  // find_path()'s
};

// The types for programs of this server.
using Call = rpc::CallOf<ExportAccess>;
using Program = rpc::ProgramOf<ExportAccess>;

// The directory at "/export/sub/dir", entered as this call may. Walked with the server's own account: the rule decides
// about naming it, every later call about reading. `request` is its name, for audit. kNotFound, kAccess, kNotDirectory,
// ...
Result<core::Attributes> find_directory(const Call& call, core::Namespace& ns, std::string_view request,
                                        std::string_view path);

}  // namespace stoa::nfs
