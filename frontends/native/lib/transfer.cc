#include "frontends/native/lib/transfer.h"

#include <fcntl.h>

#include <cerrno>
#include <limits>

#include "frontends/native/lib/open_flags.h"

namespace stoa::native::lib {

Status check_range(std::uint64_t offset, std::uint64_t bytes) {
  constexpr std::uint64_t kOffsetMax = std::numeric_limits<std::int64_t>::max();
  if (offset > kOffsetMax || bytes > kOffsetMax - offset) return fail(Errc::kInvalid);
  return {};
}

Result<std::size_t> read_at(stoa_file& file, std::uint64_t offset, std::span<std::byte> into) {
  if (!file.reads()) return fail_errno(EBADF, "not open for reading");
  STOA_CHECK_OK(check_range(offset, into.size()));
  if (into.empty()) return std::size_t{0};
  STOA_TRY(session, file.fs.session());
  STOA_TRY(open, file.open(*session));
  std::size_t done = 0;
  while (done < into.size()) {
    const auto piece = into.subspan(done, std::min(into.size() - done, kPayloadBytesMax));
    const auto got = session->storage().read(session->asker(), file.id, open, offset + done, piece);
    // What there is counts; the next read tells the error.
    if (!got && done == 0) return fail(got.error());
    if (!got || *got == 0) break;
    done += *got;
  }
  return done;
}

Result<std::size_t> write_at(stoa_file& file, std::uint64_t offset, std::span<const std::byte> data) {
  if (!file.writes()) return fail_errno(EBADF, "not open for writing");
  STOA_CHECK_OK(check_range(offset, data.size()));
  if (data.empty()) return std::size_t{0};
  STOA_TRY(session, file.fs.session());
  STOA_TRY(open, file.open(*session));
  const bool durable = is_durable(file.flags);
  const bool appends = (file.flags & O_APPEND) != 0;
  std::size_t done = 0;
  while (done < data.size()) {
    const auto piece = data.subspan(done, std::min(data.size() - done, kPayloadBytesMax));
    const auto put =
        appends ? session->storage().append(session->asker(), file.id, open, piece, durable)
                : session->storage().write(session->asker(), file.id, open, offset + done, piece, {.durable = durable});
    if (!put && done == 0) return fail(put.error());
    if (!put || put->length == 0) break;
    done += put->length;
  }
  return done;
}

}  // namespace stoa::native::lib
