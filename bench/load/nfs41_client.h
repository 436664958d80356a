// A client of NFSv4.1 with one session, whose slots are spread over some connections. One thread, one poll loop for all
// clients of the program; a slot is one request in flight. A phase decides on the next call of a slot; the timed phase
// of a load is its last.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/load/nfs41_call.h"
#include "bench/load/nfs41_results.h"
#include "bench/load/outcome.h"

namespace stoa::bench {

inline constexpr std::uint32_t kSlotsMax41 = 1024;  // the xid tells the slot by this modulus

class Client41;
class Phase41;

struct Slot41 {
  Client41* client = nullptr;
  RpcConnection* connection = nullptr;
  Phase41* phase = nullptr;
  Outcome* outcome = nullptr;
  std::uint32_t number = 0;
  std::uint32_t sequence = 0;    // of the last request
  std::uint32_t xid = 0;         // of the last request
  std::uint64_t index = 0;       // which operation of the phase
  std::uint64_t started_ns = 0;  // of the operation
  std::uint64_t request_ns = 0;  // of its current request
  std::string owner;             // open-owner and lock-owner: one a slot, so that slots do not share opens

  // The phase's own.
  int step = 0;
  Handle41 handle;
  Stateid41 open;
  Stateid41 more;  // of locks, of a delegation
  std::uint64_t verifier = 0;
};

// One kind of work: begin() sends the first call of operation slot.index. reply() gets each answer behind its SEQUENCE
// and sends the next, or ends the operation by done() or failed().
class Phase41 {
 public:
  virtual ~Phase41() = default;
  virtual void begin(Slot41& slot) = 0;
  virtual void reply(Slot41& slot, Results41& results) = 0;
  // The server wants a delegation back (CB_RECALL, already answered).
  virtual void recalled(Client41& client, const Stateid41& delegation, std::string_view handle);
};

class Loop41 {
 public:
  void add(Client41& client) { clients_.push_back(&client); }
  void remove(Client41& client) { std::erase(clients_, &client); }
  // Sends ready calls, waits, and receives replies; exits the program when nothing comes for a minute.
  void turn();

 private:
  std::vector<Client41*> clients_;
};

struct Target41 {
  std::string host;
  int port = 0;
  std::string export_path;  // in the pseudo file system
};

class Client41 {
 public:
  // EXCHANGE_ID, CREATE_SESSION with a back channel, RECLAIM_COMPLETE, and the handle of the export; exits the program
  // with a message when the server refuses. `inflight` slots on each connection.
  Client41(Loop41& loop, const Target41& target, const std::string& name, unsigned connections, unsigned inflight);
  ~Client41() { loop_.remove(*this); }
  Client41(const Client41&) = delete;
  Client41& operator=(const Client41&) = delete;

  const Handle41& root() const { return root_; }
  std::uint64_t id() const { return id_; }
  const SessionId41& session() const { return session_; }
  std::uint32_t highest_slot() const { return static_cast<std::uint32_t>(slots_.size() - 1); }
  Slot41& slot(std::uint32_t number) { return slots_[number]; }
  std::uint32_t slots() const { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint64_t recalls() const { return recalls_; }

  // Runs operations 0..count-1 on `inflight` slots of each connection (at most the number that the constructor made).
  // Ends when all are done or, when seconds > 0, time is up (operations in flight are waited for). `outcome` gets every
  // operation.
  void run(Phase41& phase, unsigned inflight, std::uint64_t count, double seconds, Outcome& outcome);
  void done(Slot41& slot, std::uint64_t bytes);
  void failed(Slot41& slot, const std::string& why);

  // DESTROY_SESSION and DESTROY_CLIENTID; "" or the problem, for example that the client still holds state.
  std::string end();

  // Blocking, for setting up; the status of the COMPOUND.
  std::uint32_t lookup(const Handle41& dir, std::string_view name, Handle41* found);
  std::uint32_t make_directory(const Handle41& dir, std::string_view name, Handle41* made);

 private:
  friend class Loop41;
  void exchange_id(const std::string& name);
  void create_session(unsigned slots);
  void find_root(const std::string& path);
  // A call outside of a phase, and its results.
  void wait_for(std::uint32_t xid, std::function<void(Results41&)> read);
  std::uint32_t call(const std::function<void(Call41&)>& ask, const std::function<void(Results41&)>& read,
                     bool cache = false);
  void next(Slot41& slot);
  void take(RpcConnection& connection, std::string_view record);
  void take_reply(std::string_view record);
  bool check_sequence(const Slot41& slot, Results41& results);

  // nfs41_callback.cc
  void answer_callback(RpcConnection& connection, std::string_view record);

  Loop41& loop_;
  std::vector<std::unique_ptr<RpcConnection>> connections_;
  std::vector<Slot41> slots_;
  std::uint64_t id_ = 0;
  std::uint32_t create_sequence_ = 0;
  SessionId41 session_{};
  Handle41 root_;
  std::uint64_t recalls_ = 0;

  std::uint32_t waited_xid_ = 0;  // of wait_for
  std::function<void(Results41&)> waiting_;

  std::uint64_t count_ = 0;
  std::uint64_t next_index_ = 0;
  std::uint64_t deadline_ns_ = 0;
  std::uint64_t busy_slots_ = 0;
  Phase41* phase_ = nullptr;
};

}  // namespace stoa::bench
