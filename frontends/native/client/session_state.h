// A session as one process hands it to the next: what the server has promised, and what was promised to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/native/client/held_state.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

// No message is under way, no lease is held, and no write waits for a commit.
struct SessionState {
  std::string client_id;  // kClientIdBytes
  U64 session = 0;
  U64 recovered = 0;  // the session in which all was asked back last; 0: never
  U64 last_number = 0;
  U64 root = 0, volume = 0;
  U32 message_bytes_max = 0;
  U32 recovery_sequence = 0;
  std::vector<U32> sequences{};  // the newest of each slot
  HeldState::All held{};
  std::vector<U64> losses{};  // files of which bytes were lost; the next commit says so
};

}  // namespace stoa::native
