#include "base/debug_assert.h"
#include "core/access/access.h"
#include "core/inode/load_inodes.h"
#include "core/kv/keys.h"
#include "core/recycle/bin.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kDotCookie = 1;
constexpr std::uint64_t kDotDotCookie = 2;
constexpr std::uint64_t kBinCookie = std::uint64_t{1}
                                     << 62;  // behind all others, and within 63 bits, for clients that count so

// Attributes as the cache knows them, else from the store, without letting a long listing push everything else out.
Result<std::optional<Attributes>> attributes_of(const VolumeView& volume, const OpContext& ctx, FileId id) {
  if (const NodeRef node = volume.nodes.peek(id)) {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    if (node->deleted) return std::nullopt;
    return node->record.attributes();
  }
  const auto inode = load_inode(volume.kv, id);
  if (inode) return inode->attributes();
  if (inode.error().code == Errc::kStale) return std::nullopt;
  return fail(inode.error());
}

// An empty folder marker is not shown: the directory itself represents it.
Result<bool> is_hidden(const VolumeView& volume, const OpContext& ctx, const CookieRecord& entry) {
  if (!entry.name.empty() || entry.type != FileType::kRegular) return false;
  STOA_TRY(attr, attributes_of(volume, ctx, entry.id));
  return !attr || attr->size == 0;
}

class Page {
 public:
  Page(const VolumeView& volume, const OpContext& ctx, const ReaddirRequest& req)
      : volume_(volume), ctx_(ctx), req_(req) {}

  Result<ReaddirReply> run() {
    STOA_CHECK_OK(open());
    STOA_TRY(end, list());
    STOA_CHECK_OK(may_look_);
    if (req_.want_attributes) STOA_CHECK_OK(add_attributes());
    reply_.end = end;
    return std::move(reply_);
  }

 private:
  Status open() {
    STOA_TRY(node, reach(volume_, ctx_, req_.dir));
    STOA_TRY(lock, share_by(node->lock, ctx_.deadline));
    STOA_CHECK_OK(require_directory(*node));
    STOA_CHECK_OK(require(ctx_, node->record, kRightListDirectory));
    if (req_.dir == req_.root && node->record.has(kHasBin)) {
      STOA_TRY(entry, find_posix(volume_, *node, kRecycleName));
      shows_bin_ = !entry.record.exists();
    }
    if (req_.cookie >= node->record.next_cookie && req_.cookie != kBinCookie) return fail(Errc::kBadCookie);
    reply_.dir = node->record.attributes();
    parent_ = req_.dir == req_.root || node->record.parent == kNoFile ? req_.dir : node->record.parent;
    return {};
  }

  // Entries without their attributes. False: the page is full.
  Result<bool> list() {
    if (req_.cookie < kDotCookie) add({req_.dir, FileType::kDirectory, kDotCookie, ".", {}});
    if (req_.cookie < kDotDotCookie) {
      if (!room(2)) return false;
      STOA_CHECK_OK(reach(volume_, ctx_, parent_));
      add({parent_, FileType::kDirectory, kDotDotCookie, "..", {}});
    }
    // The scan sees the directory as of one moment, without its lock: a listing must not block creates.
    const std::string lower = keys::cookie_key(req_.dir, std::max(req_.cookie, kDotDotCookie) + 1);
    const auto it = volume_.kv.scan(Family::kCookie, lower, keys::behind_prefix(keys::id_key(req_.dir)));
    for (; it->valid(); it->next()) {
      STOA_TRY(entry, CookieRecord::decode(it->value()));
      STOA_TRY(hidden, is_hidden(volume_, ctx_, entry));
      if (hidden) continue;
      DirectoryEntry shown{entry.id,
                           entry.type,
                           keys::read_be64(keys::after_id(it->key())),
                           posix_name_of(entry.name, (entry.flags & kHiddenByDirectory) != 0),
                           {}};
      if (!room(shown.name.size())) return false;
      // A listing with sizes and times reads each file: leases of writers are recalled together.
      if (req_.want_attributes) {
        const bool is_directory = entry.type == FileType::kDirectory;
        const Touched file{
            .file = entry.id, .directory = is_directory ? kNoFile : req_.dir, .is_directory = is_directory};
        if (const Status one = volume_.state.before_look(ctx_, file); !one) may_look_ = one;
      }
      add(std::move(shown));
    }
    STOA_CHECK_OK(it->status());
    if (!shows_bin_ || req_.cookie >= kBinCookie) return true;
    STOA_TRY(bin, bin_of(volume_, req_.dir));
    STOA_TRY(attr, attributes_of(volume_, ctx_, bin));
    if (!attr) return true;
    if (!room(kRecycleName.size())) return false;
    add({bin, FileType::kDirectory, kBinCookie, std::string(kRecycleName), {}});
    return true;
  }

  // Uncached nodes are read together: all of them for a directory unused for long.
  Status add_attributes() {
    std::vector<DirectoryEntry*> missing;
    std::vector<FileId> ids;
    for (DirectoryEntry& entry : reply_.entries) {
      if (entry.id == req_.dir) {
        entry.attr = reply_.dir;
      } else if (const NodeRef node = volume_.nodes.peek(entry.id)) {
        STOA_TRY(lock, share_by(node->lock, ctx_.deadline));
        if (!node->deleted) entry.attr = node->record.attributes();
      } else {
        missing.push_back(&entry);
        ids.push_back(entry.id);
      }
    }
    // Not there: removed since the walk saw it.
    return load_inodes(volume_.kv, ids, [&](std::size_t i, const Inode& inode) -> Status {
      missing[i]->attr = inode.attributes();
      return {};
    });
  }

  bool room(std::size_t name_size) const {
    return reply_.entries.empty() ||
           (reply_.entries.size() < req_.entries_max && name_bytes_ + name_size <= req_.name_bytes_max);
  }
  void add(DirectoryEntry entry) {
    STOA_DEBUG_ASSERT(reply_.entries.empty() || reply_.entries.back().cookie < entry.cookie, "cookies of a page rise");
    name_bytes_ += entry.name.size();
    reply_.entries.push_back(std::move(entry));
  }

  const VolumeView& volume_;
  const OpContext& ctx_;
  const ReaddirRequest& req_;
  ReaddirReply reply_{{}, false, {}};
  FileId parent_ = kNoFile;
  bool shows_bin_ = false;
  std::size_t name_bytes_ = 0;
  Status may_look_;
};

}  // namespace

Result<ReaddirReply> readdir(const VolumeView& volume, const OpContext& ctx, const ReaddirRequest& req) {
  return Page(volume, ctx, req).run();
}

}  // namespace stoa::core
