#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "frontends/admin/json_body.h"
#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

constexpr std::size_t kPagesMax = 20;  // looked through for one answer

// The subject of the query: all below a directory, its new children, or a user or group in it.
struct Subject {
  core::FileId dir = core::kNoFile;
  core::QuotaOf of = core::QuotaOf::kDirectory;
  std::uint32_t id = 0;
  bool is_owner() const { return of == core::QuotaOf::kUser || of == core::QuotaOf::kGroup; }
};

Result<core::FileId> directory_of(Service& service, const Request& request) {
  STOA_TRY(attr, query_path(service, request));
  if (attr.type != core::FileType::kDirectory) return fail(Cause::kPathNotDirectory, path_of_query(request));
  return attr.id;
}

std::optional<std::uint32_t> number_of(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

Result<Subject> subject_of(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path", "user", "group", "children"}));
  STOA_TRY(children, query_flag(request, "children"));
  const auto user = request.query.find("user");
  const auto group = request.query.find("group");
  const bool has_user = user != request.query.end(), has_group = group != request.query.end();
  if (int{children} + int{has_user} + int{has_group} > 1)
    return fail(Cause::kParameterChoice, "'user', 'group' and 'children'");
  Subject subject;
  const auto snapshot = service.volume.registry().snapshot();
  if (children) subject.of = core::QuotaOf::kChildren;
  if (has_user) {
    subject.of = core::QuotaOf::kUser;
    const core::User* const known = snapshot->find_user(user->second);
    const auto uid = known != nullptr ? std::optional(known->uid) : number_of(user->second);
    if (!uid) return fail(Cause::kNameUnknown, "user", user->second);
    subject.id = *uid;
  }
  if (has_group) {
    subject.of = core::QuotaOf::kGroup;
    const core::Group* const known = snapshot->find_group(group->second);
    const auto gid = known != nullptr ? std::optional(known->gid) : number_of(group->second);
    if (!gid) return fail(Cause::kNameUnknown, "group", group->second);
    subject.id = *gid;
  }
  STOA_TRY(dir, directory_of(service, request));
  subject.dir = dir;
  return subject;
}

// The limits of a directory may be set by owners of a directory above it.
Status require_setter(Service& service, const Request& request, const Subject& subject) {
  return subject.of == core::QuotaOf::kDirectory ? require_below(service, request, subject.dir) : Status{};
}

void put_owner(Json& json, core::QuotaOf of, std::uint32_t id, const core::RegistrySnapshot& snapshot) {
  if (of == core::QuotaOf::kUser) {
    const core::User* const user = snapshot.find_user_by_uid(id);
    json["uid"] = id;
    json["user"] = user != nullptr ? Json(user->name) : Json();
  } else {
    const core::Group* const group = snapshot.find_group_by_gid(id);
    json["gid"] = id;
    json["group"] = group != nullptr ? Json(group->name) : Json();
  }
}

// null: usage of users and groups is exact.
void put_counting(Json& json, const std::optional<core::OwnerCountProgress>& counting) {
  json["counting"] = counting ? Json{{"looked_at", counting->looked_at}, {"in_all", counting->in_all}} : Json();
}

Json view_with_classes(const core::QuotaLimits& limits) {
  Json json = view(limits);
  Json count = Json::array();
  for (const auto& [name, of] : kUsageClassNames) {
    if (!limits.excluded.has(of)) count.push_back(name);
  }
  json["count"] = std::move(count);
  return json;
}

// Absent: not set. Classes not in the list are excluded.
std::optional<core::ExcludedClasses> classes_of(JsonBody& body) {
  const auto names = body.texts("count");
  if (!names) return std::nullopt;
  core::ExcludedClasses excluded = core::kAllButLive;
  for (const std::string& name : *names) {
    const auto known = std::ranges::find(kUsageClassNames, name, [](const auto& one) { return one.first; });
    if (known == kUsageClassNames.end()) {
      body.refuse("count", "names '" + name + "', which is not 'recycled', 'open_but_deleted' or 'multipart'");
    } else {
      excluded.set(known->second, false);
    }
  }
  return excluded;
}

void put_usage(Json& json, const core::Usage& usage, const core::Usage& counted, const core::UsageByClass& by_class) {
  json["usage"] = view(usage);
  json["usage_counted"] = view(counted);
  json["usage_by_class"] = view(by_class);
}

void put_directory(Json& json, const core::QuotaLimits& limits, const core::QuotaLimits& child_limits,
                   bool counts_owners) {
  json["limits"] = view_with_classes(limits);
  json["children"] = child_limits.says_anything() ? view_with_classes(child_limits) : Json();
  json["counts_owners"] = counts_owners;
}

// The classes of a directory's usage, and whether they count in its quotas.
Result<Json> counted_view(Service& service, const Request& request, core::FileId dir,
                          const core::ExcludedClasses& excluded) {
  STOA_TRY(kept, service.volume.ns().recycle_status(request.context(), {dir}));
  const bool keeps = kept.policy && kept.policy->enabled;
  // The bin of a directory above receives this directory's deletions.
  const bool stays = keeps && kept.policy->counted && kept.bin_of == dir;
  return Json{{"live", true},
              {"open_but_deleted", !excluded.has(core::UsageClass::kOrphans)},
              {"recycled", excluded.has(core::UsageClass::kRecycled) ? Json(false)
                           : keeps                                   ? Json(stays)
                                                                     : Json()},
              {"multipart", !excluded.has(core::UsageClass::kMultipart)}};
}

Result<Json> quota_view(Service& service, const Request& request, const Subject& subject) {
  const bool owner = subject.is_owner();
  STOA_TRY(reply, service.volume.ns().usage(
                      request.context(),
                      {.dir = subject.dir, .of = owner ? subject.of : core::QuotaOf::kDirectory, .id = subject.id}));
  Json json{{"limits", view(reply.limits)}, {"over_soft_since", view(reply.since)}};
  put_usage(json, reply.usage, reply.counted, reply.by_class);
  put_bytes(json, "path", path_of_query(request));
  STOA_TRY(counted, counted_view(service, request, subject.dir, reply.excluded));
  json["counted"] = std::move(counted);
  put_counting(json, reply.counting);
  if (owner) {
    put_owner(json, subject.of, subject.id, *service.volume.registry().snapshot());
    return json;
  }
  put_directory(json, reply.limits, reply.child_limits, reply.counts_owners);
  return json;
}

Result<core::QuotaLimits> limits_of(Service& service, const Request& request, const Subject& subject) {
  STOA_TRY(reply, service.volume.ns().usage(request.context(),
                                            {.dir = subject.dir,
                                             .of = subject.is_owner() ? subject.of : core::QuotaOf::kDirectory,
                                             .id = subject.id}));
  return subject.of == core::QuotaOf::kChildren ? reply.child_limits : reply.limits;
}

std::optional<std::uint64_t> limit_of(JsonBody& body, std::string_view name) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return body.is_null(name) ? std::nullopt : body.number(name, kMost);
}

// Whether at least this percentage of a hard limit is used, or a soft one is exceeded.
template <class Record>
bool is_filled(const Record& record, std::uint64_t percent) {
  const auto filled = [&](std::uint64_t used, const std::optional<std::uint64_t>& limit) {
    return limit && static_cast<double>(used) * 100 >= static_cast<double>(*limit) * static_cast<double>(percent);
  };
  const core::Usage& used = record.counted;
  const auto files = static_cast<std::uint64_t>(used.files + used.directories);
  return record.since != core::SoftExcess{} || filled(core::bytes_of(used), record.limits.bytes) ||
         filled(files, record.limits.files);
}

Json record_view(const core::QuotaRecord& record) {
  Json json{{"directory_id", std::to_string(static_cast<std::uint64_t>(record.dir))},
            {"over_soft_since", view(record.since)}};
  put_usage(json, record.usage, record.counted, record.by_class);
  put_bytes(json, "path", record.path);
  put_directory(json, record.limits, record.child_limits, record.counts_owners);
  put_counting(json, record.counting);
  return json;
}

Json owner_view(const core::OwnerQuota& owner, const core::RegistrySnapshot& snapshot) {
  Json json{{"limits", view(owner.limits)}, {"over_soft_since", view(owner.since)}};
  put_usage(json, owner.usage, owner.counted, owner.by_class);
  put_owner(json, owner.of, owner.id, snapshot);
  return json;
}

using OwnerKey = std::pair<core::QuotaOf, std::uint32_t>;
std::string text_of(const OwnerKey& owner) {
  return (owner.first == core::QuotaOf::kUser ? "user:" : "group:") + std::to_string(owner.second);
}
std::optional<OwnerKey> owner_of(const std::string& text) {
  const bool user = text.starts_with("user:"), group = text.starts_with("group:");
  const auto id = user || group ? number_of(text.substr(text.find(':') + 1)) : std::nullopt;
  if (!id) return std::nullopt;
  return OwnerKey{user ? core::QuotaOf::kUser : core::QuotaOf::kGroup, *id};
}

// Quotas of directories: all that the caller may see; or those filled to this percentage, each before the matching ones
// of users and groups in it. One answer reads a bounded number of them, with no lock held between pages.
class QuotaList {
 public:
  QuotaList(Service& service, const Request& request, std::uint64_t percent, std::size_t most)
      : service_(service),
        request_(request),
        percent_(percent),
        most_(most),
        snapshot_(service.volume.registry().snapshot()) {}

  // `after`: "DIRECTORY"; of filled ones also "DIRECTORY/" before the first of its owners, and "DIRECTORY/user:7".
  Result<Json> from(const std::string& after) {
    STOA_CHECK_OK(go_to(after));
    bool more = true;
    if (in_owners_) {
      const auto path = service_.volume.ns().path_of(request_.context(), {.id = dir_});
      STOA_TRY(done, path && may_see(dir_) ? add_owners(path->path) : Result<bool>(true));  // it may be gone
      if (!done) return answer(true);
      in_owners_ = false;
    }
    while (more) {
      if (list_.size() == most_) return answer(true);
      const std::size_t wanted = percent_ == 0 && !is_owner() ? most_ - list_.size() : kPageMax;
      STOA_TRY(page, service_.volume.ns().list_quotas(request_.context(),
                                                      {.after = dir_, .limit = static_cast<std::uint32_t>(wanted)}));
      more = page.truncated && !page.quotas.empty();
      for (const core::QuotaRecord& record : page.quotas) {
        if (!may_look()) return answer(true);
        dir_ = record.dir;
        if (!may_see(dir_)) continue;
        if (percent_ == 0 || is_filled(record, percent_)) list_.push_back(record_view(record));
        // While they are being counted, their limits refuse nothing.
        if (percent_ == 0 || !record.counts_owners || record.counting) continue;
        STOA_TRY(done, add_owners(record.path));
        if (!done) return answer(true);
      }
    }
    return answer(false);
  }

 private:
  static constexpr std::size_t kLooksMax = kPageMax * kPagesMax;

  bool is_owner() const { return request_.caller->role == core::Role::kOwner; }
  bool may_see(core::FileId dir) const { return !is_owner() || require_within(service_, request_, dir); }
  Status go_to(const std::string& after) {
    const std::size_t slash = std::min(after.find('/'), after.size());
    std::uint64_t dir = 0;
    const auto [end, error] = std::from_chars(after.data(), after.data() + slash, dir);
    const bool good = error == std::errc{} && end == after.data() + slash;
    in_owners_ = slash != after.size();
    if (in_owners_ && slash + 1 != after.size()) owner_ = owner_of(after.substr(slash + 1));
    if (!good || (in_owners_ && percent_ == 0) || (in_owners_ && slash + 1 != after.size() && !owner_))
      return fail(Cause::kParameterForm, "after", "the 'next_after' of the page before");
    dir_ = core::FileId{dir};
    return {};
  }
  bool may_look() {
    if (list_.size() == most_ || looks_ == kLooksMax) return false;
    ++looks_;
    return true;
  }
  // From the place on. False: not all were looked at.
  Result<bool> add_owners(const std::string& path) {
    for (bool more = true; more;) {
      const auto page =
          service_.volume.ns().list_owner_quotas(request_.context(), {.dir = dir_, .after = owner_, .limit = kPageMax});
      if (!page) {
        // It is gone, or they are not counted any more.
        const Errc why = page.error().code;
        if (why == Errc::kNotFound || why == Errc::kStale || why == Errc::kNotSupported || why == Errc::kNotDirectory)
          break;
        return fail(page.error());
      }
      for (const core::OwnerQuota& owner : page->owners) {
        if (!may_look()) {
          in_owners_ = true;
          return false;
        }
        owner_ = {owner.of, owner.id};
        if (!is_filled(owner, percent_)) continue;
        list_.push_back(owner_view(owner, *snapshot_));
        list_.back()["directory_id"] = std::to_string(static_cast<std::uint64_t>(dir_));
        put_bytes(list_.back(), "path", path);
      }
      more = page->truncated && !page->owners.empty();
    }
    owner_.reset();
    return true;
  }
  Json answer(bool truncated) {
    Json json{{"quotas", std::move(list_)}, {"truncated", truncated}};
    if (!truncated) return json;
    std::string after = std::to_string(static_cast<std::uint64_t>(dir_));
    if (in_owners_) after += "/" + (owner_ ? text_of(*owner_) : std::string());
    json["next_after"] = after;
    return json;
  }

  Service& service_;
  const Request& request_;
  const std::uint64_t percent_;
  const std::size_t most_;
  const std::shared_ptr<const core::RegistrySnapshot> snapshot_;
  Json list_ = Json::array();
  std::size_t looks_ = 0;
  core::FileId dir_ = core::kNoFile;  // behind this one,
  bool in_owners_ = false;            // or in it: behind this owner
  std::optional<OwnerKey> owner_;
};

}  // namespace

JsonResult list_quotas(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"after", "limit", "filled"}));
  STOA_TRY(limit, page_limit(request));
  STOA_TRY(filled, query_number(request, "filled", 0, 100));
  const auto after = request.query.find("after");
  return QuotaList(service, request, filled, limit).from(after == request.query.end() ? "0" : after->second);
}

JsonResult get_quota(Service& service, const Request& request) {
  STOA_TRY(subject, subject_of(service, request));
  return quota_view(service, request, subject);
}

JsonResult set_quota(Service& service, const Request& request) {
  STOA_TRY(body, JsonBody::parse(request.body));
  core::QuotaLimits limits{.bytes = limit_of(body, "bytes"),
                           .files = limit_of(body, "files"),
                           .soft_bytes = limit_of(body, "soft_bytes"),
                           .soft_files = limit_of(body, "soft_files")};
  limits.grace_s = static_cast<std::uint32_t>(
      body.number("grace_seconds", std::numeric_limits<std::uint32_t>::max()).value_or(limits.grace_s));
  const auto excluded = classes_of(body);
  STOA_CHECK_OK(body.finish());
  limits.excluded = excluded.value_or(core::ExcludedClasses{});
  STOA_TRY(subject, subject_of(service, request));
  STOA_CHECK_OK(require_setter(service, request, subject));
  if (excluded && subject.is_owner()) return fail(Cause::kClassesOfDirectory);
  if (!limits.any()) {
    STOA_TRY(before, limits_of(service, request, subject));
    // Excluded classes can be set for users and groups alone.
    if (!excluded || before.any()) return fail(Cause::kQuotaEmpty);
  }
  STOA_CHECK_OK(service.volume.ns().set_quota(
      request.context(), {.dir = subject.dir, .limits = limits, .of = subject.of, .id = subject.id}));
  return quota_view(service, request, subject);
}

JsonResult remove_quota(Service& service, const Request& request) {
  STOA_TRY(subject, subject_of(service, request));
  STOA_CHECK_OK(require_setter(service, request, subject));
  STOA_TRY(before, limits_of(service, request, subject));
  STOA_TRY(dir, service.volume.ns().usage(request.context(), {.dir = subject.dir}));
  // Excluded classes apply to users and groups, too, and stay for them.
  core::QuotaLimits none;
  if (subject.of == core::QuotaOf::kDirectory && dir.counts_owners) none.excluded = before.excluded;
  if (!before.any() && before.excluded == none.excluded) return fail(Cause::kNoQuota, path_of_query(request));
  STOA_CHECK_OK(service.volume.ns().set_quota(
      request.context(), {.dir = subject.dir, .limits = none, .of = subject.of, .id = subject.id}));
  return Json();
}

JsonResult list_owner_quotas(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path", "after", "limit"}));
  STOA_TRY(limit, page_limit(request));
  core::ListOwnerQuotasRequest wanted{.limit = static_cast<std::uint32_t>(limit)};
  if (const auto after = request.query.find("after"); after != request.query.end()) {
    wanted.after = owner_of(after->second);
    if (!wanted.after) return fail(Cause::kParameterForm, "after", "the 'next_after' of the page before");
  }
  STOA_TRY(dir, directory_of(service, request));
  wanted.dir = dir;
  STOA_TRY(reply, service.volume.ns().list_owner_quotas(request.context(), wanted));
  const auto snapshot = service.volume.registry().snapshot();
  Json list = Json::array();
  for (const core::OwnerQuota& owner : reply.owners) list.push_back(owner_view(owner, *snapshot));
  Json json{{"owners", std::move(list)}, {"truncated", reply.truncated}};
  put_counting(json, reply.counting);
  if (reply.truncated && !reply.owners.empty()) {
    json["next_after"] = text_of({reply.owners.back().of, reply.owners.back().id});
  }
  put_bytes(json, "path", path_of_query(request));
  return json;
}

JsonResult count_owners(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"path"}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const auto on = body.flag("counted");
  if (!on) body.missing("counted");
  STOA_CHECK_OK(body.finish());
  STOA_TRY(dir, directory_of(service, request));
  STOA_CHECK_OK(service.volume.ns().count_owners(request.context(), {.dir = dir, .on = *on}));
  return quota_view(service, request, {.dir = dir});
}

}  // namespace stoa::admin
