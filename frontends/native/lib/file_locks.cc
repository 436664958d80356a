#include "frontends/native/lib/file_locks.h"

#include <sys/file.h>

#include <cerrno>
#include <thread>

#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/transfer.h"

namespace stoa::native::lib {
namespace {

// Owners at the server are numbers of the session: opens have different ones, so both kinds of locks take theirs from
// them.
std::uint64_t range_owner(OpenNumber open) {
  return open << 1;
}
std::uint64_t whole_owner(OpenNumber open) {
  return open << 1 | 1;
}

Result<core::LockRange> range_of(std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) {
    STOA_CHECK_OK(check_range(offset, 0));
    return core::LockRange{.offset = offset};
  }
  STOA_CHECK_OK(check_range(offset, bytes));
  return core::LockRange{.offset = offset, .length = bytes};
}

// Asks until it has the lock; the server keeps its place among those that wait.
Status wait_for(LibraryFileSystem& session, const StorageLock& wanted, int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPauseMin{1}, kPauseMax{100};
  const Clock::time_point end =
      timeout_ms < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (auto pause = kPauseMin;; pause = std::min(pause * 2, kPauseMax)) {
    STOA_TRY(in_the_way, session.storage().lock(session.asker(), wanted, timeout_ms != 0));
    if (!in_the_way) return {};
    const auto now = Clock::now();
    if (now >= end) return fail_errno(EAGAIN, "locked");
    std::this_thread::sleep_for(end - now < pause ? end - now : Clock::duration(pause));
  }
}

}  // namespace

void give_up_locks(LibraryFileSystem& session, stoa_file& file) {
  const OpenNumber open = file.open_here();
  if (file.range_locks) (void)session.storage().unlock(session.asker(), {.file = file.id, .owner = range_owner(open)});
  if (file.whole_lock) (void)session.storage().unlock(session.asker(), {.file = file.id, .owner = whole_owner(open)});
}

}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int stoa_lock_set(stoa_file* file, const stoa_lock* lock, int timeout_ms) {
  return c_status([&]() -> Status {
    const bool exclusive = lock->exclusive != 0;
    if (exclusive ? !file->writes() : !file->reads()) return fail_errno(EBADF, "not open for that lock");
    STOA_TRY(range, range_of(lock->offset, lock->bytes));
    STOA_TRY(session, file->fs.session());
    STOA_TRY(open, file->open(*session));
    file->range_locks = true;
    return wait_for(*session, {.file = file->id, .owner = range_owner(open), .range = range, .exclusive = exclusive},
                    timeout_ms);
  });
}

int stoa_lock_test(stoa_file* file, const stoa_lock* lock, stoa_lock* in_the_way) {
  return static_cast<int>(c_number([&]() -> Result<int> {
    STOA_TRY(range, range_of(lock->offset, lock->bytes));
    STOA_TRY(session, file->fs.session());
    STOA_TRY(open, file->open(*session));
    STOA_TRY(found,
             session->storage().test_lock(
                 session->asker(),
                 {.file = file->id, .owner = range_owner(open), .range = range, .exclusive = lock->exclusive != 0}));
    if (!found) return 0;
    const bool to_end = found->range.length == core::LockRange::kToEnd;
    *in_the_way = {.offset = found->range.offset,
                   .bytes = to_end ? 0 : found->range.length,
                   .exclusive = found->exclusive ? 1u : 0u,
                   .spare = 0};
    return 1;
  }));
}

int stoa_lock_clear(stoa_file* file, uint64_t offset, uint64_t bytes) {
  return c_status([&]() -> Status {
    STOA_TRY(range, range_of(offset, bytes));
    STOA_TRY(session, file->fs.session());
    STOA_TRY(open, file->open(*session));
    return session->storage().unlock(session->asker(), {.file = file->id, .owner = range_owner(open), .range = range});
  });
}

int stoa_flock(stoa_file* file, int operation) {
  return c_status([&]() -> Status {
    const int kind = operation & ~LOCK_NB;
    if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN) return fail(Errc::kInvalid);
    STOA_TRY(session, file->fs.session());
    STOA_TRY(open, file->open(*session));
    const native::StorageLock whole{.file = file->id, .owner = whole_owner(open), .exclusive = kind == LOCK_EX};
    if (kind == LOCK_UN) return session->storage().unlock(session->asker(), whole);
    file->whole_lock = true;
    return wait_for(*session, whole, (operation & LOCK_NB) != 0 ? 0 : -1);
  });
}
