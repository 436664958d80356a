// The pseudo root (RFC 8881 7.3, 7.4): one read-only directory above all exports, with an entry for each export that
// has a rule for the client's address. Its handle is the FileRef with scope 0.
#pragma once

#include "frontends/nfs/v4/attributes.h"

namespace stoa::nfs4 {

inline constexpr std::uint64_t kPseudoRootFileId = 1;
// The fileid of the directory that an export covers (mounted_on_fileid, RFC 8881 5.8.2.23): unique in the pseudo root.
constexpr std::uint64_t junction_fileid(core::ExportId id) {
  return kPseudoRootFileId + static_cast<std::uint64_t>(id);
}

// Whether the export is there for the client of this compound.
bool is_visible(const Compound& c, const core::Export& candidate);
core::Attributes pseudo_root_attributes(const Compound& c);
Subject pseudo_root_subject(const core::Attributes& attr);

// The root of the export with this name, entered: its rules are in `c.ctx`. kNoEnt, kAccess, kStale.
struct ExportRoot {
  Nfs4Status status = Nfs4Status::kOk;
  core::Attributes attr{};
};
ExportRoot enter_export(Compound& c, const core::Export& found);
ExportRoot find_in_pseudo_root(Compound& c, std::string_view name);

}  // namespace stoa::nfs4
