#include "frontends/admin/json_body.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace stoa::admin {

Result<JsonBody> JsonBody::parse(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return JsonBody(nlohmann::json::object());
  // The parser recurses on nested values; no body of ours is deeper than three. A duplicate member is ambiguous, and
  // the parser would take the last (RFC 8259 section 4).
  constexpr int kDepthMax = 8;
  std::array<std::set<std::string>, kDepthMax + 1> names;  // of the objects that are open, by depth
  std::string twice;
  const auto look = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (depth > kDepthMax) return false;
    auto& here = names[static_cast<std::size_t>(depth)];
    if (event == nlohmann::json::parse_event_t::key && !here.insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    // The members of an object are one deeper than where it begins.
    if (event == nlohmann::json::parse_event_t::object_start && depth < kDepthMax)
      names[static_cast<std::size_t>(depth) + 1].clear();
    return true;
  };
  nlohmann::json value = nlohmann::json::parse(text, look, /*allow_exceptions=*/false);
  if (value.is_discarded()) return fail(Cause::kBodyNotJson);
  if (!twice.empty()) return fail(Cause::kMemberTwice, twice);
  if (!value.is_object()) return fail(Cause::kBodyNotObject);
  return JsonBody(std::move(value));
}

const nlohmann::json* JsonBody::find(std::string_view name) {
  asked_.emplace_back(name);
  const auto it = object_.find(name);
  return it == object_.end() ? nullptr : &*it;
}

void JsonBody::refuse(std::string_view name, std::string_view form) {
  if (!problem_) problem_ = fail(Cause::kMemberForm, where_ + std::string(name), form).error();
}

void JsonBody::missing(std::string_view name) {
  if (!problem_) problem_ = fail(Cause::kMemberMissing, where_ + std::string(name)).error();
}

std::optional<std::string> JsonBody::text(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  refuse(name, "must be a string");
  return {};
}

std::optional<bool> JsonBody::flag(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  if (value->is_boolean()) return value->get<bool>();
  refuse(name, "must be true or false");
  return {};
}

std::optional<std::uint64_t> JsonBody::number(std::string_view name, std::uint64_t max) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  if (value->is_number_unsigned() && value->get<std::uint64_t>() <= max) return value->get<std::uint64_t>();
  refuse(name, "must be a whole number from 0 to " + std::to_string(max));
  return {};
}

std::optional<std::uint32_t> JsonBody::id(std::string_view name) {
  const auto n = number(name, std::numeric_limits<std::uint32_t>::max());
  return n ? std::optional(static_cast<std::uint32_t>(*n)) : std::nullopt;
}

std::optional<std::vector<std::string>> JsonBody::texts(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  std::vector<std::string> out;
  if (value->is_array() && std::ranges::all_of(*value, [](const auto& item) { return item.is_string(); })) {
    for (const auto& item : *value) out.push_back(item.template get<std::string>());
    return out;
  }
  refuse(name, "must be a list of strings");
  return {};
}

std::optional<std::vector<std::uint32_t>> JsonBody::ids(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  const auto is_id = [](const auto& item) {
    return item.is_number_unsigned() && item.template get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
  };
  if (!value->is_array() || !std::ranges::all_of(*value, is_id)) {
    refuse(name, "must be a list of ids from 0 to 4294967295");
    return {};
  }
  std::vector<std::uint32_t> out;
  for (const auto& item : *value) out.push_back(item.template get<std::uint32_t>());
  return out;
}

std::optional<std::vector<JsonBody>> JsonBody::objects(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_array() || !std::ranges::all_of(*value, [](const auto& item) { return item.is_object(); })) {
    refuse(name, "must be a list of objects");
    return {};
  }
  std::vector<JsonBody> out;
  for (const auto& item : *value) {
    out.emplace_back(item, where_ + std::string(name) + "[" + std::to_string(out.size()) + "].");
  }
  return out;
}

bool JsonBody::is_null(std::string_view name) {
  const auto it = object_.find(name);
  if (it == object_.end() || !it->is_null()) return false;
  asked_.emplace_back(name);
  return true;
}

Status JsonBody::finish() const {
  if (problem_) return fail(*problem_);
  for (const auto& [name, value] : object_.items()) {
    if (std::ranges::find(asked_, name) == asked_.end()) {
      std::string known;
      for (const std::string& one : asked_) known.append(known.empty() ? "" : ", ").append(where_ + one);
      return fail(Cause::kMemberUnknown, where_ + name, known);
    }
  }
  return {};
}

}  // namespace stoa::admin
