#include "frontends/nfs/export_access.h"

namespace stoa::nfs {
namespace {

// Longer than any sync; shorter than the patience of clients (60 s and more).
constexpr std::chrono::seconds kCallTime{50};

}  // namespace

void squash(const core::ClientRule& rule, const rpc::Credential& claimed, core::Credentials& out) {
  out.groups.clear();
  if (!claimed.sys || rule.squash == core::Squash::kAll) {
    out.uid = rule.anonymous_uid;
    out.gid = rule.anonymous_gid;
    return;
  }
  const bool squash_root = rule.squash == core::Squash::kRoot;
  const auto group = [&](std::uint32_t gid) { return squash_root && gid == 0 ? rule.anonymous_gid : gid; };
  out.uid = squash_root && claimed.uid == 0 ? rule.anonymous_uid : claimed.uid;
  out.gid = group(claimed.gid);
  for (std::uint32_t i = 0; i < claimed.group_count; ++i) out.groups.push_back(group(claimed.groups[i]));
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
  context_.door = core::Door::kNfs;
  squash(*rule, call.header.credential, context_.cred);
  if (context_.client != call.peer.text) context_.client = call.peer.text;
  context_.read_only = found.read_only || rule->read_only;
  context_.deadline = call.now + kCallTime;
  context_.durability = core::Durability::kDurable;
  context_.unsettled = call.unsettled;
  context_.holder = core::kNoHolder;
  return {};
}

}  // namespace stoa::nfs
