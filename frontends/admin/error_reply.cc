#include "frontends/admin/error_reply.h"

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "frontends/admin/http_status.h"
#include "frontends/admin/sentences.h"

namespace stoa::admin {

Reply error_reply(const Error& error, std::uint64_t request_id) {
  return error_reply(http_status(error.code), to_string(error.code), error, request_id);
}

Reply error_reply(unsigned status, std::string_view code, const Error& error, std::uint64_t request_id) {
  if (status >= 500) log_warning("admin", "a request failed", {{"request_id", request_id}, {"error", describe(error)}});
  const nlohmann::json json{{"error",
                             {{"code", code},
                              {"cause", cause_word(error)},
                              {"message", sentence(error)},
                              {"request_id", std::to_string(request_id)}}}};
  Reply reply{.status = status, .body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
  reply.error = code;
  return reply;
}

}  // namespace stoa::admin
