// The reply to a request that failed: {"error": {"code", "cause", "message", "request_id"}}.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "frontends/admin/request.h"

namespace stoa::admin {

// The status and word of the error's code. Its detail goes to the log, where the server is at fault.
Reply error_reply(const Error& error, std::uint64_t request_id);
// The same under another status and word.
Reply error_reply(unsigned status, std::string_view code, const Error& error, std::uint64_t request_id);

}  // namespace stoa::admin
