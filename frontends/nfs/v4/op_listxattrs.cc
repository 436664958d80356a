// RFC 8276 8.4.3. A cookie counts the names that came before.
#include <algorithm>

#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/xattr_name.h"

namespace stoa::nfs4 {
namespace {

constexpr std::size_t kFrameBytes = 8 + 4 + 4;  // the cookie, the number of names, whether it is the end

}  // namespace

Nfs4Status op_listxattrs(Compound& c) {
  const std::uint64_t cookie = c.in.u64();
  const std::size_t bytes_max = std::min(c.in.u32(), kListBytesMax);  // of LISTXATTRS4resok, all of it
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  core::ListXattrsReply all;
  const auto file = c.file(Nfs4Status::kOk);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (!c.current->pseudo_root()) {
    auto reply = c.ns.list_xattrs(c.ctx, {.id = file.id});
    if (!reply) return c.status_of(reply.error());
    all = std::move(*reply);
    std::erase_if(all.names, [](const std::string& name) { return !name.starts_with(kXattrNamespace); });
  }
  if (cookie > all.names.size()) return Nfs4Status::kBadCookie;
  if (bytes_max < kFrameBytes) return Nfs4Status::kTooSmall;

  const std::size_t begin = c.out.size();
  c.out.u64(0);
  c.out.u32(0);
  std::size_t next = cookie;
  for (; next < all.names.size(); ++next) {
    const std::string_view name = std::string_view(all.names[next]).substr(kXattrNamespace.size());
    if (c.out.size() - begin + 4 + rpc::padded(name.size()) + 4 > bytes_max) break;
    c.out.string(name);
  }
  const bool end = next == all.names.size();
  if (next == cookie && !end) return Nfs4Status::kTooSmall;
  c.out.patch_u32(begin, static_cast<std::uint32_t>(std::uint64_t{next} >> 32));
  c.out.patch_u32(begin + 4, static_cast<std::uint32_t>(next));
  c.out.patch_u32(begin + 8, static_cast<std::uint32_t>(next - cookie));
  c.out.boolean(end);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4
