#include "core/access/access.h"
#include "core/namespace/create_file.h"
#include "core/namespace/replay.h"
#include "core/recycle/bin.h"
#include "core/txn/covered.h"
#include "core/txn/in_bin.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

constexpr int kOpenAttempts = 8;  // while others make and remove the same name

bool may_create(OpenDisposition disposition) {
  return disposition != OpenDisposition::kOpen && disposition != OpenDisposition::kOverwrite;
}
bool overwrites(OpenDisposition disposition) {
  return disposition == OpenDisposition::kOverwrite || disposition == OpenDisposition::kOverwriteOrCreate;
}

OpenSpec spec_of(const OpContext& ctx, const OpenRequest& req) {
  OpenSpec spec{
      .file = kNoFile, .holder = ctx.holder, .access = req.access, .deny = req.deny, .lease_key = ctx.lease_key};
  if ((req.access & kShareDelete) != 0 && req.parent != kNoFile) {
    spec.name = std::make_shared<const OpenedName>(
        OpenedName{req.parent, std::string(req.name), ctx.protocol, ctx.cred, ctx.client});
  }
  return spec;
}

Status may_delete(VolumeContext& volume, const OpContext& ctx, FileId parent, const NodeRef& node) {
  STOA_TRY(dir, volume.nodes.get(parent));
  STOA_TRY(locks, NodeLocks::take(ctx, {dir, node}));
  return require_remove(ctx, dir->record, node->record);
}

Status may_use(VolumeContext& volume, const OpContext& ctx, const OpenRequest& req, const NodeRef& node) {
  STOA_TRY(sealed, is_sealed(volume, ctx, node));
  STOA_TRY(recycled, is_recycled(volume, ctx, node));
  const bool fixed = sealed || recycled;
  FileId parent = kNoFile;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_live(*node));
    if (node->record.is_directory()) return fail(Errc::kIsDirectory);
    if (node->record.type != FileType::kRegular) return fail(Errc::kWrongType);
    if (req.reclaim) return {};
    const bool writes = (req.access & kShareWrite) != 0 || overwrites(req.disposition);
    if ((writes || (req.access & kShareDelete) != 0) && (ctx.read_only || fixed)) return fail(Errc::kReadOnly);
    const std::uint32_t bits = access_bits(ctx, node->record);
    if ((req.access & kShareRead) != 0 && (bits & (kAccessRead | kAccessExecute)) == 0) return fail(Errc::kAccess);
    if (writes && (bits & (kAccessModify | kAccessExtend)) == 0) return fail(Errc::kAccess);
    parent = node->record.parent;
  }
  if ((req.access & kShareDelete) == 0) return {};
  return may_delete(volume, ctx, req.parent != kNoFile ? req.parent : parent, node);
}

// Truncation is a write, regardless of the access that this open requests.
Status cut(VolumeContext& volume, const OpContext& ctx, OpenId open, OpenReply& reply) {
  STOA_CHECK_OK(volume.state.check_denied(reply.attr.id, open, kShareWrite));
  OpContext through = ctx;
  through.open = open;
  const auto now = setattr(volume, through, {.id = reply.attr.id, .set = {.size = 0}});
  ctx.pending = std::move(through.pending);
  STOA_CHECK_OK(now);
  reply.attr = now->attr;
  reply.truncated = true;
  return {};
}

Result<OpenReply> finished(VolumeContext& volume, const OpContext& ctx, const OpenRequest& req, UnfinishedOpen& open,
                           OpenReply reply) {
  if (req.delete_on_close) STOA_CHECK_OK(volume.state.set_delete(open.id(), DeleteWhen::kAtClose));
  reply.open = open.finish();
  if (req.lease.bits != kLeaseNone) {
    reply.lease = volume.state.grant_lease(reply.attr.id, {ctx.holder, ctx.lease_key}, req.lease);
  }
  return reply;
}

// Opens an existing file. `reply`: the attributes of its directory so far.
Result<OpenReply> open_there(VolumeContext& volume, const OpContext& ctx, const OpenRequest& req, const NodeRef& node,
                             OpenReply reply) {
  UnfinishedOpen open(volume.state, spec_of(ctx, req));
  const auto opened = [&]() -> Status {
    STOA_CHECK_OK(may_use(volume, ctx, req, node));
    STOA_CHECK_OK(open.begin(node->id));
    {
      STOA_TRY(lock, share_by(node->lock, ctx.deadline));
      STOA_CHECK_OK(require_live(*node));
      STOA_CHECK_OK(before_look(volume, ctx, node->record));
      reply.attr = node->record.attributes();
    }
    if (overwrites(req.disposition)) STOA_CHECK_OK(cut(volume, ctx, open.id(), reply));
    return {};
  }();
  if (!opened) {
    Error error = opened.error();
    // What waits for a recall waits for the file or the directory that has the lease.
    if (error.code != Errc::kRecallPending) error.subject = static_cast<std::uint64_t>(node->id);
    return fail(std::move(error));
  }
  return finished(volume, ctx, req, open, std::move(reply));
}

// kStale: the name went while it was looked at.
Result<OpenReply> open_name(VolumeContext& volume, const OpContext& ctx, const OpenRequest& req, const NodeRef& dir) {
  FoundEntry entry;
  OpenReply reply{};
  {
    STOA_TRY(lock, share_by(dir->lock, ctx.deadline));
    STOA_CHECK_OK(require_directory(*dir));
    STOA_CHECK_OK(require(ctx, dir->record, kRightSearch));
    STOA_TRY(found, find_posix(volume, *dir, req.name));
    entry = std::move(found);
    reply.parent = dir->record.attributes();
    reply.parent_before = dir->record.before();
    if (!entry.record.exists()) {
      if (!names_bin(*dir, req.name)) return fail(Errc::kNotFound);
      STOA_TRY(bin, bin_of(volume, req.parent));
      return fail(bin == kNoFile ? Errc::kNotFound : Errc::kIsDirectory);
    }
  }
  STOA_TRY(node, node_of(volume, ctx, dir, entry.raw, entry.record));
  return open_there(volume, ctx, req, node, std::move(reply));
}

Result<OpenReply> create_name(VolumeContext& volume, const OpContext& ctx, const OpenRequest& req, const NodeRef& dir) {
  const bool exclusive = req.disposition == OpenDisposition::kCreateExclusive;
  const CreateRequest wanted{.parent = req.parent,
                             .name = req.name,
                             .mode = exclusive ? CreateMode::kExclusive : CreateMode::kGuarded,
                             .set = req.set,
                             .verifier = req.verifier};
  const bool nameless = req.disposition == OpenDisposition::kCreateNameless;
  UnfinishedOpen open(volume.state, spec_of(ctx, req));
  STOA_TRY(made, run_mutation(volume, ctx, [&](CommitTicket& ticket) {
             return nameless ? create_nameless(volume, ctx, wanted, dir, ticket, open)
                             : create_file(volume, ctx, wanted, dir, ticket, {.open = &open});
           }));
  OpenReply reply{.created = made.reply.created,
                  .attr = made.reply.attr,
                  .parent_before = made.reply.parent_before,
                  .parent = made.reply.parent};
  if (made.reply.created) return finished(volume, ctx, req, open, std::move(reply));
  STOA_TRY(node, volume.nodes.get(made.reply.attr.id));
  // A retransmission is answered like the original: the creator may use the file regardless of its mode (RFC 8881
  // 18.16.3).
  OpenRequest again = req;
  again.reclaim = ctx.cred.uid == made.reply.attr.uid;
  return open_there(volume, ctx, again, node, std::move(reply));
}

// The file was made before the start, by this request. It is the caller's as if it were made now.
Result<OpenReply> open_made_before(VolumeContext& volume, const OpContext& ctx, OpenRequest req,
                                   const CreateReply& made) {
  STOA_TRY(node, volume.nodes.get(made.attr.id));
  req.disposition = OpenDisposition::kOpen;
  req.reclaim = true;
  return open_there(volume, ctx, req, node,
                    {.created = true, .parent_before = made.parent_before, .parent = made.parent});
}

}  // namespace

Result<OpenReply> open(VolumeContext& volume, const OpContext& ctx, const OpenRequest& req) {
  if (req.delete_on_close && ((req.access & kShareDelete) == 0 || req.parent == kNoFile)) {
    return fail(Errc::kInvalid, "delete on close of what is not opened for deleting, by name");
  }
  if (req.disposition == OpenDisposition::kCreateNameless && (!req.name.empty() || (req.access & kShareDelete) != 0)) {
    return fail(Errc::kInvalid, "a name of a file without one");
  }
  if (req.id != kNoFile) {
    if (may_create(req.disposition)) return fail(Errc::kInvalid, "a file is made under a name");
    STOA_TRY(node, reach(volume, ctx, req.id));
    return open_there(volume, ctx, req, node, {});
  }
  if (may_create(req.disposition)) {
    if (auto replay = replay_create(volume, ctx, ChangeKind::kCreate, req.parent)) {
      STOA_TRY(made, *std::move(replay));
      return open_made_before(volume, ctx, req, made);
    }
  }
  STOA_TRY(dir, reach(volume, ctx, req.parent));
  const bool takes_what_is_there =
      req.disposition == OpenDisposition::kOpenOrCreate || req.disposition == OpenDisposition::kOverwriteOrCreate;
  if (ctx.read_only && takes_what_is_there) {
    // An existing file can be opened, if only for reading.
    auto opened = open_name(volume, ctx, req, dir);
    if (opened || opened.error().code != Errc::kNotFound) return opened;
    return fail(Errc::kReadOnly);
  }
  for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
    if (may_create(req.disposition)) {
      auto created = create_name(volume, ctx, req, dir);
      if (created || created.error().code != Errc::kExists || !takes_what_is_there) return created;
    }
    auto opened = open_name(volume, ctx, req, dir);
    if (opened) return opened;
    const Errc code = opened.error().code;
    if (code != Errc::kStale && !(code == Errc::kNotFound && takes_what_is_there)) return opened;
  }
  return fail(Errc::kBusy, "the name is made and removed again and again");
}

}  // namespace stoa::core
