#include "frontends/admin/query.h"

#include <algorithm>
#include <charconv>

#include "core/api/journal_cursor.h"

namespace stoa::admin {

Status allow_query(const Request& request, std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(names, name) != names.end()) continue;
    std::string known;
    for (const std::string_view one : names) known.append(known.empty() ? "" : ", ").append(one);
    return fail(Cause::kParameterUnknown, name, known);
  }
  return {};
}

Result<std::uint64_t> query_number(const Request& request, std::string_view name, std::uint64_t fallback,
                                   std::uint64_t max) {
  const auto it = request.query.find(std::string(name));
  if (it == request.query.end()) return fallback;
  std::uint64_t number = 0;
  const std::string& text = it->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || number > max) {
    return fail(Cause::kParameterForm, name, "a whole number from 0 to " + std::to_string(max));
  }
  return number;
}

Result<std::uint64_t> query_cursor(const Request& request, std::string_view name, std::uint64_t fallback) {
  const auto it = request.query.find(std::string(name));
  if (it == request.query.end()) return fallback;
  auto cursor = core::decode_cursor(core::ShardId{}, it->second);
  if (!cursor) return fail(Cause::kParameterForm, name, "a cursor that was given out here");
  return cursor;
}

Result<bool> query_flag(const Request& request, std::string_view name) {
  const auto it = request.query.find(std::string(name));
  if (it == request.query.end() || it->second == "false") return false;
  if (it->second == "true") return true;
  return fail(Cause::kParameterForm, name, "true or false");
}

std::string path_of_query(const Request& request) {
  const auto it = request.query.find("path");
  return it == request.query.end() ? "" : it->second;
}

namespace {
Result<core::Attributes> resolve(Service& service, const Request& request, const std::string& path) {
  STOA_TRY(found, service.volume.ns().resolve_path(request.context(), {.path = path}));
  return found.attr;
}
}  // namespace

Result<core::Attributes> query_path(Service& service, const Request& request) {
  const auto it = request.query.find("path");
  if (it == request.query.end()) return fail(Cause::kParameterMissing, "path");
  auto resolved = request.place ? *request.place : resolve(service, request, it->second);
  if (!resolved && resolved.error().code == Errc::kNotFound) return fail(Cause::kPathUnknown, it->second);
  if (!resolved && resolved.error().code == Errc::kNotDirectory) return fail(Cause::kPathThroughFile, it->second);
  return resolved;
}

}  // namespace stoa::admin
