// Who a caller is, and what the export that its handle names lets it do. Shared by all programs of this door.
#pragma once

#include <memory>

#include "core/api/context.h"
#include "core/api/file_handle.h"
#include "core/api/registry.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::nfs {

// Of one worker thread: the context that its calls reuse, and the picture of the registry of the present batch.
class ExportAccess final : public rpc::WorkerScope {
 public:
  explicit ExportAccess(const core::Registry& registry) : registry_(registry) {}

  void refresh() override { snapshot_ = registry_.snapshot(); }
  const core::RegistrySnapshot& snapshot() const { return *snapshot_; }

  // Makes the context of a call that comes in through this export: credentials squashed, read-only where the export or
  // the client's rule say so. kStale: no such export (any more), or it is not published over NFS; kAccess: no rule for
  // this client.
  Status enter(const rpc::Call& call, core::ExportId id);
  Status enter(const rpc::Call& call, const core::Export& found);

  core::OpContext& context() { return context_; }
  // Of the last enter() that succeeded; until the next refresh().
  const core::Export& entered() const { return *export_; }

 private:
  const core::Registry& registry_;
  std::shared_ptr<const core::RegistrySnapshot> snapshot_;
  core::OpContext context_;
  const core::Export* export_ = nullptr;
};

// Applies a client rule to what the client claims to be.
void squash(const core::ClientRule& rule, const rpc::Credential& claimed, core::Credentials& out);

}  // namespace stoa::nfs
