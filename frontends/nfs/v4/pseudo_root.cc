#include "frontends/nfs/v4/pseudo_root.h"

#include "base/siphash.h"

namespace stoa::nfs4 {
namespace {

// No secret: only to be the same on every head.
constexpr SipKey kChangeKey{0x73746f61, 0x6e667334};

}  // namespace

bool is_visible(const Compound& c, const core::Export& candidate) {
  return candidate.nfs && candidate.rule_for(c.call.peer.address) != nullptr;
}

core::Attributes pseudo_root_attributes(const Compound& c) {
  core::Attributes attr{
      .id = core::FileId{kPseudoRootFileId}, .type = core::FileType::kDirectory, .mode = 0555, .links = 2};
  // It changes when another export is seen, and then to a value that it did not have before.
  attr.change = 1;
  for (const core::Export& entry : c.access.snapshot().exports()) {
    if (!is_visible(c, entry)) continue;
    ++attr.links;
    const std::uint64_t name = siphash(kChangeKey, std::as_bytes(std::span(entry.name)));
    attr.change = (attr.change ^ name ^ static_cast<std::uint64_t>(entry.id)) * 0x9e3779b97f4a7c15;
  }
  return attr;
}

Subject pseudo_root_subject(const core::Attributes& attr) {
  return {.attr = attr, .ref = {}, .fsid = {}, .mounted_on = kPseudoRootFileId};
}

ExportRoot enter_export(Compound& c, const core::Export& found) {
  if (const Status entered = c.access.enter(c.call, found); !entered) {
    c.report_refused(found);
    return {.status = to_nfs4_status(entered.error().code)};
  }
  c.ctx.holder = c.holder;
  const auto root = c.ns.getattr(c.ctx, {.id = found.root});
  if (!root) return {.status = to_nfs4_status(root.error().code)};
  return {.attr = root->attr};
}

ExportRoot find_in_pseudo_root(Compound& c, std::string_view name) {
  const core::Export* found = c.access.snapshot().find_export(name);
  if (found == nullptr || !found->nfs) return {.status = Nfs4Status::kNoEnt};
  return enter_export(c, *found);
}

}  // namespace stoa::nfs4
