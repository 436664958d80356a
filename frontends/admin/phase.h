// Phases of a connection of the admin interface, and their time limits.
#pragma once

#include <chrono>
#include <cstdint>

#include "frontends/http/connections.h"

namespace stoa::admin {

struct ConnectionLimits {
  std::uint32_t connections_max = 64;
  std::chrono::seconds idle{30};     // from the last answer, or the beginning, to the end of a request line
  std::chrono::seconds headers{10};  // from there to the end of the headers
  std::chrono::seconds body{60};     // from there to the end of the body (1 MiB)
  std::chrono::seconds answer{120};  // from the answer to the last byte of it that the client has taken
};

enum class Phase : std::uint8_t {
  kFresh,      // no request yet
  kIdle,       // answered, and may ask again
  kHeaders,    // of a request
  kBody,       // of a request
  kAtWork,     // the server's turn: has no deadline, and never gives way
  kStreaming,  // an answer without an end: the same
  kAnswer,     // is on its way
};

// By the thread of the connection.
void enter(http::Connection& connection, Phase phase, const ConnectionLimits& limits);

}  // namespace stoa::admin
