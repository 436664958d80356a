#include "base/assert.h"
#include "core/access/access.h"
#include "core/data/append_again.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/file_view.h"
#include "core/data/flush.h"
#include "core/data/growth.h"
#include "core/data/placement.h"
#include "core/data/prepare.h"
#include "core/data/sum_change.h"
#include "core/txn/covered.h"
#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

constexpr int kPrepareAttemptsMax = 100;

// An append whose request is remembered in the transaction that makes the file longer (append_again.h).
bool is_known_again(const OpContext& ctx, const WriteRequest& req) {
  return req.append && ctx.request;
}

// Else an append that was not answered could take the place of one that was, after a kill.
Status outlive_kill(VolumeContext& volume, const OpContext& ctx, CommitTicket appended) {
  if (appended == CommitTicket{} || ctx.durability == Durability::kDurable) return {};
  return volume.committer.wait_written_out(appended, ctx.durable_by);
}

// One write to blobs. Many run at once in one file: the node's lock is held only to begin and to publish.
class BlobWrite {
 public:
  BlobWrite(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const WriteRequest& req,
            std::uint64_t length)
      : volume_(volume),
        ctx_(ctx),
        node_(node),
        req_(req),
        length_(length),
        end_(req.offset + length),
        sums_(volume, node->id, ctx.deadline) {}

  // With the node locked: the write goes to blobs. Charges the growth.
  Status begin() {
    if (node_->writing == nullptr) node_->writing = std::make_unique<Writing>();
    if (end_ > node_->record.size) {
      STOA_CHECK_OK(begin_growth(volume_, *node_, end_));
      growing_ = true;
    }
    ++node_->writing->under_way;
    map();
    return {};
  }

  Result<WriteReply> run() {
    Status done = fill_holes();
    if (done) done = sum();
    if (done) {
      sums_.changing();
      done = put();
    }
    if (done) done = sums_.written();
    if (done && is_known_again(ctx_, req_)) done = sync_fresh(volume_, ctx_, node_);
    return publish(done);
  }
  // What was promised of the bytes that run() wrote. Others may be in the file meanwhile.
  Status keep_promise() {
    if (ctx_.durability == Durability::kDurable && ctx_.defers && !flush_now_) {
      ctx_.pending.add_written(node_->id);
    } else if (ctx_.durability == Durability::kDurable || flush_now_) {
      STOA_TRY(ticket, flush_file(volume_, ctx_.after_change(), node_));
      STOA_CHECK_OK(sync_or_defer(volume_, ctx_, ticket));
    }
    return outlive_kill(volume_, ctx_, appended_);
  }
  // Bytes behind the end of the file may have been written, and have to be zeros again.
  bool dirty_tail() const { return dirty_tail_; }

 private:
  void map() {
    pieces_ = map_file(*node_, req_.offset, length_);
    STOA_ASSERT(pieces_.front().file_offset == req_.offset, "pieces cover the write from its begin");
    STOA_ASSERT(pieces_.back().end() == end_, "pieces cover the write to its end");
    size_ = node_->record.size;
    fresh_.clear();
    for (const Piece& piece : pieces_) {
      fresh_.push_back(std::ranges::any_of(node_->writing->fresh.extents,
                                           [&](const Extent& extent) { return extent.blob == piece.blob; }));
    }
    hold_ = BlobPins::hold(volume_.data->pins, pieces_);
  }

  // Reserves blobs for ranges without an extent. Reserved without a lock; the second writer at a place gives its
  // blob back.
  Status fill_holes() {
    for (;;) {
      std::vector<Room> rooms;
      {
        STOA_TRY(lock, share_by(node_->lock, ctx_.deadline));
        for (const Piece& piece : pieces_) {
          if (!piece.hole()) continue;
          const Neighbours around = neighbours(*node_, piece.file_offset);
          const auto more = rooms_for(piece.file_offset, piece.length, around.floor, around.ceiling);
          for (const Room& room : more) {
            if (rooms.empty() || rooms.back() != room) rooms.push_back(room);
          }
        }
      }
      if (rooms.empty()) return {};
      for (const Room& room : rooms) STOA_CHECK_OK(add_room(room));
      STOA_TRY(lock, lock_by(node_->lock, ctx_.deadline));
      if (node_->deleted) return fail(Errc::kStale);  // its blobs may be another file's by now
      map();
    }
  }

  Status add_room(const Room& room) {
    STOA_TRY(blob, reserve_blob(volume_, room.length));
    const auto lock = lock_by(node_->lock, ctx_.deadline);
    if (!lock) {
      volume_.in_flight.abandon(blob);
      return fail(lock.error());
    }
    Writing& writing = *node_->writing;
    const auto there = map_file(*node_, room.file_offset, room.length);
    const bool free = there.size() == 1 && there[0].hole();
    const std::size_t extents = node_->record.layout.extents.size() + writing.fresh.extents.size();
    if (!free || extents >= kExtentsMax || node_->deleted) {
      volume_.in_flight.abandon(blob);
      if (node_->deleted) return fail(Errc::kStale);
      if (extents >= kExtentsMax) return fail(Cause::kTooManyPieces);
      return {};
    }
    writing.fresh.insert({room.file_offset, room.length, blob, 0});
    return {};
  }

  Status sum() {
    std::vector<SumRange> ranges;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      // The file's end in the blob: behind it, the blob is zeros.
      const std::uint64_t end = size_ >= piece.file_offset
                                    ? piece.blob_offset + (size_ - piece.file_offset)
                                    : piece.blob_offset - std::min(piece.blob_offset, piece.file_offset - size_);
      ranges.push_back({piece.file_offset, piece.blob, piece.blob_offset, piece.length, {fresh_[i], end}});
    }
    return sums_.begin(ranges, req_.data);
  }

  Status put() {
    std::vector<std::span<const std::byte>> parts;
    std::size_t next = 0;  // of req_.data
    std::size_t skip = 0;  // in it
    for (const Piece& piece : pieces_) {
      parts.clear();
      for (std::uint64_t left = piece.length; left > 0;) {
        const auto rest = req_.data[next].subspan(skip);
        const auto part = rest.first(std::min<std::uint64_t>(rest.size(), left));
        if (!part.empty()) parts.push_back(part);
        left -= part.size();
        skip += part.size();
        if (skip == req_.data[next].size()) ++next, skip = 0;
      }
      const bool lent = req_.memory.owner != nullptr && parts.size() == 1;
      STOA_CHECK_OK(lent ? volume_.blobs.write_lent(piece.blob, piece.blob_offset, parts[0], req_.memory)
                         : volume_.blobs.write(piece.blob, piece.blob_offset, parts));
    }
    return {};
  }

  // Waits for its locks without an end: what began must be published, whatever became of it.
  Result<WriteReply> publish(const Status& done) {
    const std::shared_lock tree_lock(volume_.tree_lock);
    const std::lock_guard lock(node_->lock);
    STOA_ASSERT(node_->writing != nullptr && node_->writing->under_way > 0, "a write under way is counted");
    Writing& writing = *node_->writing;
    --writing.under_way;
    WriteReply reply{.length = length_, .before = node_->record.before(), .attr = {}, .offset = req_.offset};
    // A files lease that was granted meanwhile: what its holder has read may be older than these bytes. In place they
    // are the same when the write is done again; what was appended has to go, or it would be there twice.
    const Status still = done ? behind_change(volume_, ctx_, node_->record) : done;
    const bool good = done && !node_->deleted && (still || !req_.append);
    dirty_tail_ = !good && growing_ && !node_->deleted;
    if (growing_) end_growth(volume_, *node_, end_, good);
    if (node_->deleted) return fail(Errc::kStale);
    // Also after a failure: some of the bytes may have changed.
    ++node_->writes;
    if (good) sums_.publish(writing, node_->writes);
    writing.writer_uid = ctx_.cred.uid;
    writing.writer_protocol = ctx_.protocol;
    if (writing.writer_client != ctx_.client) writing.writer_client = ctx_.client;
    for (const Piece& piece : pieces_) {
      if (piece.hole()) continue;
      const auto known = std::ranges::find(writing.unsynced, piece.blob, &Writing::Unsynced::blob);
      if (known != writing.unsynced.end()) {
        known->write = node_->writes;
      } else {
        writing.unsynced.push_back({piece.blob, node_->writes});
      }
    }
    const Timestamp now = volume_.time.wall();
    advance_version(node_->record, now);
    node_->record.touch_content(now);
    node_->record.mode = mode_after_write(ctx_, node_->record.mode);
    flush_now_ = queue_for_flush(volume_, node_) || volume_.data->sums.crowded();
    if (!done) return fail(done.error());
    if (!still) return fail(still.error());
    if (is_known_again(ctx_, req_)) {
      STOA_TRY(ticket, commit_append(volume_, ctx_.after_change(), node_, {req_.offset, length_}));
      appended_ = ticket;
    }
    reply.attr = node_->record.attributes();
    return reply;
  }

  VolumeContext& volume_;
  const OpContext& ctx_;
  const NodeRef& node_;
  const WriteRequest& req_;
  const std::uint64_t length_;
  const std::uint64_t end_;
  std::vector<Piece> pieces_;
  std::vector<bool> fresh_;  // of each piece: no record names its blob
  std::uint64_t size_ = 0;   // of the file, when it was mapped
  BlobPins::Hold hold_;
  SumChange sums_;
  bool growing_ = false;
  bool dirty_tail_ = false;
  bool flush_now_ = false;
  CommitTicket appended_{};
};

// A small file is rewritten as a whole, within its record's transaction.
Result<WriteReply> write_inline(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                                const WriteRequest& req, std::uint64_t length, CommitTicket& ticket) {
  WriteReply reply{.length = length, .before = node->record.before(), .attr = {}, .offset = req.offset};
  const std::uint64_t end = req.offset + length;
  MetaTxn txn(volume, ctx);
  Inode next = node->record;
  if (end > next.size) {
    STOA_CHECK_OK(txn.reserve(node->charge_target(), {.bytes = static_cast<std::int64_t>(end - next.size)}));
  }
  std::string bytes;
  if (next.has(kContentInline)) {
    STOA_TRY(present, load_inline(volume, next.id));
    bytes = std::move(present);
  }
  bytes.resize(std::max<std::uint64_t>(bytes.size(), end));
  std::uint64_t at = req.offset;
  for (const auto& piece : req.data) {
    if (!piece.empty()) std::memcpy(bytes.data() + at, piece.data(), piece.size());
    at += piece.size();
  }
  stage_inline(txn, next.id, bytes);
  next.flags |= kContentInline;
  next.size = std::max(next.size, end);
  advance_version(next, txn.now());
  next.touch_content(txn.now());
  next.mode = mode_after_write(ctx, next.mode);
  reply.attr = next.attributes();
  txn.put_inode(node, std::move(next));
  JournalNote note{.kind = ChangeKind::kContent};
  if (is_known_again(ctx, req)) note.appended = Appended{req.offset, length};
  STOA_CHECK_OK(txn.note_change(node, note));
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

struct Attempt {
  bool prepare = false;      // the file has to be made ready first
  bool clean_tail = false;   // bytes behind the end are to be zeroed
  std::uint64_t offset = 0;  // of the first byte
  Result<WriteReply> reply{WriteReply{}};
};

Status check_range(std::uint64_t offset, std::uint64_t length) {
  return offset > kFileBytesMax || length > kFileBytesMax - offset ? fail(Errc::kFileTooBig) : Status{};
}

// Writes share the gate. An append has it alone: it writes where the file ends, and nobody moves that end meanwhile. So
// has what was cached under a lease: who gets the file when the lease is lost, while the disk is slow, waits here, and
// does not read older bytes or write newer ones that these would go over.
class WriteGate {
 public:
  static Result<WriteGate> take(const OpContext& ctx, const NodeRef& node, bool alone) {
    WriteGate gate;
    if (alone) {
      STOA_TRY(lock, lock_by(node->data_gate, ctx.deadline));
      gate.alone_ = std::move(lock);
    } else {
      STOA_TRY(lock, share_by(node->data_gate, ctx.deadline));
      gate.shared_ = std::move(lock);
    }
    return gate;
  }
  // The bytes are in the file: nobody waits for the disk of others.
  void leave() {
    if (alone_.owns_lock()) alone_.unlock();
  }

 private:
  WriteGate() = default;
  std::shared_lock<RwLock> shared_;
  std::unique_lock<RwLock> alone_;
};

void run_write(BlobWrite& write, WriteGate& gate, Attempt& attempt) {
  attempt.reply = write.run();
  attempt.clean_tail = write.dirty_tail();
  if (!attempt.reply) return;
  gate.leave();
  if (const Status kept = write.keep_promise(); !kept) attempt.reply = fail(kept.error());
}

Attempt attempt_write(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const WriteRequest& asked,
                      std::uint64_t length) {
  Attempt attempt;
  auto gate = WriteGate::take(ctx, node, asked.append || ctx.cached_under.has_value());
  if (!gate) {
    attempt.reply = fail(gate.error());
    return attempt;
  }
  WriteRequest req = asked;
  std::optional<BlobWrite> blob_write;
  CommitTicket ticket{};
  {
    const auto begin = [&]() -> Result<WriteReply> {
      STOA_TRY(tree_lock, share_by(volume.tree_lock, ctx.deadline));
      STOA_TRY(locks, NodeLocks::take(ctx, {node}));
      STOA_CHECK_OK(require_regular(*node));
      if (asked.append) req.offset = node->record.size;
      attempt.offset = req.offset;
      STOA_CHECK_OK(require_write(ctx, node->record, req.offset));
      STOA_CHECK_OK(require_content_changeable(volume, ctx, *node));
      STOA_CHECK_OK(check_range(req.offset, length));
      WriteReply reply{
          .length = length, .before = node->record.before(), .attr = node->record.attributes(), .offset = req.offset};
      if (length == 0) return reply;
      // Until the data gate is released no lease of the file is granted (FileWatch::quiesced), so this covers the bytes
      // as well. Files leases of its directory do not wait for that: publish() asks again.
      STOA_CHECK_OK(volume.state.before_io(ctx, req.id, req.offset, length, true));
      STOA_CHECK_OK(before_change(volume, ctx, node->record));
      const std::uint64_t size = std::max(node->record.size, req.offset + length);
      const bool small = size <= volume.options.inline_bytes_max && !has_blobs(*node);
      if (small) return write_inline(volume, ctx, node, req, length, ticket);
      if (needs_prepare(volume, *node, req.offset, length)) {
        attempt.prepare = true;
        return reply;
      }
      blob_write.emplace(volume, ctx, node, req, length);
      if (const Status begun = blob_write->begin(); !begun) {
        blob_write.reset();
        return fail(begun.error());
      }
      return reply;
    };
    attempt.reply = begin();
  }
  if (blob_write) {
    run_write(*blob_write, *gate, attempt);
  } else if (static_cast<std::uint64_t>(ticket) != 0) {
    gate->leave();
    Status kept = sync_or_defer(volume, ctx, ticket);
    if (kept && is_known_again(ctx, req)) kept = outlive_kill(volume, ctx, ticket);
    if (!kept) attempt.reply = fail(kept.error());
  }
  return attempt;
}

// After a write that failed on its way beyond the end of the file.
void zero_behind_end(VolumeContext& volume, const NodeRef& node, std::uint64_t end) {
  const std::lock_guard gate(node->data_gate);
  std::vector<Piece> pieces;
  BlobPins::Hold hold;
  {
    const std::shared_lock lock(node->lock);
    if (node->deleted || end <= node->record.size) return;
    pieces = map_file(*node, node->record.size, end - node->record.size);
    hold = BlobPins::hold(volume.data->pins, pieces);
  }
  for (const Piece& piece : pieces) {
    // If this fails, too, the disk is sick, and the next start zeros the tail (open_files.h).
    if (!piece.hole()) (void)volume.blobs.punch(piece.blob, piece.blob_offset, piece.length);
  }
}

}  // namespace

Result<WriteReply> write(VolumeContext& volume, const OpContext& ctx, const WriteRequest& req) {
  std::uint64_t length = 0;
  for (const auto& piece : req.data) length += piece.size();
  if (length > kIoBytesMax) return fail(Errc::kTooLarge);
  if (ctx.read_only) return fail(Errc::kReadOnly);
  STOA_TRY(node, reach(volume, ctx, req.id));
  if (req.append) {
    if (auto again = append_again(volume, ctx, node, req, length)) return *std::move(again);
    if (req.only_again) return fail(Errc::kBusy);
  } else {
    STOA_CHECK_OK(check_range(req.offset, length));
  }
  for (int i = 0; i < kPrepareAttemptsMax; ++i) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    Attempt attempt = attempt_write(volume, ctx, node, req, length);
    if (attempt.clean_tail) zero_behind_end(volume, node, attempt.offset + length);
    if (attempt.reply) attempt.reply->verifier = volume.write_verifier;
    if (!attempt.prepare) return std::move(attempt.reply);
    STOA_CHECK_OK(prepare_write(volume, ctx, node, attempt.offset, length));
  }
  return fail(Errc::kBusy, "the file is being shared as fast as it is written");
}

Result<CommitReply> commit(VolumeContext& volume, const OpContext& ctx, const CommitRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  CommitReply reply{.before = {}, .attr = {}, .verifier = volume.write_verifier};
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_regular(*node));
    reply.before = node->record.before();
  }
  if (ctx.defers) {
    ctx.pending.add_written(req.id);
  } else {
    STOA_TRY(ticket, flush_file(volume, ctx, node));
    STOA_CHECK_OK(volume.committer.wait_durable(ticket, ctx.durable_by));
  }
  const std::shared_lock lock(node->lock);
  reply.attr = node->record.attributes();
  return reply;
}

}  // namespace stoa::core
