// How the operations of a ring are asked for, and what their replies mean.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "frontends/native/lib/attributes.h"
#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/open_flags.h"
#include "frontends/native/lib/opening.h"
#include "frontends/native/lib/ring.h"
#include "frontends/native/lib/transfer.h"
#include "frontends/native/storage/wire_values.h"

namespace stoa::native::lib {
namespace {

// Whether an open asks if the file may be read, too.
bool looks(const RingOperation& operation) {
  return (operation.flags & O_ACCMODE) != O_WRONLY;
}

Error refused_open(const Error& error, bool is_link) {
  const bool for_type = error.code == Errc::kWrongType || error.code == Errc::kInvalid;
  if (!for_type || !is_link) return error;
  return fail_errno(ELOOP, "a symbolic link").error();
}

// An operation with all that its end needs. Called once, perhaps by a thread of the client: it must not block.
class RingEnd {
 public:
  RingEnd(stoa_fs& fs, LibraryFileSystem& session, std::shared_ptr<RingCompletions> completions,
          RingOperation operation)
      : fs_(fs), session_(session), completions_(std::move(completions)), operation_(std::move(operation)) {}

  void operator()(Result<Replies> replies) const noexcept {
    stoa_completion done{.tag = operation_.tag, .result = -ENOMEM, .file = nullptr};
    done.result = c_number([&]() -> Result<std::int64_t> {
      if (!replies) return fail(replies.error());
      return result(*replies, done.file);
    });
    completions_->add(done);
  }

 private:
  Result<std::int64_t> result(const Replies& replies, stoa_file*& file) const {
    switch (operation_.work) {
      case RingWork::kRead: {
        STOA_CHECK_OK(replies.get<operations::read>(0));
        return copy_data(replies.data(0));
      }
      case RingWork::kOpen:
        return opened(replies, file);
      case RingWork::kStat: {
        STOA_TRY(found, replies.get<operations::lookup>(0));
        STOA_TRY(attr, from_wire(found.attr));
        *operation_.attributes = to_c(session_.storage().shown(attr));
        return 0;
      }
      case RingWork::kReadFile:
        return whole_file(replies);
      case RingWork::kWrite:
      case RingWork::kSync:
        break;  // answered_here()
    }
    return fail(Errc::kInvalid);
  }

  std::int64_t copy_data(std::span<const std::byte> data) const {
    const std::size_t length = std::min(data.size(), operation_.bytes);
    if (length != 0) std::memcpy(operation_.buffer, data.data(), length);
    return static_cast<std::int64_t>(length);
  }

  Result<std::int64_t> opened(const Replies& replies, stoa_file*& file) const {
    STOA_TRY(found, replies.get<operations::lookup>(0));
    auto reply = replies.get<operations::open>(1);
    if (!reply) return fail(refused_open(reply.error(), found.attr.type == native::kSymlink));
    const OpenNumber open = operation_.offset;
    try {
      const Status may = looks(operation_) ? may_read_too(replies, 2) : Status{};
      if (!may) {
        completions_->give_up(open);
        return fail(may.error());
      }
      file = std::make_unique<stoa_file>(fs_, core::FileId{reply->attr.id}, open, operation_.flags).release();
    } catch (...) {
      completions_->give_up(open);
      throw;
    }
    return 0;
  }

  // By the operation `access` at this place.
  static Status may_read_too(const Replies& replies, std::size_t at) {
    STOA_TRY(access, replies.get<operations::access>(at));
    if ((access.granted & kMayRead) == 0) return fail(Errc::kAccess);
    return {};
  }

  Result<std::int64_t> whole_file(const Replies& replies) const {
    STOA_TRY(found, replies.get<operations::lookup>(0));
    if (found.attr.type == native::kSymlink) return fail_errno(ELOOP, "a symbolic link");
    STOA_CHECK_OK(may_read_too(replies, 1));
    STOA_TRY(read, replies.get<operations::read>(2));
    copy_data(replies.data(2));
    if (read.attr.size > operation_.bytes) return -EOVERFLOW;
    return static_cast<std::int64_t>(read.attr.size);
  }

  stoa_fs& fs_;
  LibraryFileSystem& session_;
  std::shared_ptr<RingCompletions> completions_;
  RingOperation operation_;
};

// The message of an operation. An open gets its number in `offset`.
Result<Batch> message_of(LibraryFileSystem& session, RingOperation& operation) {
  Batch batch;
  stoa_file* const file = operation.file;
  OpenNumber open = 0;
  if (file != nullptr) {
    STOA_TRY(number, file->open(session));
    open = session.leases().at_server(file->id, number);
  }
  const File parent = wire_file(operation.parent);
  switch (operation.work) {
    case RingWork::kRead:
      batch.add<operations::read>({.file = wire_file(file->id),
                                   .open = open,
                                   .offset = operation.offset,
                                   .length = static_cast<U32>(operation.bytes)});
      break;
    case RingWork::kOpen: {
      operation.offset = session.client().new_open();
      // What is no file is known by that.
      batch.add<operations::lookup>({.parent = parent, .name = operation.name});
      const Place place{.parent = operation.parent, .name = operation.name};
      const core::OpenRequest request = open_request(place, operation.flags, operation.mode);
      const std::size_t opened = batch.add<operations::open>({.parent = parent,
                                                              .open = operation.offset,
                                                              .disposition = wire_disposition(request.disposition),
                                                              .access = request.access,
                                                              .set = to_settings(request.set),
                                                              .name = operation.name});
      if (looks(operation)) batch.add<operations::access>({.file = result_of(opened), .wanted = kMayRead});
      break;
    }
    case RingWork::kStat:
      batch.add<operations::lookup>({.parent = parent, .name = operation.name});
      break;
    case RingWork::kReadFile: {
      const File found = result_of(batch.add<operations::lookup>({.parent = parent, .name = operation.name}));
      batch.add<operations::access>({.file = found, .wanted = kMayRead});
      batch.add<operations::read>({.file = found, .length = static_cast<U32>(operation.bytes)});
      break;
    }
    case RingWork::kWrite:
    case RingWork::kSync:
      break;  // answered_here()
  }
  return batch;
}

Result<stoa_file*> make_file(stoa_fs& fs, LibraryFileSystem& session, const RingOperation& operation) {
  const Place place{.parent = operation.parent, .name = operation.name};
  const auto opened = session.storage().open(session.asker(), open_request(place, operation.flags, operation.mode));
  if (!opened) {
    const auto found = session.storage().lookup(session.asker(), place.parent, place.name);
    return fail(refused_open(opened.error(), found && found->type == core::FileType::kSymlink));
  }
  try {
    return std::make_unique<stoa_file>(fs, opened->attr.id, opened->open, operation.flags).release();
  } catch (...) {
    session.storage().close(session.asker(), opened->open);
    throw;
  }
}

// What the layers below know or have to know of. Content that is buffered, and changes, are theirs.
std::optional<stoa_completion> answered_here(stoa_fs& fs, LibraryFileSystem& session, const RingOperation& operation) {
  stoa_completion done{.tag = operation.tag, .result = 0, .file = nullptr};
  stoa_file* const file = operation.file;
  switch (operation.work) {
    case RingWork::kRead:
      if (!session.storage().has_unsent(file->id)) return std::nullopt;
      done.result = c_number([&] { return read_at(*file, operation.offset, {operation.buffer, operation.bytes}); });
      return done;
    case RingWork::kWrite:
      done.result = c_number([&] { return write_at(*file, operation.offset, {operation.buffer, operation.bytes}); });
      return done;
    case RingWork::kSync:
      done.result = c_status([&]() -> Status {
        STOA_TRY(open, file->open(session));
        return session.storage().commit(session.asker(), file->id, open);
      });
      return done;
    case RingWork::kOpen:
      if ((operation.flags & (O_CREAT | O_TRUNC)) == 0) return std::nullopt;
      done.result = c_status([&]() -> Status {
        STOA_TRY(made, make_file(fs, session, operation));
        done.file = made;
        return {};
      });
      return done;
    case RingWork::kStat:
    case RingWork::kReadFile:
      break;
  }
  return std::nullopt;
}

}  // namespace

void start(stoa_ring& ring, RingOperation operation) {
  ring.completions->expect();
  const std::uint64_t tag = operation.tag;
  const auto end_at_once = [&](std::int64_t result) {
    ring.completions->add({.tag = tag, .result = result, .file = nullptr});
  };
  const int started = c_status([&]() -> Status {
    STOA_TRY(session, ring.fs.session());
    if (const auto done = answered_here(ring.fs, *session, operation)) {
      ring.completions->add(*done);
      return {};
    }
    if (operation.work == RingWork::kReadFile) session->storage().send_unsent();
    STOA_TRY(batch, message_of(*session, operation));
    const CallOptions& options = session->call_options();
    session->client().submit(batch, options, RingEnd(ring.fs, *session, ring.completions, std::move(operation)));
    return {};
  });
  if (started != 0) end_at_once(started);
}

}  // namespace stoa::native::lib
