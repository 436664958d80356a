#include "core/access/access.h"
#include "core/kv/keys.h"
#include "core/namespace/operations.h"
#include "core/recycle/bin.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kDotCookie = 1;
constexpr std::uint64_t kDotDotCookie = 2;
constexpr std::uint64_t kBinCookie = std::uint64_t{1} << 62;  // behind all others, and within 63 bits, for clients that count so

// Attributes as the cache knows them, else from the store, without letting a long listing push everything else out.
Result<std::optional<Attributes>> attributes_of(Tree& tree, FileId id) {
  if (const NodeRef node = tree.nodes.peek(id)) {
    const std::shared_lock lock(node->lock);
    if (node->deleted) return std::nullopt;
    return node->record.attributes();
  }
  const auto inode = load_inode(tree.kv, id);
  if (inode) return inode->attributes();
  if (inode.error().code == Errc::kStale) return std::nullopt;
  return fail(inode.error());
}

// An empty folder marker is not shown: the directory itself stands for it.
Result<bool> is_hidden(Tree& tree, const CookieRecord& entry) {
  if (!entry.name.empty() || entry.type != FileType::kRegular) return false;
  STOA_TRY(attr, attributes_of(tree, entry.id));
  return !attr || attr->size == 0;
}

}  // namespace

Result<ReaddirReply> readdir(Tree& tree, const OpContext& ctx, const ReaddirRequest& req) {
  STOA_TRY(node, reach(tree, ctx, req.dir));
  ReaddirReply reply{{}, false, {}};
  FileId parent = kNoFile;
  bool shows_bin = false;
  {
    const std::shared_lock lock(node->lock);
    STOA_CHECK_OK(require_directory(*node));
    STOA_CHECK_OK(require(ctx, node->record, kRightListDirectory));
    if (req.dir == req.root && node->record.has(kHasBin)) {
      STOA_TRY(entry, find_posix(tree, *node, kRecycleName));
      shows_bin = !entry.record.exists();
    }
    if (req.cookie >= node->record.next_cookie && req.cookie != kBinCookie) return fail(Errc::kBadCookie);
    reply.dir = node->record.attributes();
    parent = req.dir == req.root || node->record.home == kNoFile ? req.dir : node->record.home;
  }
  std::size_t name_bytes = 0;
  const auto room = [&](std::size_t name_size) {
    return reply.entries.empty() ||
           (reply.entries.size() < req.entries_max && name_bytes + name_size <= req.name_bytes_max);
  };
  const auto add = [&](DirectoryEntry entry) {
    name_bytes += entry.name.size();
    reply.entries.push_back(std::move(entry));
  };
  if (req.cookie < kDotCookie) {
    add({req.dir, FileType::kDirectory, kDotCookie, ".", {}});
    if (req.want_attributes) reply.entries.back().attr = reply.dir;
  }
  if (req.cookie < kDotDotCookie) {
    if (!room(2)) return reply;
    STOA_CHECK_OK(reach(tree, ctx, parent));
    add({parent, FileType::kDirectory, kDotDotCookie, "..", {}});
    if (req.want_attributes) {
      STOA_TRY(attr, attributes_of(tree, parent));
      reply.entries.back().attr = attr;
    }
  }
  // Whoever shows sizes and times looks at each file: those that somebody writes to without telling are asked for together.
  Status may;
  // The walk sees the directory as of one moment, without its lock: a listing must not stop those who create.
  const std::string lower = keys::cookie_key(req.dir, std::max(req.cookie, kDotDotCookie) + 1);
  const auto it = tree.kv.scan(Family::kCookie, lower, keys::behind_prefix(keys::id_key(req.dir)));
  for (; it->valid(); it->next()) {
    STOA_TRY(entry, CookieRecord::decode(it->value()));
    STOA_TRY(hidden, is_hidden(tree, entry));
    if (hidden) continue;
    DirectoryEntry shown{entry.id, entry.type, keys::read_be64(keys::after_id(it->key())),
                         posix_name_of(entry.name, (entry.flags & kShadowed) != 0), {}};
    if (!room(shown.name.size())) {
      STOA_CHECK_OK(may);
      return reply;
    }
    if (req.want_attributes) {
      if (const Status one = tree.state.before_look(ctx, entry.id); !one) may = one;
      STOA_TRY(attr, attributes_of(tree, entry.id));
      shown.attr = attr;
    }
    add(std::move(shown));
  }
  STOA_CHECK_OK(it->status());
  STOA_CHECK_OK(may);
  if (shows_bin && req.cookie < kBinCookie) {
    STOA_TRY(bin, bin_of(tree, req.dir));
    STOA_TRY(attr, attributes_of(tree, bin));
    if (attr && !room(kRecycleName.size())) return reply;
    if (attr) add({bin, FileType::kDirectory, kBinCookie, std::string(kRecycleName), {}});
    if (attr && req.want_attributes) reply.entries.back().attr = attr;
  }
  reply.end = true;
  return reply;
}

}  // namespace stoa::core
