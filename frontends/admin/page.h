// Paging of long lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "frontends/admin/access.h"
#include "frontends/admin/query.h"
#include "frontends/admin/views.h"

namespace stoa::admin {

constexpr std::size_t kPageMax = 1000;

// The parameter `limit`: from 1 to kPageMax, which is the default. kInvalid.
inline Result<std::size_t> page_limit(const Request& request) {
  STOA_TRY(limit, query_number(request, "limit", kPageMax, kPageMax));
  if (limit == 0) return fail(Cause::kParameterForm, "limit", "at least 1");
  return limit;
}

// At most `limit` from `first` on, each as `show` has it. When there are more, `place` of the last one shown becomes
// `after` of the next page.
template <class It, class Show, class Place>
Json page(std::string member, It first, It last, std::size_t limit, Show show, Place place) {
  Json list = Json::array();
  It at = first;
  for (; at != last && list.size() < limit; ++at) list.push_back(show(*at));
  Json json{{std::move(member), std::move(list)}, {"truncated", at != last}};
  if (at != last) json["next_after"] = place(*std::prev(at));
  return json;
}

// A page of records that are in the order of their names and unique by them; parameters `after`, a name, and `limit`.
// kInvalid.
template <class Records, class Show>
Result<Json> page_by_name(const Request& request, std::string member, const Records& records, Show show) {
  STOA_CHECK_OK(allow_query(request, {"after", "limit"}));
  STOA_TRY(limit, page_limit(request));
  const auto name = [](const auto& record) { return record.name; };
  const auto after = request.query.find("after");
  const auto first =
      after == request.query.end() ? records.begin() : std::ranges::upper_bound(records, after->second, {}, name);
  return page(std::move(member), first, records.end(), limit, show, name);
}

// A page of settings of directories: `records` in the order of directory numbers, which `directory` returns.
// Parameters: `after`, the number of the last one visited, and `limit`. Directories that are gone, or outside an
// owner's directory, are left out, so a page may have fewer than `limit`. `show` makes the JSON of a record; its path
// is added. kInvalid.
template <class Records, class Directory, class Show>
Result<Json> page_by_directory(Service& service, const Request& request, std::string member, const Records& records,
                               Directory directory, Show show) {
  STOA_CHECK_OK(allow_query(request, {"after", "limit"}));
  STOA_TRY(limit, page_limit(request));
  STOA_TRY(after, query_number(request, "after", 0, std::numeric_limits<std::uint64_t>::max()));
  auto at = std::ranges::upper_bound(records, core::FileId{after}, {}, directory);
  Json list = Json::array();
  for (std::size_t looks = 0; at != records.end() && looks < limit; ++at, ++looks) {
    const core::FileId dir = std::invoke(directory, *at);
    if (request.caller->role == core::Role::kOwner && !require_within(service, request, dir)) continue;
    const auto where = service.volume.ns().path_of(request.context(), {.id = dir});
    if (!where) continue;
    Json json = show(*at);
    put_bytes(json, "path", where->path);
    list.push_back(std::move(json));
  }
  Json json{{std::move(member), std::move(list)}, {"truncated", at != records.end()}};
  if (at != records.end())
    json["next_after"] = std::to_string(static_cast<std::uint64_t>(std::invoke(directory, *std::prev(at))));
  return json;
}

}  // namespace stoa::admin
