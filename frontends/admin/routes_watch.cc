// Changes as they happen.
#include "core/api/journal_cursor.h"
#include "frontends/admin/error_reply.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

// The directory, and the cursor behind which to begin.
struct Wanted {
  core::FileId directory;
  std::uint64_t cursor;
  std::uint64_t oldest;  // the first cursor that nothing is missing behind
};

Result<Wanted> wanted(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path", "cursor"}));
  STOA_TRY(attr, query_path(service, request));
  if (attr.type != core::FileType::kDirectory) return fail(Cause::kPathNotDirectory, path_of_query(request));
  if (service.watch == nullptr) return fail(Cause::kNoWatch);
  core::Journal& journal = service.volume.journal();
  STOA_TRY(newest, journal.newest());
  STOA_TRY(oldest, journal.oldest());
  STOA_TRY(cursor, query_cursor(request, "cursor", newest));
  if (cursor > newest) return fail(Cause::kCursorAhead);
  return Wanted{attr.id, cursor, oldest - 1};
}

}  // namespace

Reply get_watch(Service& service, const Request& request) {
  const auto what = wanted(service, request);
  if (!what) return error_reply(what.error(), request.id);
  if (what->cursor < what->oldest) {
    const Error gone = fail(Cause::kCursorGone, core::encode_cursor(core::ShardId{}, what->oldest)).error();
    return error_reply(410, "gone", gone, request.id);
  }
  auto stream = service.watch->watch(what->directory, what->cursor);
  if (!stream) return error_reply(stream.error(), request.id);
  return {.content_type = "text/event-stream", .stream = *std::move(stream)};
}

}  // namespace stoa::admin
