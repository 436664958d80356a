#include "frontends/nfs/v3/listing.h"

#include <algorithm>

namespace stoa::nfs3 {
namespace {

constexpr std::size_t kHeadBytes = 4 + kAttributesBytes + 8;  // attributes and verifier
constexpr std::size_t kTailBytes = 4 + 4;                     // no more entries, end of directory
constexpr std::size_t kHandleOnWire = 4 + core::kHandleBytes;
static_assert(core::kHandleBytes % 4 == 0);

// File id, name and cookie: the part counted by dircount.
std::size_t name_part(std::size_t name) {
  return 8 + 4 + rpc::padded(name) + 8;
}
// The addition of READDIRPLUS: attributes and handle, present or not.
std::size_t plus_part(bool present) {
  return present ? 4 + kAttributesBytes + 4 + kHandleOnWire : 4 + 4;
}

}  // namespace

std::uint64_t cookie_verifier(std::uint64_t fsid, core::FileId dir) {
  std::uint64_t mixed = (fsid ^ static_cast<std::uint64_t>(dir)) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 32;
  return mixed != 0 ? mixed : 1;  // Clients send zero to begin.
}

rpc::Outcome list_directory(Operation& op, const ListingRequest& request) {
  const std::uint64_t verifier = cookie_verifier(op.env.fsid, request.dir);
  if (request.cookie != 0 && request.verifier != verifier) {
    return op.failed_with_attributes(op.bad_name_status(request.dir, NfsStatus::kBadCookie), request.dir);
  }
  const std::size_t bytes_max = std::min(request.bytes_max, kListBytesMax);
  if (bytes_max < kHeadBytes + kTailBytes) {
    return op.failed_with_attributes(op.bad_name_status(request.dir, NfsStatus::kTooSmall), request.dir);
  }

  // Not more than could fit if all names were as short as can be.
  const std::size_t entry_min = 4 + name_part(1) + (request.plus ? plus_part(true) : 0);
  const std::size_t by_bytes = (bytes_max - kHeadBytes - kTailBytes) / entry_min + 1;
  const std::size_t by_names = request.name_bytes_max / name_part(1) + 1;
  const auto reply = op.ns.readdir(op.ctx, {.dir = request.dir,
                                            .cookie = request.cookie,
                                            .entries_max = static_cast<std::uint32_t>(std::min(by_bytes, by_names)),
                                            .name_bytes_max = static_cast<std::uint32_t>(bytes_max),
                                            .want_attributes = request.plus,
                                            .root = op.access.entered().root});
  if (!reply) return op.failed_with_attributes(reply.error(), request.dir);

  const std::size_t begin = op.out.size();
  op.ok();
  op.post_op(reply->dir);
  op.out.u64(verifier);
  std::size_t used = kHeadBytes + kTailBytes;
  std::size_t names_used = 0;
  std::size_t count = 0;
  for (const core::DirectoryEntry& entry : reply->entries) {
    const std::size_t names = name_part(entry.name.size());
    const std::size_t bytes = 4 + names + (request.plus ? plus_part(entry.attr.has_value()) : 0);
    if (used + bytes > bytes_max || names_used + names > request.name_bytes_max) break;
    op.out.boolean(true);
    op.out.u64(static_cast<std::uint64_t>(entry.id));
    op.out.string(entry.name);
    op.out.u64(entry.cookie);
    if (request.plus) {
      encode_post_op(op.out, entry.attr ? &*entry.attr : nullptr, op.env.fsid);
      op.out.boolean(entry.attr.has_value());
      if (entry.attr) op.encode_handle(*entry.attr);
    }
    used += bytes;
    names_used += names;
    ++count;
  }
  if (count == 0 && !reply->entries.empty()) {
    op.out.truncate(begin);
    return op.failed_with_attributes(NfsStatus::kTooSmall, request.dir);
  }
  op.out.boolean(false);
  op.out.boolean(reply->end && count == reply->entries.size());
  return {};
}

}  // namespace stoa::nfs3
