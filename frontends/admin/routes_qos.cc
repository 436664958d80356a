// Quality of service: limits of QoS classes, and their use.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>

#include "frontends/admin/json_body.h"
#include "frontends/admin/page.h"
#include "frontends/admin/qos_words.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"
#include "qos/scheduler.h"

namespace stoa::admin {
namespace {

// The rule of the target: the one set, or the default of background work.
const core::QosRule* rule_of(const core::RegistrySnapshot& registry, const core::QosTarget& target) {
  static const core::QosRule kBackground = core::background_default();
  if (const core::QosRule* rule = registry.find_qos_rule(target); rule != nullptr) return rule;
  return target == core::QosTarget::background() ? &kBackground : nullptr;
}

Result<Json> qos_view(Service& service, const Request& request, const core::QosTarget& target) {
  const auto registry = service.volume.registry().snapshot();
  if (const core::QosRule* rule = rule_of(*registry, target); rule != nullptr)
    return qos_view(service, request, *registry, *rule);
  return fail(Cause::kNoLimits, request.query.at("target"));
}

// A place in the list, independent of renames of users and groups: "KIND/ID", "KIND/NETWORK".
std::string place_text(const core::QosTarget& target) {
  const bool network = target.kind == core::QosKind::kClients;
  return std::to_string(static_cast<unsigned>(target.kind)) + "/" +
         (network ? target.network.to_text() : std::to_string(target.id));
}
std::optional<core::QosTarget> place_of(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view rest = text.substr(std::min(slash + 1, text.size()));
  const auto number = [](std::string_view digits, auto& into) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    return error == std::errc{} && end == digits.data() + digits.size();
  };
  unsigned kind = 0;
  if (!number(text.substr(0, slash), kind) || kind == 0 || kind > static_cast<unsigned>(core::QosKind::kBackground))
    return std::nullopt;
  core::QosTarget target{.kind = static_cast<core::QosKind>(kind)};
  if (target.kind == core::QosKind::kClients) {
    const auto network = core::Network::parse(rest);
    if (!network) return std::nullopt;
    target.network = *network;
  } else if (!number(rest, target.id)) {
    return std::nullopt;
  }
  return target;
}

}  // namespace

JsonResult list_qos_classes(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"after", "limit"}));
  STOA_TRY(limit, page_limit(request));
  std::optional<core::QosTarget> after;
  if (const auto given = request.query.find("after"); given != request.query.end()) {
    after = place_of(given->second);
    if (!after) return fail(Cause::kParameterForm, "after", "the 'next_after' of the page before");
  }
  const auto registry = service.volume.registry().snapshot();
  std::vector<const core::QosRule*> rules = registry->qos_rules();
  std::erase_if(rules, [](const core::QosRule* rule) { return rule->target == core::QosTarget::background(); });
  rules.push_back(rule_of(*registry, core::QosTarget::background()));  // always, and last
  auto at = after ? std::ranges::upper_bound(rules.begin(), rules.end() - 1, *after, {}, &core::QosRule::target)
                  : rules.begin();
  if (after == core::QosTarget::background()) at = rules.end();
  Json list = Json::array();
  for (; at != rules.end() && list.size() < limit; ++at) list.push_back(qos_view(service, request, *registry, **at));
  // The time allows computing rates from two answers.
  Json json{{"qos_classes", std::move(list)}, {"time_ns", qos::steady_ns()}, {"truncated", at != rules.end()}};
  if (at != rules.end()) json["next_after"] = place_text((*std::prev(at))->target);
  return json;
}

JsonResult get_qos_class(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"target"}));
  STOA_TRY(target, query_target(service, request));
  return qos_view(service, request, target);
}

JsonResult set_qos_class(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"target"}));
  STOA_TRY(body, JsonBody::parse(request.body));
  core::QosRule rule;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < qos::kResources; ++i) {
    const std::string name(kResourceNames[i]);
    if (!body.is_null(name)) rule.limits.limit[i] = body.number(name, kMost);
    if (!body.is_null("guarantee_" + name)) rule.limits.guarantee[i] = body.number("guarantee_" + name, kMost);
  }
  if (const auto burst = body.number("burst_ms", std::numeric_limits<std::uint32_t>::max()))
    rule.limits.burst = std::chrono::milliseconds(*burst);
  const auto weighted = body.number("weight", std::numeric_limits<std::uint32_t>::max());
  if (weighted) rule.limits.weight = static_cast<std::uint32_t>(*weighted);
  STOA_CHECK_OK(body.finish());
  STOA_TRY(target, query_target(service, request));
  rule.target = target;
  if (target.kind == core::QosKind::kDirectory) {
    // It must not go with the S3 keys below it.
    STOA_CHECK_OK(service.volume.ns().setattr(request.context(), {.id = core::FileId{target.id}}));
  }
  if (target == core::QosTarget::background() && !weighted) rule.limits.weight = qos::kWeightLowest;
  STOA_CHECK_OK(service.volume.registry().set_qos_class(rule, request.until()));
  return qos_view(service, request, target);
}

JsonResult remove_qos_class(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"target"}));
  STOA_TRY(target, query_target(service, request));
  const Status removed = service.volume.registry().remove_qos_class(target, request.until());
  if (!removed && removed.error().code == Errc::kNotFound) return fail(Cause::kNoLimits, request.query.at("target"));
  STOA_CHECK_OK(removed);
  return Json();
}

}  // namespace stoa::admin
