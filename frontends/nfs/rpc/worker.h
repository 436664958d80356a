// One thread of a server. Internal to rpc/.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "frontends/nfs/rpc/server_state.h"

namespace stoa::rpc {

class Worker {
 public:
  explicit Worker(ServerState& state);
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  // One call of a batch, header decoded.
  struct Item {
    CallHeader header;
    Record* record;
    Program* program;
    std::size_t program_index;
    ProcedureMetrics* metrics;
    Weight weight;
    bool idempotent;
    bool elsewhere = false;  // is, or will be, run by another worker
    // What RPCSEC_GSS asks of the server itself: no program is run.
    bool makes_context() const { return GssServer::makes_context(header); }
    bool ends_context() const { return header.gss && header.gss->procedure == GssProcedure::kDestroy; }
  };
  // A reply in deferred_ that may leave only when its change is durable.
  struct Deferred {
    std::size_t item;
    std::size_t begin, end;  // in deferred_, record mark included
    bool remembered;         // has a ticket of the duplicate cache
    DuplicateCache::Ticket duplicate;
    Clock::time_point since;
    bool failed;                             // an error is true whether or not anything is durable
    core::PendingDurability::Mark from, to;  // its part of pending_
  };

  void handle_event(std::uint64_t key, std::uint32_t events);
  void handle_input(const std::shared_ptr<Connection>& connection);
  // Runs all records_; `holds`: we hold the receive side and may release it early. Returns whether we still hold it.
  bool run_batch(const std::shared_ptr<Connection>& connection, bool holds, bool may_release);
  bool look_out_for(Connection& connection);
  // What a call pays is found for a whole batch before the first of it is admitted, as the processor fetches meanwhile
  // what admission looks at.
  void charge(Connection& connection, const Item& item, Charge& charge);
  // Keeps those of items_ that may run now; charges_ are theirs.
  void admit_batch(Connection& connection);
  // Whether a call may run now. If not, it was parked, and its record is gone.
  qos::Verdict admit(Connection& connection, const Item& item, const Charge& charge, std::int64_t now);
  // Appends the reply that tells the client to ask again later.
  void append_busy(const Item& item);
  // Fills items_; replies to what is no call of ours. False: the peer does not speak RPC.
  bool decode_batch(Connection& connection);
  void choose_elsewhere(Connection& connection);
  void run_in_place(Connection& connection, std::size_t index);
  void settle_deferred();
  // Makes durable what one deferred reply waits for, when not all is; else why it is not.
  Status settle_one(const Deferred& deferred);
  void run_task(Task& task);
  void run_alone(Connection& connection, const Item& item);
  void hand_over(const std::shared_ptr<Connection>& connection, Record record);
  void pump(const std::shared_ptr<Connection>& connection);
  enum class Classified : std::uint8_t {
    kRun,       // `item` is a call to run
    kAnswered,  // it is none, and its answer was appended
    kDropped,   // it deserves no answer
    kBroken,    // the peer does not speak RPC
  };
  Classified classify(const Connection& connection, Record& record, Item& item, ReplyBuffer& out);
  void tell_refused(const Connection& connection, std::string_view request, std::string_view reason) const;
  // Gives the reply in `out` from `begin` on the verifier and wrapping that its call asks for.
  bool seal(const Item& item, ReplyBuffer& out, std::size_t begin, std::size_t more = 0);
  CallKey key_of(const Connection& connection, const Item& item) const;
  // Appends one framed reply. Returns the outcome.
  Outcome append_reply(Connection& connection, const Item& item, ReplyBuffer& out, core::RequestKey request,
                       core::PendingDurability* pending, Reply* reply);
  void send_ready(Connection& connection);

  ServerState& state_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<Record> records_;
  std::vector<Item> items_;
  std::vector<Charge> charges_;  // of items_ while they are decoded; more of them are kept, with their memory
  ReplyBuffer ready_;            // replies that may leave now
  ReplyBuffer deferred_;         // replies that wait for the sync
  std::vector<Deferred> waiting_;
  core::PendingDurability pending_;  // what the deferred replies wait for, in their order
  Clock::time_point now_{};
  std::uint64_t next_request_id_;
};

}  // namespace stoa::rpc
