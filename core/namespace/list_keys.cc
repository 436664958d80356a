#include "base/assert.h"
#include "core/inode/load_inodes.h"
#include "core/kv/keys.h"
#include "core/namespace/key_walker.h"
#include "core/namespace/object_meta.h"
#include "core/txn/covered.h"
#include "core/txn/operations.h"

namespace stoa::core {
namespace {

// Attributes and, when wanted, meta for the ids of one page, with few look-ups in the store.
Status fill(const VolumeView& volume, const OpContext& ctx, bool want_meta, std::span<const FileId> ids,
            std::vector<ListedKey>& keys_out) {
  std::vector<FileId> unknown;
  std::vector<std::size_t> missing;
  std::vector<Inode> inodes(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (const NodeRef node = volume.nodes.peek(ids[i])) {
      STOA_TRY(lock, share_by(node->lock, ctx.deadline));
      if (!node->deleted) inodes[i] = node->record;
    } else {
      missing.push_back(i);
      unknown.push_back(ids[i]);
    }
  }
  STOA_CHECK_OK(load_inodes(volume.kv, unknown, [&](std::size_t i, Inode inode) -> Status {
    inodes[missing[i]] = std::move(inode);
    return {};
  }));
  for (std::size_t i = 0; i < ids.size(); ++i) keys_out[i].attr = inodes[i].attributes();
  if (!want_meta) return {};
  std::vector<std::string> names;
  missing.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!inodes[i].has(kHasXattrs)) continue;
    missing.push_back(i);
    names.push_back(keys::id_name(ids[i], keys::kMetaXattr));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<std::optional<std::string>> values(names.size());
  STOA_CHECK_OK(volume.kv.multi_get(Family::kXattr, views, values));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    STOA_TRY(meta, decode_meta(ids[missing[i]], *values[i]));
    keys_out[missing[i]].meta = std::move(meta);
  }
  return {};
}

class Listing {
 public:
  Listing(const VolumeView& volume, const OpContext& ctx, const ListKeysRequest& req, KeyWalker& walker)
      : volume_(volume), ctx_(ctx), req_(req), walker_(walker) {}

  Result<ListKeysReply> run() {
    STOA_CHECK_OK(walker_.seek(std::max(req_.prefix, req_.start_after)));
    while (walker_.valid() && !full_) {
      if (walker_.at_directory()) {
        STOA_CHECK_OK(visit_directory());
      } else if (!walker_.key().starts_with(req_.prefix)) {
        break;
      } else {
        STOA_CHECK_OK(visit_file());
      }
      if (past_prefix_) break;
    }
    STOA_CHECK_OK(break_leases());
    STOA_ASSERT(reply_.keys.size() == ids_.size(), "each key of the page has a file");
    STOA_ASSERT(reply_.keys.size() + reply_.prefixes.size() <= req_.limit, "a page has a limit");
    STOA_CHECK_OK(fill(volume_, ctx_, req_.want_meta, ids_, reply_.keys));
    // A file that vanished while the page was gathered has no attributes any more.
    std::erase_if(reply_.keys, [](const ListedKey& key) { return key.attr.id == kNoFile; });
    return std::move(reply_);
  }

 private:
  // Sizes and times of all that the page names; all of them are recalled together.
  Status break_leases() {
    Status may;
    for (const FileId id : ids_) {
      if (const Status one = before_look(volume_, ctx_, id); !one) may = one;
    }
    return may;
  }

  // The rolled-up prefix that `key` falls under, if any.
  std::optional<std::string_view> rolled_up(std::string_view key) const {
    if (req_.delimiter.empty()) return std::nullopt;
    const std::size_t at = key.find(req_.delimiter, req_.prefix.size());
    if (at == std::string_view::npos) return std::nullopt;
    return key.substr(0, at + req_.delimiter.size());
  }

  bool room() {
    if (reply_.keys.size() + reply_.prefixes.size() < req_.limit) return true;
    full_ = reply_.truncated = true;
    return false;
  }

  // Emits the prefix unless the page that ended at start_after had it already.
  void emit_prefix(std::string_view prefix) {
    if (req_.start_after.starts_with(prefix)) return;
    if (!room()) return;
    reply_.prefixes.emplace_back(prefix);
    reply_.next_start_after = prefix;
  }

  Status visit_directory() {
    const std::string& key = walker_.key();
    const bool inside = key.starts_with(req_.prefix);
    if (!inside && !req_.prefix.starts_with(key)) {
      past_prefix_ = key > req_.prefix;
      return past_prefix_ ? Status{} : walker_.step_over();
    }
    if (inside) {
      const auto prefix = rolled_up(key);
      if (prefix && req_.delimiter == "/") {
        emit_prefix(*prefix);
        return walker_.step_over();
      }
      STOA_TRY(empty, walker_.is_empty());
      if (empty) return walker_.step_over();
      // Whether a prefix shows depends on its regular files; let the first of them below decide.
    }
    return walker_.enter();
  }

  Status visit_file() {
    if (walker_.entry().type != FileType::kRegular || walker_.key() == req_.start_after) return walker_.step_over();
    if (const auto prefix = rolled_up(walker_.key())) {
      emit_prefix(*prefix);
      if (full_) return {};
      const std::string behind = keys::behind_prefix(std::string(*prefix));
      if (behind.empty()) {
        past_prefix_ = true;
        return {};
      }
      return walker_.seek(behind);
    }
    if (!room()) return {};
    reply_.keys.push_back({walker_.key(), {}, {}});
    ids_.push_back(walker_.entry().id);
    reply_.next_start_after = walker_.key();
    return walker_.step_over();
  }

  const VolumeView& volume_;
  const OpContext& ctx_;
  const ListKeysRequest& req_;
  KeyWalker& walker_;
  ListKeysReply reply_;
  std::vector<FileId> ids_;
  bool full_ = false;
  bool past_prefix_ = false;
};

}  // namespace

Result<ListKeysReply> list_keys(const VolumeView& volume, const OpContext& ctx, const ListKeysRequest& req) {
  STOA_TRY(walker, KeyWalker::open(volume, ctx, req.root));
  if (req.limit == 0) return ListKeysReply{};
  return Listing(volume, ctx, req, *walker).run();
}

}  // namespace stoa::core
