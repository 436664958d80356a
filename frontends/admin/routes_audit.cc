// Audit: policies, and the recorded events.
#include <algorithm>
#include <ctime>
#include <span>
#include <vector>

#include "core/api/journal_cursor.h"
#include "frontends/admin/json_body.h"
#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

constexpr std::uint64_t kLinesMax = 10'000;

Result<core::AuditLog*> log_of(Service& service) {
  if (service.audit == nullptr) return fail(Cause::kNoAuditLog);
  return service.audit;
}

// "2026-11-22T10:00:00Z" or "2026-11-22".
Result<std::optional<Timestamp>> query_time(const Request& request, const std::string& name) {
  const auto it = request.query.find(name);
  if (it == request.query.end()) return std::optional<Timestamp>();
  std::tm utc{};
  const char* const text = it->second.c_str();
  const char* end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (end == nullptr) {
    utc = {};
    end = strptime(text, "%Y-%m-%d", &utc);
  }
  if (end == nullptr || *end != 0)
    return fail(Cause::kParameterForm, name, "a time such as 2026-11-22T10:00:00Z, or a day");
  return std::optional(Timestamp::from(timegm(&utc), 0));
}

// Refuses unknown words: with a typing error a search would find nothing, and so miss incidents.
Status known_words(const core::AuditQuery& query) {
  constexpr std::string_view kOperations[] = {
      "create",     "mkdir", "symlink", "mknod",   "write",      "remove", "rmdir", "delete",     "rename", "link",
      "attributes", "xattr", "quota",   "restore", "purge",      "read",   "list",  "lookup",     "admin",  "refused",
      "omitted",    "lost",  "begin",   "day",     "checkpoint", "expire", "cut",   "transferred"};
  constexpr std::string_view kProtocols[] = {"nfs", "s3", "native", "admin", "internal"};
  const auto check = [](const char* name, const std::optional<std::string>& word,
                        std::span<const std::string_view> known) -> Status {
    if (!word || std::ranges::find(known, *word) != known.end()) return {};
    std::string words;
    for (const std::string_view one : known) words.append(words.empty() ? "" : ", ").append(one);
    return fail(Cause::kParameterForm, name, "one of " + words + ", not '" + *word + "'");
  };
  STOA_CHECK_OK(check("operation", query.operation, kOperations));
  return check("protocol", query.protocol, kProtocols);
}

std::optional<std::string> query_text(const Request& request, const char* name) {
  const auto it = request.query.find(name);
  return it == request.query.end() ? std::optional<std::string>() : it->second;
}

std::string cursor_text(std::uint64_t sequence) {
  return core::encode_cursor(core::ShardId{}, sequence);
}

Json record_view(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return Json{{"operation", "damaged"}};
  json["cursor"] = cursor_text(json.value("sequence", std::uint64_t{0}));
  json.erase("sequence");
  json.erase("previous");
  json.erase("hash");
  return json;
}

Json class_names(core::AuditClasses classes) {
  Json names = Json::array();
  for (const auto& [one, name] : core::kAuditClassNames) {
    if ((classes & core::bit(one)) != 0) names.push_back(name);
  }
  return names;
}

JsonResult policy_view(Service& service, const Request& request, core::FileId directory) {
  Json json{{"set_on", nullptr}, {"classes", Json::array()}};
  put_bytes(json, "path", path_of_query(request));
  const auto registry = service.volume.registry().snapshot();
  STOA_TRY(above, service.volume.ns().ancestors(request.context(), {.id = directory}));
  const core::AuditPolicy* const policy =
      registry->audit() != nullptr ? registry->audit()->find(above.directories) : nullptr;
  if (policy == nullptr) return json;
  STOA_TRY(where, service.volume.ns().path_of(request.context(), {.id = policy->directory}));
  put_bytes(json, "set_on", where.path);
  json["classes"] = class_names(policy->classes);
  return json;
}

Result<core::FileId> directory_of(Service& service, const Request& request) {
  STOA_TRY(attr, query_path(service, request));
  if (attr.type != core::FileType::kDirectory) return fail(Cause::kPathNotDirectory, path_of_query(request));
  return attr.id;
}

}  // namespace

JsonResult query_audit(Service& service, const Request& request) {
  STOA_CHECK_OK(
      allow_query(request, {"path", "user", "operation", "protocol", "result", "from", "to", "limit", "after"}));
  STOA_TRY(log, log_of(service));
  core::AuditQuery query{.path = query_text(request, "path"),
                         .user = query_text(request, "user"),
                         .operation = query_text(request, "operation"),
                         .protocol = query_text(request, "protocol"),
                         .result = query_text(request, "result")};
  STOA_CHECK_OK(known_words(query));
  STOA_TRY(from, query_time(request, "from"));
  STOA_TRY(to, query_time(request, "to"));
  STOA_TRY(limit, query_number(request, "limit", query.limit, kLinesMax));
  STOA_TRY(after, query_cursor(request, "after", 0));
  if (limit == 0) return fail(Cause::kParameterForm, "limit", "at least 1");
  query.from = from;
  query.to = to;
  query.limit = static_cast<std::uint32_t>(limit);
  query.after = after;
  STOA_CHECK_OK(log->catch_up());
  STOA_TRY(found, log->query(query));
  Json records = Json::array();
  for (const std::string& line : found.lines) records.push_back(record_view(line));
  return Json{{"records", std::move(records)}, {"next", found.next ? Json(cursor_text(*found.next)) : Json()}};
}

JsonResult get_audit_policy(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(directory, directory_of(service, request));
  return policy_view(service, request, directory);
}

JsonResult list_audit_policies(Service& service, const Request& request) {
  const auto registry = service.volume.registry().snapshot();
  std::vector<core::AuditPolicy> policies;
  if (registry->audit() != nullptr) policies = registry->audit()->policies();
  std::ranges::sort(policies, {}, &core::AuditPolicy::directory);
  return page_by_directory(
      service, request, "policies", policies, &core::AuditPolicy::directory,
      [](const core::AuditPolicy& policy) { return Json{{"classes", class_names(policy.classes)}}; });
}

JsonResult set_audit_policy(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(log, log_of(service));
  STOA_TRY(body, JsonBody::parse(request.body));
  const auto names = body.texts("classes");
  core::AuditClasses classes = 0;
  for (const std::string& name : names.value_or(std::vector<std::string>{})) {
    const auto known = std::ranges::find(core::kAuditClassNames, name, [](const auto& one) { return one.second; });
    if (known == core::kAuditClassNames.end()) {
      body.refuse("classes",
                  "may hold write, delete, rename, attributes, read, list, denied and admin, not '" + name + "'");
      break;
    }
    classes = static_cast<core::AuditClasses>(classes | core::bit(known->first));
  }
  STOA_CHECK_OK(body.finish());
  if (!names) return fail(Cause::kMemberMissing, "classes");
  STOA_TRY(directory, directory_of(service, request));
  STOA_CHECK_OK(log->set_policy({directory, classes}));
  return policy_view(service, request, directory);
}

JsonResult remove_audit_policy(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(log, log_of(service));
  STOA_TRY(directory, directory_of(service, request));
  const Status removed = log->remove_policy(directory);
  if (!removed && removed.error().code == Errc::kNotFound) return fail(Cause::kNoAuditPolicy, path_of_query(request));
  STOA_CHECK_OK(removed);
  return Json();
}

JsonResult get_audit_report(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"day"}));
  STOA_TRY(log, log_of(service));
  STOA_CHECK_OK(log->catch_up());
  const auto day = request.query.find("day");
  const std::string which = day != request.query.end() ? day->second : time_text(wall_now()).substr(0, 10);
  STOA_TRY(text, log->report(which));
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(Cause::kAuditDayDamaged, which);
  return json;
}

JsonResult verify_audit(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(log, log_of(service));
  STOA_TRY(verdict, log->verify());
  return Json{{"records", verdict.records},
              {"days", verdict.days},
              {"ok", verdict.problem.empty()},
              {"problem", verdict.problem.empty() ? Json() : Json(verdict.problem)}};
}

void note_action(core::Volume& volume, const Request& request, const AdminAction& action) {
  if (!volume.registry().audited()) return;
  const auto registry = volume.registry().snapshot();
  if (registry->audit() == nullptr || !registry->audit()->any(core::AuditClass::kAdmin)) return;
  core::FileId directory = core::kRootId;
  std::string what(to_string(request.method));
  what.append(" ").append(request.path);
  if (const std::string path = path_of_query(request); !path.empty()) {
    what.append("?path=").append(path);
    if (const auto found = volume.ns().resolve_path(request.context(), {.path = path})) directory = found->attr.id;
  }
  if (!action.token.empty()) what.append(" by token ").append(action.token);
  const unsigned status = action.status;
  core::JournalNote note{.kind = core::ChangeKind::kAdmin, .id = directory, .name = what};
  if (status == 401 || status == 403) note.result = Errc::kAccess;
  if (status >= 400 && !note.result)
    note.result = status == 404 ? Errc::kNotFound : status < 500 ? Errc::kInvalid : Errc::kIo;
  (void)volume.journal().append(note, request.context());
}

}  // namespace stoa::admin
