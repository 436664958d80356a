#include "frontends/admin/console_files.h"

#include <algorithm>

#include "frontends/admin/service.h"

namespace stoa::admin {
namespace {

// Nothing from elsewhere, no inline script or style, in no frame: a page that takes a token must be our own.
constexpr const char* kPolicy =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// RFC 9110 13.1.2: a list of tags, or *; compared weakly.
bool has_it(std::string_view if_none_match, std::string_view etag) {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

}  // namespace

Reply get_console(Service& service, const Request& request) {
  const auto file = std::ranges::find(service.console, request.path, &ConsoleFile::path);
  if (file == service.console.end())
    return {.status = 404, .content_type = "text/plain", .body = "There is no such file in the console.\n"};
  Reply reply{.status = 200, .content_type = std::string(file->content_type)};
  reply.headers = {{"Cache-Control", file->immutable ? "public, max-age=31536000, immutable" : "no-cache"},
                   {"ETag", std::string(file->etag)},
                   {"Content-Security-Policy", kPolicy},
                   {"X-Content-Type-Options", "nosniff"},
                   {"Referrer-Policy", "no-referrer"}};
  if (has_it(request.if_none_match, file->etag)) {
    reply.status = 304;
    reply.content_type.clear();
    return reply;
  }
  if (file->gzip) reply.headers.emplace_back("Content-Encoding", "gzip");
  reply.body = std::string(file->bytes);
  return reply;
}

}  // namespace stoa::admin
