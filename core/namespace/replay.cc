#include "core/namespace/replay.h"
#include "core/txn/operations.h"

namespace stoa::core {
namespace {

const FinishedRequests::Change* done(const Tree& tree, const OpContext& ctx, ChangeKind kind, FileId parent) {
  const auto* const change = tree.finished.find(ctx.request);
  return change != nullptr && change->kind == kind && change->parent == parent ? change : nullptr;
}

// How a directory was before is not known any more: a client that compares sees that it knows another state, and asks.
BeforeAttributes before_of(const Attributes& now) {
  return {now.size, now.mtime, now.ctime, now.change};
}

Result<Attributes> now_of(Tree& tree, const OpContext& ctx, FileId id) {
  STOA_TRY(now, getattr(tree, ctx, {.id = id}));
  return now.attr;
}

}  // namespace

Replay<CreateReply> replay_create(Tree& tree, const OpContext& ctx, ChangeKind kind, FileId parent) {
  const auto* const change = done(tree, ctx, kind, parent);
  if (change == nullptr) return std::nullopt;
  return [&]() -> Result<CreateReply> {
    STOA_TRY(made, now_of(tree, ctx, change->id));
    STOA_TRY(dir, now_of(tree, ctx, parent));
    return CreateReply{true, made, before_of(dir), dir};
  }();
}

Replay<RemoveReply> replay_remove(Tree& tree, const OpContext& ctx, FileId parent) {
  const auto* const change = done(tree, ctx, ChangeKind::kRemove, parent);
  if (change == nullptr) return std::nullopt;
  return [&]() -> Result<RemoveReply> {
    STOA_TRY(dir, now_of(tree, ctx, parent));
    return RemoveReply{change->id, before_of(dir), dir};
  }();
}

Replay<RenameReply> replay_rename(Tree& tree, const OpContext& ctx, FileId from_parent, FileId to_parent) {
  const auto* change = done(tree, ctx, ChangeKind::kRename, from_parent);
  if (change != nullptr && change->to_parent != to_parent) change = nullptr;
  if (change == nullptr) change = done(tree, ctx, ChangeKind::kRestore, to_parent);
  if (change == nullptr) return std::nullopt;
  return [&]() -> Result<RenameReply> {
    STOA_TRY(from, now_of(tree, ctx, from_parent));
    STOA_TRY(to, now_of(tree, ctx, to_parent));
    return RenameReply{change->id, before_of(from), from, before_of(to), to};
  }();
}

Replay<SetattrReply> replay_setattr(Tree& tree, const OpContext& ctx, FileId id) {
  const auto* const change = tree.finished.find(ctx.request);
  const bool changed = change != nullptr && change->id == id &&
                       (change->kind == ChangeKind::kAttributes || change->kind == ChangeKind::kContent);
  if (!changed) return std::nullopt;
  return [&]() -> Result<SetattrReply> {
    STOA_TRY(now, now_of(tree, ctx, id));
    return SetattrReply{before_of(now), now};
  }();
}

}  // namespace stoa::core
