// One message being run: its operations in order, up to the first that fails, and what they leave for each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/api/context.h"
#include "frontends/native/server/native_protocol.h"
#include "frontends/wire/record_pool.h"
#include "frontends/wire/reply_buffer.h"

namespace stoa::native {

enum class OpenRight : std::uint8_t { kRead, kModify };

// Of one thread, for the time of one message.
class OperationRun {
 public:
  OperationRun(NativeProtocol& protocol, core::OpContext& context, Session& of, const DecodedMessage& asked,
               wire::RecordMemory* record_memory)
      : native(protocol),
        ns(protocol.ns),
        state(protocol.opens),
        ctx(context),
        session(of),
        message(asked),
        memory(record_memory) {}

  void all();
  std::size_t count() const { return files_.size(); }  // operations that were run
  // The file whose lease the last operation met, if those before it have only read; else kNoFile. The message may then
  // be run again from its beginning.
  core::FileId waits_for() const { return changed_ ? core::kNoFile : recalled_; }
  const Bytes& records() const { return records_; }
  std::span<const std::byte> payload() const { return payload_.bytes(); }
  // Once all is run.
  wire::ReplyBuffer take_payload() { return std::move(payload_); }

  // --- for operations
  // The file of an operand. kBadHandle: none, or the operation that it names has none.
  Result<core::FileId> file(File operand) const;
  // ok: `number` is 0, or an open of this session and file with this access (OpenAccess), by which content is touched
  // from now on. bad_open.
  WireStatus through(U64 number, core::FileId file, std::uint32_t access);
  // ok: `lease` is 0, or the number of a lease of this session, under which the change was cached. lease_lost.
  WireStatus cached(U64 lease);
  // Calls with the context; what its caller may not do any more, but could when it opened the file, is done all the
  // same (POSIX: rights are looked at once, by open). Not for files with set-id bits, which a write must take off.
  template <class Call>
  auto with_open_rights(core::FileId file, OpenRight right, const Call& call) {
    auto reply = call(std::as_const(ctx));
    const bool had = right == OpenRight::kRead ? reads_ : modifies_;
    if (reply || reply.error().code != Errc::kAccess || ctx.open == core::kNoOpen || !had) return reply;
    const auto now = ns.getattr(ctx, {.id = file});
    constexpr std::uint32_t kSetIdBits = 06000;
    if (!now || (now->attr.mode & kSetIdBits) != 0) return reply;
    core::OpContext opened = ctx;
    opened.cred = core::Credentials::superuser();
    reply = call(std::as_const(opened));
    ctx.pending = std::move(opened.pending);
    return reply;
  }
  // The status of an operation that failed so.
  WireStatus failed(const Error& error) {
    if (error.code == Errc::kRecallPending) recalled_ = core::FileId{error.subject};
    return to_status(error.code);
  }
  // Before what only reclaims may do in grace.
  WireStatus check_grace(bool reclaim);
  // The part of the payload that an operation names. Nothing: the payload ends before.
  std::optional<std::span<const std::byte>> data(U32 at, U32 bytes) const {
    const std::span<const std::byte> payload = message.view.payload;
    if (at > payload.size() || bytes > payload.size() - at) return std::nullopt;
    return payload.subspan(at, bytes);
  }
  // How many bytes the reply may yet have for this operation: its record and what it adds to the payload.
  std::size_t room() const;
  // Appends to the payload what `fill` writes: up to `most` bytes; it returns how many.
  template <class Fill>
  void add_payload(std::size_t most, const Fill& fill) {
    wire::ReplyBuffer::Reservation room(payload_, 0, most, 1);
    const std::size_t length = fill(room.content());
    room.commit(length, [] {});
  }
  U32 payload_end() const { return static_cast<U32>(payload_.size()); }

  NativeProtocol& native;
  core::Namespace& ns;
  core::StateTable& state;
  core::OpContext& ctx;
  Session& session;
  const DecodedMessage& message;
  wire::RecordMemory* const memory;  // of the message, if it has some; may be lent
  std::string text;                  // for texts of the reply of the operation that is being run

 private:
  WireStatus one(const RecordView& record);
  template <class Operation, class Run>
  WireStatus run_one(const RecordView& record, const Run& run);

  bool reads_ = false, modifies_ = false;  // rights of the open of through(), as when it was made
  std::vector<core::FileId> files_;        // of each operation that was run; kNoFile: it has none
  bool changed_ = false;                   // by an operation that has succeeded
  core::FileId recalled_ = core::kNoFile;
  Bytes records_;
  wire::ReplyBuffer payload_;
};

// A name for a new entry, or of one that is there. kInvalid: empty, "." or "..", or with '/' or NUL; kNameTooLong.
Status check_name(std::string_view name);

}  // namespace stoa::native
