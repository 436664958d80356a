#include <limits>

#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

struct Page {
  std::uint64_t cookie;
  std::uint32_t limit;
};

Result<Page> read_page(const Request& request) {
  STOA_TRY(cookie, query_number(request, "cookie", 0, std::numeric_limits<std::uint64_t>::max()));
  STOA_TRY(limit, page_limit(request));
  return Page{cookie, static_cast<std::uint32_t>(limit)};
}

Result<core::ReaddirReply> read_entries(Service& service, const Request& request, core::FileId dir, const Page& page) {
  return service.volume.ns().readdir(
      request.context(), {.dir = dir, .cookie = page.cookie, .entries_max = page.limit, .want_attributes = true});
}

void put_end(Json& json, const core::ReaddirReply& reply) {
  json["end"] = reply.end;
  if (!reply.entries.empty()) json["next_cookie"] = std::to_string(reply.entries.back().cookie);
}

}  // namespace

JsonResult list_directory(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path", "cookie", "limit"}));
  STOA_TRY(page, read_page(request));
  STOA_TRY(attr, query_path(service, request));
  if (attr.type != core::FileType::kDirectory) return fail(Cause::kPathNotDirectory, path_of_query(request));
  STOA_TRY(reply, read_entries(service, request, attr.id, page));
  Json list = Json::array();
  for (const core::DirectoryEntry& entry : reply.entries) {
    if (entry.name == "." || entry.name == "..") continue;
    Json json = entry.attr ? view(*entry.attr)
                           : Json{{"id", std::to_string(static_cast<std::uint64_t>(entry.id))},
                                  {"type", to_string(entry.type)}};
    put_bytes(json, "name", entry.name);
    list.push_back(std::move(json));
  }
  Json json{{"entries", std::move(list)}};
  put_bytes(json, "path", path_of_query(request));
  put_end(json, reply);
  return json;
}

JsonResult get_stat(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(attr, query_path(service, request));
  Json json = view(attr);
  put_bytes(json, "path", path_of_query(request));
  if (attr.type == core::FileType::kSymlink) {
    STOA_TRY(link, service.volume.ns().readlink(request.context(), {.id = attr.id}));
    put_bytes(json, "target", link.target);
  }
  return json;
}

JsonResult get_usage(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path", "children", "cookie", "limit"}));
  STOA_TRY(page, read_page(request));
  STOA_TRY(children, query_flag(request, "children"));
  STOA_TRY(attr, query_path(service, request));
  Json json;
  put_bytes(json, "path", path_of_query(request));
  if (attr.type != core::FileType::kDirectory) {
    json["usage"] = view(core::Usage{.bytes = static_cast<std::int64_t>(attr.size), .files = 1});
    json["limits"] = view(core::QuotaLimits{});
    return json;
  }
  STOA_TRY(total, service.volume.ns().usage(request.context(), {.dir = attr.id}));
  json["usage"] = view(total.usage);
  json["usage_counted"] = view(total.counted);
  json["usage_by_class"] = view(total.by_class);
  json["limits"] = view(total.limits);
  if (!children) return json;

  STOA_TRY(reply, read_entries(service, request, attr.id, page));
  Json list = Json::array();
  for (const core::DirectoryEntry& entry : reply.entries) {
    if (entry.type != core::FileType::kDirectory || entry.name == "." || entry.name == "..") continue;
    const auto below = service.volume.ns().usage(request.context(), {.dir = entry.id});
    if (!below && below.error().code == Errc::kStale) continue;  // removed since it was listed
    if (!below) return fail(below.error());
    Json child{{"usage", view(below->usage)}, {"limits", view(below->limits)}};
    put_bytes(child, "name", entry.name);
    list.push_back(std::move(child));
  }
  json["children"] = std::move(list);
  put_end(json, reply);
  return json;
}

}  // namespace stoa::admin
