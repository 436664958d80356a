#include "frontends/admin/request.h"

namespace stoa::admin {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
  }
  return "";
}

std::optional<Method> parse_method(std::string_view text) {
  for (const Method method : {Method::kGet, Method::kPost, Method::kPut, Method::kPatch, Method::kDelete}) {
    if (to_string(method) == text) return method;
  }
  return {};
}

}  // namespace stoa::admin
