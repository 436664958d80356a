// Typed access to the query of a request.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/requests.h"
#include "frontends/admin/request.h"
#include "frontends/admin/service.h"

namespace stoa::admin {

// kInvalid when the query has a name that is not in the list: nothing is accepted and dropped.
Status allow_query(const Request& request, std::initializer_list<std::string_view> names);
// The parameter as a number in [0, max]; `fallback` when absent. kInvalid.
Result<std::uint64_t> query_number(const Request& request, std::string_view name, std::uint64_t fallback,
                                   std::uint64_t max);
// A cursor of the journal (core/api/journal_cursor.h); `fallback` when absent. kInvalid.
Result<std::uint64_t> query_cursor(const Request& request, std::string_view name, std::uint64_t fallback);
Result<bool> query_flag(const Request& request, std::string_view name);

// The object named by the parameter `path`. kInvalid: none given; kNotFound and kNotDirectory with the path.
Result<core::Attributes> query_path(Service& service, const Request& request);
std::string path_of_query(const Request& request);

}  // namespace stoa::admin
