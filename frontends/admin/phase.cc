#include "frontends/admin/phase.h"

namespace stoa::admin {
namespace {

using std::chrono::seconds;

seconds time_of(Phase phase, const ConnectionLimits& limits) {
  switch (phase) {
    case Phase::kHeaders:
      return limits.headers;
    case Phase::kBody:
      return limits.body;
    case Phase::kAnswer:
      return limits.answer;
    default:
      return limits.idle;
  }
}

// For how long a client is not held to be slow. One that has just come is about to send, and one that reads an answer
// over a slow line is not idle.
constexpr seconds patience_with(Phase phase) {
  switch (phase) {
    case Phase::kIdle:
      return seconds(0);
    case Phase::kAnswer:
      return seconds(10);
    default:
      return seconds(2);
  }
}

}  // namespace

void enter(http::Connection& connection, Phase phase, const ConnectionLimits& limits) {
  if (phase == Phase::kAtWork || phase == Phase::kStreaming) {
    connection.allow_for_ever();
    (void)connection.begin_work();  // one that was cut off does not receive its answer
    return;
  }
  connection.allow(time_of(phase, limits));
  connection.end_work(patience_with(phase));
}

}  // namespace stoa::admin
