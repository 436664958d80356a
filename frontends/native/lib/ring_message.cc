// How operations of a ring are asked for, and what the replies mean.
#include "frontends/native/lib/ring_message.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "frontends/native/lib/attributes.h"
#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/opening.h"
#include "frontends/native/storage/wire_values.h"

namespace stoa::native::lib {
namespace {

// A message runs on one thread of the server, and its replies come together: what many small operations save, few
// large ones would lose.
constexpr std::size_t kTogether = 64;
constexpr std::size_t kReadsTogether = 16;
constexpr std::size_t kBytesTogether = 128 * 1024;
static_assert(kTogether <= kOperationsMax && kReadsTogether * 3 <= kOperationsMax);

bool reads_content(const RingOperation& operation) {
  return operation.work == RingWork::kRead || operation.work == RingWork::kReadFile;
}

// Whether an open asks if the file may be read, too.
bool looks(const RingOperation& operation) {
  return (operation.flags & O_ACCMODE) != O_WRONLY;
}

std::int64_t copy_data(const RingOperation& operation, std::span<const std::byte> data) {
  const std::size_t length = std::min(data.size(), operation.bytes);
  if (length != 0) std::memcpy(operation.buffer, data.data(), length);
  return static_cast<std::int64_t>(length);
}

// By the operation `access` at this place.
Status may_read_too(const Replies& replies, std::size_t at) {
  STOA_TRY(access, replies.get<operations::access>(at));
  if ((access.granted & kMayRead) == 0) return fail(Errc::kAccess);
  return {};
}

// An open gets its number in `offset`.
Status add_operation(Batch& batch, LibraryFileSystem& session, RingOperation& operation) {
  const File parent = wire_file(operation.parent);
  switch (operation.work) {
    case RingWork::kRead: {
      STOA_TRY(number, operation.file->open(session));
      batch.add<operations::read>({.file = wire_file(operation.file->id),
                                   .open = session.leases().at_server(operation.file->id, number),
                                   .offset = operation.offset,
                                   .length = static_cast<U32>(operation.bytes)});
      return {};
    }
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
      return {};
    }
    case RingWork::kStat:
      batch.add<operations::lookup>({.parent = parent, .name = operation.name});
      return {};
    case RingWork::kReadFile: {
      const File found = result_of(batch.add<operations::lookup>({.parent = parent, .name = operation.name}));
      batch.add<operations::access>({.file = found, .wanted = kMayRead});
      batch.add<operations::read>({.file = found, .length = static_cast<U32>(operation.bytes)});
      return {};
    }
    case RingWork::kWrite:
    case RingWork::kSync:
      break;  // threads carry these out
  }
  return fail(Errc::kInvalid);
}

// A message under way. Its end is called once, perhaps by a thread of the client: it must not block.
class RingMessage {
 public:
  RingMessage(const RingPlace& place, std::vector<RingOperation> operations)
      : place_(place), operations_(std::move(operations)) {
    done_.reserve(operations_.size());
    firsts_.reserve(operations_.size() + 1);
  }

  Result<Batch> make_batch() {
    Batch batch;
    for (RingOperation& operation : operations_) {
      firsts_.push_back(batch.size());
      STOA_CHECK_OK(add_operation(batch, place_.session, operation));
    }
    firsts_.push_back(batch.size());
    return batch;
  }
  // One that has to wait at the server does not hold up others.
  CallOptions options() const {
    CallOptions options = place_.session.call_options();
    options.asks_once = operations_.size() > 1;
    return options;
  }

  void end(const Result<Replies>& replies) noexcept {
    if (!replies) return fail_all(negative_errno(replies.error()));
    const std::size_t run = answer(*replies);
    place_.completions->add(done_);
    if (run == operations_.size()) return;
    if (run == 0 && replies->size() == 0) return fail_from(0, negative_errno(Error{.code = Errc::kCorrupt}));
    ask_again(run, run_ends_waiting(*replies, run));
  }
  void fail_all(std::int64_t result) noexcept { fail_from(0, result); }

 private:
  void fail_from(std::size_t first, std::int64_t result) noexcept {
    for (std::size_t i = first; i < operations_.size(); ++i) place_.completions->add(operations_[i].ended(result));
  }

  // The server has told the operation to ask again.
  bool run_ends_waiting(const Replies& replies, std::size_t operation) const {
    if (operations_.size() == 1 || replies.size() <= firsts_[operation] || replies.size() > firsts_[operation + 1])
      return false;
    const WireStatus last = replies.status(replies.size() - 1);
    return last == WireStatus::recall_pending || last == WireStatus::grace;
  }

  // Returns how many operations it was: up to the first that was not run, or has to be asked for again.
  std::size_t answer(const Replies& replies) noexcept {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (firsts_[i] >= replies.size() || run_ends_waiting(replies, i)) return i;
      stoa_completion done = operations_[i].ended(-ENOMEM);
      done.result = c_number([&] { return result(operations_[i], replies, firsts_[i], done.file); });
      done_.push_back(done);
    }
    return operations_.size();
  }

  // Where one fails many may: the rest goes in halves, so that it takes few round trips in any case.
  void ask_again(std::size_t first, bool first_waits) noexcept {
    const std::size_t rest = first + (first_waits ? 1 : 0);
    const std::size_t middle = rest + (operations_.size() - rest + 1) / 2;
    send_some(first, rest);
    send_some(rest, middle);
    send_some(middle, operations_.size());
  }

  void send_some(std::size_t from, std::size_t to) noexcept {
    RingGroup group;
    for (std::size_t i = from; i < to; ++i) {
      try {
        group.add(operations_[i]);
      } catch (...) {
        place_.completions->add(operations_[i].ended(-ENOMEM));
      }
    }
    group.send(place_);
  }

  // Of one operation, whose part of the replies begins at `at`.
  Result<std::int64_t> result(const RingOperation& operation, const Replies& replies, std::size_t at,
                              stoa_file*& file) const {
    switch (operation.work) {
      case RingWork::kRead: {
        STOA_CHECK_OK(replies.get<operations::read>(at));
        return copy_data(operation, replies.data(at));
      }
      case RingWork::kOpen:
        return opened(operation, replies, at, file);
      case RingWork::kStat: {
        STOA_TRY(found, replies.get<operations::lookup>(at));
        STOA_TRY(attr, from_wire(found.attr));
        *operation.attributes = to_c(place_.session.storage().shown(attr));
        return 0;
      }
      case RingWork::kReadFile:
        return whole_file(operation, replies, at);
      case RingWork::kWrite:
      case RingWork::kSync:
        break;
    }
    return fail(Errc::kInvalid);
  }

  Result<std::int64_t> opened(const RingOperation& operation, const Replies& replies, std::size_t at,
                              stoa_file*& file) const {
    STOA_TRY(found, replies.get<operations::lookup>(at));
    auto reply = replies.get<operations::open>(at + 1);
    if (!reply) return fail(refused_open(reply.error(), found.attr.type == native::kSymlink));
    const OpenNumber open = operation.offset;
    try {
      const Status may = looks(operation) ? may_read_too(replies, at + 2) : Status{};
      if (!may) {
        place_.completions->give_up(open);
        return fail(may.error());
      }
      file = std::make_unique<stoa_file>(place_.fs, core::FileId{reply->attr.id}, open, operation.flags).release();
    } catch (...) {
      place_.completions->give_up(open);
      throw;
    }
    return 0;
  }

  static Result<std::int64_t> whole_file(const RingOperation& operation, const Replies& replies, std::size_t at) {
    STOA_TRY(found, replies.get<operations::lookup>(at));
    if (found.attr.type == native::kSymlink) return fail_errno(ELOOP, "a symbolic link");
    STOA_CHECK_OK(may_read_too(replies, at + 1));
    STOA_TRY(read, replies.get<operations::read>(at + 2));
    copy_data(operation, replies.data(at + 2));
    if (read.attr.size > operation.bytes) return -EOVERFLOW;
    return static_cast<std::int64_t>(read.attr.size);
  }

  const RingPlace place_;
  std::vector<RingOperation> operations_;
  std::vector<std::size_t> firsts_;  // where the part of each begins, and the end
  std::vector<stoa_completion> done_;
};

}  // namespace

Error refused_open(const Error& error, bool is_link) {
  const bool for_type = error.code == Errc::kWrongType || error.code == Errc::kInvalid;
  if (!for_type || !is_link) return error;
  return fail_errno(ELOOP, "a symbolic link").error();
}

// Opens change something: they go by themselves.
bool RingGroup::takes(const RingOperation& operation) const {
  if (operations_.empty()) return true;
  const RingOperation& first = operations_.front();
  if (operation.work == RingWork::kOpen || first.work == RingWork::kOpen) return false;
  const std::size_t most = reads_content(operation) || bytes_ != 0 ? kReadsTogether : kTogether;
  return operations_.size() < most && bytes_ + operation.bytes <= kBytesTogether;
}

void RingGroup::add(RingOperation operation) {
  operations_.push_back(std::move(operation));
  bytes_ += operations_.back().bytes;
}

void RingGroup::send(const RingPlace& place) noexcept {
  if (operations_.empty()) return;
  bytes_ = 0;
  std::shared_ptr<RingMessage> message;
  const int sent = c_status([&]() -> Status {
    message = std::make_shared<RingMessage>(place, operations_);
    operations_.clear();
    STOA_TRY(batch, message->make_batch());
    place.session.client().submit(batch, message->options(),
                                  [message](const Result<Replies>& replies) { message->end(replies); });
    return {};
  });
  if (sent == 0) return;
  if (message != nullptr) return message->fail_all(sent);
  for (const RingOperation& operation : operations_) place.completions->add(operation.ended(sent));
  operations_.clear();
}

}  // namespace stoa::native::lib
