// What becomes of operations that are submitted: a message, or work for a thread.
#include <fcntl.h>

#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/opening.h"
#include "frontends/native/lib/ring_message.h"
#include "frontends/native/lib/transfer.h"

namespace stoa::native::lib {
namespace {

Result<stoa_file*> make_file(const RingPlace& place, const RingOperation& operation) {
  LibraryFileSystem& session = place.session;
  const Place at{.parent = operation.parent, .name = operation.name};
  const auto opened = session.storage().open(session.asker(), open_request(at, operation.flags, operation.mode));
  if (!opened) {
    const auto found = session.storage().lookup(session.asker(), at.parent, at.name);
    return fail(refused_open(opened.error(), found && found->type == core::FileType::kSymlink));
  }
  try {
    return std::make_unique<stoa_file>(place.fs, opened->attr.id, opened->open, operation.flags).release();
  } catch (...) {
    session.storage().close(session.asker(), opened->open);
    throw;
  }
}

// Content that is buffered, and changes, are for the layers below, which may wait for the server.
bool may_block(const RingPlace& place, const RingOrder& order, const RingOperation& operation) {
  switch (operation.work) {
    case RingWork::kWrite:
    case RingWork::kSync:
      return true;
    case RingWork::kOpen:
      return (operation.flags & (O_CREAT | O_TRUNC)) != 0;
    case RingWork::kRead: {
      const stoa_file& file = *operation.file;
      return order.is_busy(file.id) || place.session.storage().has_unsent(file.id) ||
             place.session.leases().is_local(file.open_here());
    }
    case RingWork::kReadFile:
      return place.session.storage().unsent_bytes() != 0;
    case RingWork::kStat:
      return false;
  }
  return true;
}

// By a thread, which may wait.
void carry_out(const RingPlace& place, RingOperation& operation) noexcept {
  LibraryFileSystem& session = place.session;
  stoa_file* const file = operation.file;
  stoa_file* made = nullptr;
  bool by_message = false;
  const std::int64_t result = c_number([&]() -> Result<std::int64_t> {
    switch (operation.work) {
      case RingWork::kRead: {
        by_message = !session.storage().has_unsent(file->id);
        if (by_message) return 0;
        STOA_TRY(got, read_at(*file, operation.offset, {operation.buffer, operation.bytes}));
        return static_cast<std::int64_t>(got);
      }
      case RingWork::kWrite: {
        STOA_TRY(taken, write_at(*file, operation.offset, {operation.buffer, operation.bytes}));
        return static_cast<std::int64_t>(taken);
      }
      case RingWork::kSync: {
        STOA_TRY(open, file->open(session));
        STOA_CHECK_OK(session.storage().commit(session.asker(), file->id, open));
        return 0;
      }
      case RingWork::kOpen: {
        STOA_TRY(opened, make_file(place, operation));
        made = opened;
        return 0;
      }
      case RingWork::kReadFile:
        session.storage().send_unsent();
        by_message = true;
        return 0;
      case RingWork::kStat:
        break;
    }
    return fail(Errc::kInvalid);
  });
  if (!by_message) return place.completions->add(operation.ended(result, made));
  RingGroup alone;
  const int added = c_status([&]() -> Status {
    alone.add(operation);
    return {};
  });
  if (added != 0) return place.completions->add(operation.ended(added));
  alone.send(place);
}

void start(const RingPlace& place, RingOrder& order, RingOperation& operation, RingGroup& group) {
  if (may_block(place, order, operation)) {
    return order.add(place.session.workers(), operation, [place](RingOperation& one) { carry_out(place, one); });
  }
  if (!group.takes(operation)) group.send(place);
  group.add(operation);
}

void close_given_up(const RingPlace& place) {
  std::vector<OpenNumber> opens = place.completions->take_given_up();
  if (opens.empty()) return;
  const std::function<void()> close = [place, opens = std::move(opens)] {
    for (const OpenNumber open : opens) place.session.storage().close(place.session.asker(), open);
  };
  if (!place.session.workers().post(close)) close();
}

}  // namespace

void start_prepared(stoa_ring& ring) {
  const auto session = ring.fs.session();
  std::vector<RingOperation>& operations = ring.prepared;
  if (session) close_given_up({ring.fs, **session, ring.completions});
  ring.completions->expect(operations.size());
  RingGroup group;
  for (RingOperation& one : operations) {
    const int started = c_status([&]() -> Status {
      if (!session) return fail(session.error());
      start({ring.fs, **session, ring.completions}, *ring.order, one, group);
      return {};
    });
    if (started != 0) ring.completions->add(one.ended(started));
  }
  if (session) group.send({ring.fs, **session, ring.completions});
  operations.clear();
}

}  // namespace stoa::native::lib
