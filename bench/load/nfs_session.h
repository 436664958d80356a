// Connections to an NFSv3 server and the slots that keep them busy. One thread, one poll loop; a slot is one request
// in flight. A phase decides on the next call of a slot; the timed phase of a load is its last.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/load/outcome.h"

struct rpc_context;
struct nfs_fh3;

namespace stoa::bench {

struct Handle {
  unsigned size = 0;
  char bytes[64];
};

struct Target {
  std::string host;
  int port = 0;
  int mount_port = 0;
  std::string export_path;
};

class Phase;
class NfsSession;

struct Slot {
  rpc_context* rpc = nullptr;
  NfsSession* session = nullptr;
  Phase* phase = nullptr;
  Outcome* outcome = nullptr;
  unsigned number = 0;
  std::uint64_t index = 0;       // which operation of the phase
  std::uint64_t started_ns = 0;  // of the operation
  std::uint64_t request_ns = 0;  // of its current request
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cookie = 0;
  char cookie_verifier[8] = {};
  Handle handle;
  char name[64] = {};
};

// One kind of work. begin() starts operation slot.index and ends it, in a callback, by done() or failed().
class Phase {
 public:
  virtual ~Phase() = default;
  virtual void begin(Slot& slot) = 0;
};

class NfsSession {
 public:
  // Connects all and mounts on the first; exits the program with a message when the server refuses.
  NfsSession(const Target& target, unsigned connections);
  ~NfsSession();
  NfsSession(const NfsSession&) = delete;
  NfsSession& operator=(const NfsSession&) = delete;

  const Handle& root() const { return root_; }

  // Runs operations 0..count-1 with `inflight` slots on each connection, until all are done or, when seconds > 0, time
  // is up (requests in flight are waited for). `outcome` gets every operation.
  void run(Phase& phase, unsigned inflight, std::uint64_t count, double seconds, Outcome& outcome);

  void done(Slot& slot, std::uint64_t bytes);
  void failed(Slot& slot, const std::string& why);

  // Blocking calls for setting up; 0 or an nfsstat3.
  int lookup(const Handle& dir, const std::string& name, Handle* found, std::uint64_t* size = nullptr);
  int mkdir(const Handle& dir, const std::string& name, Handle* made);

 private:
  struct Connection;
  void next(Slot& slot);
  void turn(int timeout_ms);
  template <class Start>
  void wait_for(bool& finished, Start start);

  std::vector<std::unique_ptr<Connection>> connections_;
  Handle root_;
  std::uint64_t count_ = 0;
  std::uint64_t next_index_ = 0;
  std::uint64_t deadline_ns_ = 0;
  std::uint64_t busy_slots_ = 0;
};

nfs_fh3 to_fh(Handle& handle);

}  // namespace stoa::bench
