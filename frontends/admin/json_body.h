// A strict reader of JSON request bodies: every member is typed, and unknown members are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace stoa::admin {

// Usage: read the members, then finish(). All problems are kInvalid with a cause and the member.
class JsonBody {
 public:
  // An empty text counts as {}.
  static Result<JsonBody> parse(std::string_view text);
  explicit JsonBody(nlohmann::json object, std::string where = {})
      : object_(std::move(object)), where_(std::move(where)) {}

  // Absent when the member is missing or of the wrong type; the latter makes finish() fail.
  std::optional<std::string> text(std::string_view name);
  std::optional<bool> flag(std::string_view name);
  std::optional<std::uint64_t> number(std::string_view name, std::uint64_t max);
  std::optional<std::uint32_t> id(std::string_view name);  // a uid or gid
  std::optional<std::vector<std::string>> texts(std::string_view name);
  std::optional<std::vector<std::uint32_t>> ids(std::string_view name);
  std::optional<std::vector<JsonBody>> objects(std::string_view name);
  bool is_null(std::string_view name);  // present, and null

  // For finish(). `form` is what the member must be, as Cause::kMemberForm has it.
  void refuse(std::string_view name, std::string_view form);
  void missing(std::string_view name);
  Status finish() const;

 private:
  const nlohmann::json* find(std::string_view name);

  nlohmann::json object_;
  std::string where_;  // "clients[1]." in a nested object
  std::vector<std::string> asked_;
  std::optional<Error> problem_;
};

}  // namespace stoa::admin
