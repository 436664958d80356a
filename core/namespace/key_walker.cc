#include "core/namespace/key_walker.h"

#include "base/assert.h"
#include "core/access/access.h"
#include "core/kv/keys.h"

namespace stoa::core {

Result<std::unique_ptr<KeyWalker>> KeyWalker::open(const VolumeView& volume, const OpContext& ctx, FileId root) {
  std::unique_ptr<KeyWalker> walker(new KeyWalker(volume, ctx));
  STOA_TRY(node, volume.nodes.get(root));
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_directory(*node));
  }
  STOA_TRY(allowed, walker->may_list(root));
  if (!allowed) return fail(Errc::kAccess);
  walker->frames_.push_back({root, "", ""});
  return walker;
}

Result<bool> KeyWalker::may_list(FileId dir) {
  auto node = volume_.nodes.get(dir);
  if (!node && node.error().code == Errc::kStale) return false;  // gone since the walk began
  if (!node) return fail(node.error());
  STOA_TRY(lock, share_by((*node)->lock, ctx_.deadline));
  if ((*node)->deleted) return false;
  return require(ctx_, (*node)->record, kRightListDirectory | kRightSearch).has_value();
}

Status KeyWalker::seek(std::string_view key) {
  STOA_ASSERT(!frames_.empty(), "a walk begins at its root");
  frames_.resize(1);
  std::string_view rest = key;
  for (;;) {
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) break;
    const std::string_view stored = rest.substr(0, slash + 1);
    std::string value;
    STOA_TRY(found, volume_.kv.get(Family::kEntry, keys::id_name(frames_.back().dir, stored), &value));
    if (!found) {
      // No entry of this name: all later entries of this directory sort behind the whole key.
      rest = stored;
      break;
    }
    STOA_TRY(record, EntryRecord::decode(value));
    STOA_TRY(allowed, may_list(record.id));
    if (!allowed) {
      it_->seek(keys::id_name(frames_.back().dir, stored) + '\0');
      return resolve_here();
    }
    frames_.push_back({record.id, frames_.back().prefix + std::string(stored), std::string(stored)});
    rest.remove_prefix(slash + 1);
  }
  it_->seek(keys::id_name(frames_.back().dir, rest));
  return resolve_here();
}

// Makes the entry under the iterator the current one; at the end of a directory goes on in the one above.
Status KeyWalker::resolve_here() {
  for (;;) {
    STOA_CHECK_OK(it_->status());
    if (it_->valid() && keys::id_of(it_->key()) == frames_.back().dir) {
      STOA_TRY(record, EntryRecord::decode(it_->value()));
      entry_ = record;
      key_ = frames_.back().prefix;
      key_ += keys::after_id(it_->key());
      valid_ = true;
      return {};
    }
    if (frames_.size() == 1) {
      valid_ = false;
      return {};
    }
    const std::string behind = keys::id_name(frames_[frames_.size() - 2].dir, frames_.back().stored_name) + '\0';
    frames_.pop_back();
    it_->seek(behind);
  }
}

Status KeyWalker::step_over() {
  STOA_ASSERT(valid_, "a walk goes on from an entry");
  it_->next();
  return resolve_here();
}

Status KeyWalker::enter() {
  STOA_ASSERT(valid_ && at_directory(), "a walk enters directories only");
  STOA_TRY(allowed, may_list(entry_.id));
  if (!allowed) return step_over();
  std::string stored(keys::after_id(it_->key()));
  frames_.push_back({entry_.id, key_, std::move(stored)});
  it_->seek(keys::id_key(entry_.id));
  return resolve_here();
}

Result<bool> KeyWalker::is_empty() {
  auto node = volume_.nodes.get(entry_.id);
  if (!node && node.error().code == Errc::kStale) return true;
  if (!node) return fail(node.error());
  STOA_TRY(lock, share_by((*node)->lock, ctx_.deadline));
  return (*node)->record.entries == 0;
}

}  // namespace stoa::core
