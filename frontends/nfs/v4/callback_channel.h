// A way to call a client: over the connections of a session (back_channel.h), or to the address given by a client of
// minor version 0 (callback_client.h).
#pragma once

#include <functional>
#include <vector>

#include "core/api/file_handle.h"
#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// The callback program (RFC 8881 20, RFC 7530 16).
inline constexpr std::uint32_t kCallbackVersion = 1;
inline constexpr std::uint32_t kCbNull = 0;
inline constexpr std::uint32_t kCbCompound = 1;

// One operation of a CB_COMPOUND.
struct Callback {
  std::uint32_t operation = 0;
  Stateid about;  // a channel does not take a second one of the same kind for it while the first waits
  std::vector<std::byte> arguments;  // behind the operation's number
  // Called once, by any thread, with no lock of the channel held: whether the client has taken it. May be null.
  std::function<void(bool taken)> done = nullptr;
  // Called before that, likewise, when the client has taken it: the reader is positioned behind the operation's status.
  // May be null.
  std::function<void(rpc::XdrReader& result)> answer = nullptr;
  int attempts = 0;
};

// CB_RECALL (RFC 8881 20.2, RFC 7530 16.2) that is not for truncation.
Callback recall_of(const Stateid& stateid, const core::HandleBytes& handle);

// Thread-safe; nothing here blocks.
class CallbackChannel {
 public:
  virtual ~CallbackChannel() = default;
  // Whether the client can be reached, as far as is known.
  virtual bool up() = 0;
  // Whether it is known to be unreachable: an attempt failed, or there is no connection.
  virtual bool lost() { return !up(); }
  // Sends it now or when the client can be reached; a refused callback is dropped after a few attempts.
  virtual void call(Callback callback) = 0;
};

}  // namespace stoa::nfs4
