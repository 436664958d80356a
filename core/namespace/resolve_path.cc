#include "core/txn/operations.h"

namespace stoa::core {

Result<ResolvePathReply> resolve_path(const VolumeView& volume, const OpContext& ctx, const ResolvePathRequest& req) {
  STOA_TRY(root, getattr(volume, ctx, {.id = kRootId}));
  Attributes attr = root.attr;
  std::string_view rest = req.path;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string_view name = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    if (name.empty() || name == ".") continue;
    STOA_TRY(found, lookup(volume, ctx, {.parent = attr.id, .name = name}));
    attr = found.attr;
  }
  return ResolvePathReply{attr};
}

}  // namespace stoa::core
