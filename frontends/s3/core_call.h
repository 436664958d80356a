// The time that a call of the core may take.
#pragma once

#include <chrono>

#include "core/api/context.h"

namespace stoa::s3 {

// Below the minute after which most clients give up: they get an error that makes them retry instead.
inline constexpr std::chrono::seconds kCoreCallTime{50};

// Before each call that a request makes: one request may be many, as many as its content is long. Clients retry
// after 503, and all changes over S3 may be executed twice.
inline void begin_core_call(core::OpContext& ctx) {
  ctx.deadline = ctx.durable_by = Deadline::in(kCoreCallTime);
}

}  // namespace stoa::s3
