// Changes as they happen.
#include "core/api/journal_cursor.h"
#include "frontends/admin/http_status.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

Reply refuse(const Request& request, unsigned status, std::string_view code, const std::string& message) {
  const Json json{{"error", {{"code", code}, {"message", message}, {"request_id", std::to_string(request.id)}}}};
  return {.status = status, .body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

Reply refuse(const Request& request, const Error& error) {
  return refuse(request, http_status(error.code), to_string(error.code),
                error.detail.empty() ? describe(error) : error.detail);
}

// The directory, and the cursor behind which to begin.
struct Wanted {
  core::FileId directory;
  std::uint64_t cursor;
  std::uint64_t oldest;  // the first cursor that nothing is missing behind
};

Result<Wanted> wanted(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path", "cursor"}));
  STOA_TRY(attr, query_path(service, request));
  if (attr.type != core::FileType::kDirectory)
    return fail(Errc::kNotDirectory,
                "'" + path_of_query(request) + "' is not a directory; watch the one that it is in");
  if (service.watch == nullptr) return fail(Errc::kNotSupported, "nothing can be watched here");
  core::Journal& journal = service.volume.journal();
  STOA_TRY(newest, journal.newest());
  STOA_TRY(oldest, journal.oldest());
  STOA_TRY(cursor, query_cursor(request, "cursor", newest));
  if (cursor > newest) return fail(Errc::kInvalid, "the journal has not come as far as this cursor");
  return Wanted{attr.id, cursor, oldest - 1};
}

}  // namespace

Reply get_watch(Service& service, const Request& request) {
  const auto what = wanted(service, request);
  if (!what) return refuse(request, what.error());
  if (what->cursor < what->oldest) {
    return refuse(request, 410, "gone",
                  "the journal no longer has what came behind this cursor; the oldest cursor is " +
                      core::encode_cursor(core::ShardId{}, what->oldest));
  }
  auto stream = service.watch->watch(what->directory, what->cursor);
  if (!stream) return refuse(request, stream.error());
  return {.content_type = "text/event-stream", .stream = *std::move(stream)};
}

}  // namespace stoa::admin
