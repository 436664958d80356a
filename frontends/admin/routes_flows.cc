// Quality of service: limits of flows, and what goes through them.
#include <limits>

#include "frontends/admin/flow_words.h"
#include "frontends/admin/json_body.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"
#include "qos/scheduler.h"

namespace stoa::admin {
namespace {

// What holds for it: what is set, or the default of background work.
const core::FlowRule* rule_of(const core::RegistrySnapshot& registry, const core::FlowTarget& target) {
  static const core::FlowRule kBackground = core::background_default();
  if (const core::FlowRule* rule = registry.find_flow_rule(target); rule != nullptr) return rule;
  return target == core::FlowTarget::background() ? &kBackground : nullptr;
}

Result<Json> flow_view(Service& service, const Request& request, const core::FlowTarget& target) {
  const auto registry = service.volume.registry().snapshot();
  if (const core::FlowRule* rule = rule_of(*registry, target); rule != nullptr) return flow_view(service, request, *registry, *rule);
  return fail(Errc::kNotFound, "'" + request.query.at("target") + "' has no limits of its own");
}

}  // namespace

JsonResult list_flows(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  const auto registry = service.volume.registry().snapshot();
  Json list = Json::array();
  const auto add = [&](const core::FlowRule& rule) { list.push_back(flow_view(service, request, *registry, rule)); };
  for (const core::FlowRule* rule : registry->flow_rules()) {
    if (rule->target != core::FlowTarget::background()) add(*rule);
  }
  add(*rule_of(*registry, core::FlowTarget::background()));  // always, and last
  // To make rates of what two looks show.
  return Json{{"flows", std::move(list)}, {"time_ns", qos::steady_ns()}};
}

JsonResult get_flow(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"target"}));
  STOA_TRY(target, query_target(service, request));
  return flow_view(service, request, target);
}

JsonResult set_flow(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"target"}));
  STOA_TRY(body, JsonBody::parse(request.body));
  core::FlowRule rule;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < qos::kResources; ++i) {
    const std::string name(kResourceNames[i]);
    if (!body.is_null(name)) rule.limits.ceiling[i] = body.number(name, kMost);
    if (!body.is_null("guarantee_" + name)) rule.limits.guarantee[i] = body.number("guarantee_" + name, kMost);
  }
  if (const auto burst = body.number("burst_ms", std::numeric_limits<std::uint32_t>::max())) rule.limits.burst = std::chrono::milliseconds(*burst);
  const auto weighted = body.number("weight", std::numeric_limits<std::uint32_t>::max());
  if (weighted) rule.limits.weight = static_cast<std::uint32_t>(*weighted);
  STOA_CHECK_OK(body.finish());
  STOA_TRY(target, query_target(service, request));
  rule.target = target;
  if (target.kind == core::FlowKind::kDirectory) {
    // It must not go with the S3 keys below it.
    STOA_CHECK_OK(service.volume.ns().setattr(request.context(), {.id = core::FileId{target.id}}));
  }
  if (target == core::FlowTarget::background() && !weighted) rule.limits.weight = qos::kWeightLowest;
  STOA_CHECK_OK(service.volume.registry().set_flow(rule));
  return flow_view(service, request, target);
}

JsonResult remove_flow(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"target"}));
  STOA_TRY(target, query_target(service, request));
  const Status removed = service.volume.registry().remove_flow(target);
  if (!removed && removed.error().code == Errc::kNotFound)
    return fail(Errc::kNotFound, "'" + request.query.at("target") + "' has no limits of its own");
  STOA_CHECK_OK(removed);
  return Json();
}

}  // namespace stoa::admin
