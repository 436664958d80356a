// The facts of an event or a finding by name, and sentences that they fill.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::admin {

using Facts = std::map<std::string, std::string, std::less<>>;

// By name; those that are missing in `values` are missing.
Facts facts_of(const std::vector<std::string_view>& names, const std::vector<std::string>& values);
std::string_view fact_of(const Facts& facts, std::string_view name);  // empty: there is none
// `sentence` with each "{name}" replaced by the fact of that name.
std::string filled(std::string_view sentence, const Facts& facts);

}  // namespace stoa::admin
