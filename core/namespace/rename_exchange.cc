#include "core/namespace/rename_exchange.h"

#include "core/access/access.h"
#include "core/inode/inode_usage.h"
#include "core/txn/in_bin.h"
#include "core/txn/meta_txn.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

// One of the two names, and its file.
struct Side {
  NodeRef dir;
  std::string_view name;
  FoundEntry entry;
  NodeRef node;
};

Status find_entry(const VolumeView& volume, Side& side) {
  STOA_CHECK_OK(require_directory(*side.dir));
  STOA_TRY(entry, find_posix(volume, *side.dir, side.name));
  if (!entry.record.exists()) return fail(names_bin(*side.dir, side.name) ? Errc::kReadOnly : Errc::kNotFound);
  side.entry = std::move(entry);
  return {};
}

// kStale: the name went meanwhile.
Status look_up(const VolumeView& volume, const OpContext& ctx, Side& side) {
  {
    STOA_TRY(lock, share_by(side.dir->lock, ctx.deadline));
    STOA_CHECK_OK(require_directory(*side.dir));
    STOA_CHECK_OK(require(ctx, side.dir->record, kRightSearch));
    STOA_CHECK_OK(find_entry(volume, side));
  }
  STOA_TRY(node, node_of(volume, ctx, side.dir, side.entry.raw, side.entry.record));
  side.node = node;
  return {};
}

bool changes_parents(const Side& from, const Side& to) {
  return from.dir != to.dir && (from.entry.directory() || to.entry.directory());
}

Status may_move(const OpContext& ctx, const Side& side, const Side& to) {
  const Inode& moved = side.node->record;
  STOA_CHECK_OK(require_remove(ctx, side.dir->record, moved));
  STOA_CHECK_OK(require_add(ctx, to.dir->record, moved.is_directory()));
  // The ".." of a directory that changes parents is rewritten.
  return moved.is_directory() && side.dir != to.dir ? require(ctx, moved, kRightWriteData) : Status{};
}

// The charge of what moves from `side` to the directory `to`, and its record `next`. Whether a file's charge moves.
Result<bool> stage_move(MetaTxn& txn, const Side& side, const NodeRef& to, Inode& next) {
  if (side.dir == to) return false;
  if (next.is_directory()) {
    next.parent = to->id;
    STOA_CHECK_OK(txn.move_directory(side.node, to, usage_of(next)));
    STOA_CHECK_OK(txn.give_child_limits(side.node->account, to->account));
    return false;
  }
  // Only the link that carries the file's usage takes it along.
  if (next.parent != side.dir->id) return false;
  STOA_CHECK_OK(
      txn.move_charge(side.node, {to->account, side.node->charge_target().owner, side.node->id}, usage_of(next)));
  next.parent = to->id;
  return true;
}

// The names keep their places in listings.
Status stage_entries(const VolumeView& volume, MetaTxn& txn, const Side& from, Inode& from_next, const Side& to,
                     Inode& to_next) {
  const bool same_kind = from.entry.directory() == to.entry.directory();
  if (!same_kind) {
    for (const Side* side : {&from, &to}) {
      STOA_TRY(other, find_form(volume, *side->dir, side->entry.raw, !side->entry.directory()));
      if (other.exists()) return fail(Errc::kExists, "the name is one of an object and of a directory");
    }
  }
  STOA_CHECK_OK(txn.remove_entry(from.dir, from_next, from.entry.raw, from.entry.record));
  STOA_CHECK_OK(txn.remove_entry(to.dir, to_next, to.entry.raw, to.entry.record));
  const auto insert = [&](const Side& at, Inode& dir_next, const Side& what) -> Status {
    const EntryRecord& record = what.entry.record;
    const std::uint64_t cookie = at.entry.record.cookie;
    if (same_kind) return txn.insert_entry(at.dir, dir_next, at.entry.raw, record.id, record.type, cookie);
    txn.insert_unique_entry(at.dir, dir_next, at.entry.raw, record.id, record.type, cookie);
    return {};
  };
  STOA_CHECK_OK(insert(from, from_next, to));
  return insert(to, to_next, from);
}

Result<RenameReply> exchange_locked(VolumeContext& volume, const OpContext& ctx, const Side& from, const Side& to,
                                    CommitTicket& ticket) {
  for (const NodeRef& dir : {from.dir, to.dir}) STOA_CHECK_OK(require_changeable(volume, *dir));
  for (const NodeRef& node : {from.node, to.node}) STOA_CHECK_OK(require_unsealed(volume, *node));
  STOA_CHECK_OK(may_move(ctx, from, to));
  STOA_CHECK_OK(may_move(ctx, to, from));
  const bool same_dir = from.dir == to.dir;
  Inode from_next = from.dir->record;
  Inode to_other = to.dir->record;
  Inode& to_next = same_dir ? from_next : to_other;
  RenameReply reply{from.node->id, from_next.before(), {}, to_next.before(), {}};
  // Two names of one file: POSIX rename does nothing and succeeds.
  if (from.node == to.node) {
    reply.from = from_next.attributes();
    reply.to = to_next.attributes();
    return reply;
  }
  MetaTxn txn(volume, ctx);
  Inode moved = from.node->record;
  Inode back = to.node->record;
  moved.touch(txn.now());
  back.touch(txn.now());
  txn.begin_exchange();
  STOA_TRY(moved_charge, stage_move(txn, from, to.dir, moved));
  STOA_TRY(moved_back, stage_move(txn, to, from.dir, back));
  STOA_CHECK_OK(txn.end_exchange());
  STOA_CHECK_OK(stage_entries(volume, txn, from, from_next, to, to_next));
  txn.put_inode(from.node, std::move(moved));
  txn.put_inode(to.node, std::move(back));
  if (moved_charge) txn.set_chains(from.node, to.dir->chains());
  if (moved_back) txn.set_chains(to.node, from.dir->chains());
  reply.from = from_next.attributes();
  reply.to = to_next.attributes();
  txn.put_inode(from.dir, from_next);
  if (!same_dir) txn.put_inode(to.dir, to_other);
  const auto note = [](const Side& moves, const Side& onto) {
    return JournalNote{.kind = ChangeKind::kRename,
                       .id = moves.node->id,
                       .parent = moves.dir->id,
                       .name = moves.entry.raw,
                       .to_parent = onto.dir->id,
                       .to_name = onto.entry.raw};
  };
  // One record answers for the request.
  OpContext keyless = ctx;
  keyless.request = {};
  txn.note(note(from, to));
  txn.note(note(to, from), keyless);
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

// Nothing: a name has changed since it was looked up.
Result<std::optional<RenameReply>> attempt_exchange(VolumeContext& volume, const OpContext& ctx, const Side& from,
                                                    const Side& to, CommitTicket& ticket) {
  if (changes_parents(from, to)) {
    const bool loop =
        lies_in(to.dir->chains_now().ancestry, from.node->id) || lies_in(from.dir->chains_now().ancestry, to.node->id);
    if (loop) return fail(Errc::kInvalid, "a directory cannot move below itself");
  }
  STOA_TRY(locks, NodeLocks::take(ctx, {from.dir, to.dir, from.node, to.node}));
  for (const Side* side : {&from, &to}) {
    Side now{side->dir, side->name, {}, {}};
    STOA_CHECK_OK(find_entry(volume, now));
    if (now.entry.record != side->entry.record) return std::nullopt;
  }
  STOA_TRY(reply, exchange_locked(volume, ctx, from, to, ticket));
  return reply;
}

}  // namespace

Result<RenameReply> rename_exchange(VolumeContext& volume, const OpContext& ctx, const RenameRequest& req) {
  if (req.no_replace) return fail(Errc::kInvalid, "an exchange of what must not exist");
  STOA_TRY(from_dir, reach(volume, ctx, req.from_parent));
  STOA_TRY(to_dir, reach(volume, ctx, req.to_parent));
  Side from{from_dir, req.from_name, {}, {}};
  Side to{to_dir, req.to_name, {}, {}};
  for (;;) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    Status found = look_up(volume, ctx, from);
    if (found) found = look_up(volume, ctx, to);
    if (!found) {
      // A file that vanished between the looks: the next look says so in its own words.
      if (found.error().code == Errc::kStale && reach(volume, ctx, req.from_parent) &&
          reach(volume, ctx, req.to_parent))
        continue;
      return fail(found.error());
    }
    STOA_TRY(reply,
             run_mutation(
                 volume, ctx, [&](CommitTicket& ticket) { return attempt_exchange(volume, ctx, from, to, ticket); },
                 changes_parents(from, to)));
    if (reply) return *std::move(reply);
  }
}

}  // namespace stoa::core
