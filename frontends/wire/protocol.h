// Requirements on a protocol P for the server that carries it. Everything is called directly: nothing here is virtual,
// and a connection of one protocol cannot be taken for that of another.
//
//   struct P {                  // shared by all workers: thread-safe; must outlive the server
//     class Session;            // the protocol's state of one connection
//     struct Tag;               // facts on a request that go with it to another worker; may be empty
//     struct Request;           // one request of a receive, decoded; lives as long as its record
//     class Handler;            // executes requests for one worker
//     Framer framer() const;
//     qos::Scheduler* scheduler() const;                        // admits requests; null: none is held back
//     core::StateTable* state() const;                          // whose recalls requests wait for; null: none does
//     std::shared_ptr<const tls::Context> tls() const;         // for connections that begin with TLS; null: none may
//     Status sync(const core::PendingDurability&) const;      // as core::Namespace::sync()
//   };
//   P::Session
//     Session(Connection<P>&);
//     bool worth_keeping() const;     // others give way before this connection does
//     void closed();                  // the connection is out of use; by any thread, once
//   P::Request
//     Tag tag;                        // set before Handler::decode() for a request that has one already. Of a request
//                                     // that waits and is dropped, it is destroyed
//     CostClass cost_class;
//     bool exclusive;                 // of such, one runs at a time, and always in a worker of its own
//     bool free;                      // pays nothing
//     bool may_wait;                  // set before it is run: it need not be answered when it meets a recall
//     core::FileId waits_for;         // set by it then: the file whose lease is recalled
//   P::Handler
//     Handler(P&);
//     void refresh();                                           // before the requests of one receive are run
//     bool governs() const;                                     // whether any of them may have something to pay
//     Decoded decode(Connection<P>&, const Record&, Clock::time_point now, Request&, ReplyBuffer& out);
//     void charge(Connection<P>&, const Request&, Clock::time_point now, Charge&);   // fills an empty one
//     void append_busy(const Request&, ReplyBuffer& out);       // the whole reply "not now, ask again later"
//     Ran run(Connection<P>&, Record&, Request&, Clock::time_point now, core::PendingDurability*, ReplyBuffer& out,
//             ReplyBuffer& at_once);
//     Payload run_alone(Connection<P>&, Record&, Request&, Clock::time_point now, ReplyBuffer& out);
//     void finish(const Request&, ReplyBuffer& out, std::size_t begin);  // completes the reply that run() appended
//     bool finishes(const Request&) const;                      // whether finish() changes anything
//     void took(const Request&, std::chrono::nanoseconds);      // for metrics
//     void durable(Request&, std::span<const std::byte> reply, Clock::time_point now);   // before finish()
//     void append_not_durable(Request&, Errc why, ReplyBuffer& out);     // the whole reply in place of that of run()
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/api/io.h"
#include "frontends/tls/context.h"
#include "frontends/wire/cost_class.h"
#include "frontends/wire/receiver.h"

namespace stoa::wire {

using Clock = std::chrono::steady_clock;

template <class P>
class Connection;

enum class Decoded : std::uint8_t {
  kRun,     // a request to run
  kDone,    // not a request, or answered: its reply was appended
  kBroken,  // the peer does not speak the protocol, so the connection is useless
};

// The result of Handler::run(). `at_once` takes replies that need not wait for durability, such as to a request that
// was answered before.
enum class Ran : std::uint8_t {
  kReplied,   // appended one whole reply to `out`
  kFailed,    // the same, and the reply states it: true whether or not anything is durable
  kAnswered,  // appended nothing to `out`
  kWaits,     // likewise, and changed nothing: to be run again when what Request::waits_for says has come
};

// The data sent behind the reply of Handler::run_alone().
struct Payload {
  bool send = true;    // false: there is no reply at all
  bool waits = false;  // as Ran::kWaits
  std::vector<core::DataSlice> slices{};
  std::span<const std::byte> tail{};
};

// The result for a request that waited for its QoS classes.
enum class Admission : std::uint8_t { kNotParked, kGranted, kRefused };

// The waits of a request for leases so far.
struct RecallWaits {
  Clock::time_point since{};  // the first time
  std::uint32_t times = 0;
  bool over = false;  // it waits no more
};

// A request that waits, or is on its way to another worker.
template <class P>
struct Held {
  Record record{};
  typename P::Tag tag{};
  bool exclusive = false;
  Admission admission = Admission::kNotParked;
  RecallWaits recalls{};
};

template <class P>
struct Task {
  std::shared_ptr<Connection<P>> connection{};
  bool receive = false;  // take up the receive side again (it waited for memory); else run `held`
  Held<P> held{};
  bool exclusive() const { return !receive && held.exclusive; }
};

}  // namespace stoa::wire
