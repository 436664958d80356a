// A session: what one client has at the server, over any number of connections.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/api/ids.h"
#include "core/api/request_key.h"
#include "frontends/native/server/principal.h"
#include "frontends/native/server/push_channels.h"
#include "frontends/native/server/session_leases.h"
#include "frontends/native/server/slots.h"

namespace stoa::native {

// Facts of its log-in. A client that comes again with the same is the same.
struct SessionKey {
  std::string client_id;  // that the client has made up: kClientIdBytes
  Principal principal;
  core::ExportId through{};
  bool operator==(const SessionKey&) const = default;

  // What the core knows the client by across restarts.
  std::string stable_name() const;
};

// Thread-safe.
class Session {
 public:
  struct Open {
    core::OpenId id{};
    core::FileId file{};
    std::uint32_t access = 0;  // OpenAccess
    bool reads = false;        // the caller had the right to read it all, or to change it all, when it was opened
    bool modifies = false;
  };

  Session(U64 number, SessionKey by, std::string from, core::HolderId holds, ReplyMemory& memory)
      : id(number), key(std::move(by)), peer(std::move(from)), holder(holds), slots(memory) {}

  // The name of a message across restarts: its operations are counted up from it.
  core::RequestKey request_key(U32 slot, U32 sequence) const;

  // False: the number is in use, and `open` is not kept.
  bool add_open(U64 number, const Open& open);
  std::optional<Open> find_open(U64 number) const;
  std::optional<Open> take_open(U64 number);
  bool has_open_of(core::FileId file) const;

  const U64 id;
  const SessionKey key;
  const std::string peer;  // address, for people
  const core::HolderId holder;
  Slots slots;
  SessionLeases leases;
  PushChannels channels;
  std::mutex remember_mutex;           // guards the next two, over the durable write
  std::uint32_t remembered = 0;        // so often: the core waits for it after a restart
  bool writes = false;                 // others wait for what it may have written, too
  std::atomic<bool> reclaimed{false};  // it has asked back what it wants
  std::atomic<bool> ended{false};
  std::atomic<std::int64_t> heard_ns{0};

 private:
  mutable std::mutex mutex_;  // guards opens_
  std::map<U64, Open> opens_;
};

}  // namespace stoa::native
