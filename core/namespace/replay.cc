#include "core/namespace/replay.h"
#include "core/txn/operations.h"

namespace stoa::core {
namespace {

const FinishedRequests::Change* done(const VolumeContext& volume, const OpContext& ctx, ChangeKind kind,
                                     FileId parent) {
  const auto* const change = volume.finished.find(ctx.request);
  return change != nullptr && change->kind == kind && change->parent == parent ? change : nullptr;
}

// The directory's earlier attributes are unknown: a client that compares sees another state, and fetches the present
// one.
BeforeAttributes before_of(const Attributes& now) {
  return {now.size, now.mtime, now.ctime, now.change};
}

Result<Attributes> now_of(VolumeContext& volume, const OpContext& ctx, FileId id) {
  STOA_TRY(now, getattr(volume, ctx, {.id = id}));
  return now.attr;
}

}  // namespace

Replay<CreateReply> replay_create(VolumeContext& volume, const OpContext& ctx, ChangeKind kind, FileId parent) {
  const auto* const change = done(volume, ctx, kind, parent);
  if (change == nullptr) return std::nullopt;
  return [&]() -> Result<CreateReply> {
    STOA_TRY(made, now_of(volume, ctx, change->id));
    STOA_TRY(dir, now_of(volume, ctx, parent));
    return CreateReply{true, made, before_of(dir), dir};
  }();
}

Replay<RemoveReply> replay_remove(VolumeContext& volume, const OpContext& ctx, FileId parent) {
  const auto* const change = done(volume, ctx, ChangeKind::kRemove, parent);
  if (change == nullptr) return std::nullopt;
  return [&]() -> Result<RemoveReply> {
    STOA_TRY(dir, now_of(volume, ctx, parent));
    return RemoveReply{change->id, before_of(dir), dir};
  }();
}

Replay<RenameReply> replay_rename(VolumeContext& volume, const OpContext& ctx, FileId from_parent, FileId to_parent) {
  const auto* change = done(volume, ctx, ChangeKind::kRename, from_parent);
  if (change != nullptr && change->to_parent != to_parent) change = nullptr;
  if (change == nullptr) change = done(volume, ctx, ChangeKind::kRestore, to_parent);
  if (change == nullptr) return std::nullopt;
  return [&]() -> Result<RenameReply> {
    STOA_TRY(from, now_of(volume, ctx, from_parent));
    STOA_TRY(to, now_of(volume, ctx, to_parent));
    return RenameReply{change->id, before_of(from), from, before_of(to), to};
  }();
}

Replay<SetattrReply> replay_setattr(VolumeContext& volume, const OpContext& ctx, FileId id) {
  const auto* const change = volume.finished.find(ctx.request);
  const bool changed = change != nullptr && change->id == id &&
                       (change->kind == ChangeKind::kAttributes || change->kind == ChangeKind::kContent);
  if (!changed) return std::nullopt;
  return [&]() -> Result<SetattrReply> {
    STOA_TRY(now, now_of(volume, ctx, id));
    return SetattrReply{before_of(now), now};
  }();
}

}  // namespace stoa::core
