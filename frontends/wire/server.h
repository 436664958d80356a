// A server of protocol P on TCP: leader/followers workers that share one epoll.
//
// The worker that wakes takes all requests of one receive. Those answered from memory are run in place and their
// replies leave in one write. Requests that change metadata are run in place too and wait for one sync together.
// Before it waits, the worker gives the connection back, so that followers serve the next requests. Heavy requests go
// to followers, so that one connection's requests run side by side and their replies leave in any order.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "frontends/wire/engine.h"
#include "frontends/wire/worker.h"

namespace stoa::wire {

template <class P>
class Server {
 public:
  // Binds, starts the workers. `metrics` and `protocol` must outlive the server. kInvalid: a malformed address; kIo: a
  // port is taken.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, P& protocol, MetricRegistry& metrics) {
    std::unique_ptr<Server> server(new Server(options, protocol, metrics));
    Engine<P>& engine = server->engine_;
    STOA_CHECK_OK(engine.listen());
    for (std::uint32_t i = 0; i < engine.options.workers; ++i) {
      server->threads_.emplace_back([&engine] { Worker<P>(engine).run(); });
    }
    server->threads_.emplace_back([&engine] { engine.keep_house(); });
    return server;
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;

  // Bound ports, in the order of ServerOptions::listen.
  std::vector<std::uint16_t> ports() const { return engine_.listening.ports(); }
  // Whether a client at this address has a connection open. Thread-safe.
  bool connected(const std::array<std::uint8_t, 16>& address) const { return engine_.connections.connected(address); }

  // Accepts and reads nothing more, finishes running requests and sends their replies. False: some were left when time
  // was up.
  bool drain(std::chrono::milliseconds patience) {
    engine_.draining.store(true);
    engine_.listening.stop();
    engine_.waiting.finish_all();
    const auto deadline = Clock::now() + patience;
    while (engine_.busy.load() > 0 || engine_.in_flight.load() > 0 || !engine_.tasks.empty() ||
           engine_.output.bytes.load() > 0) {
      if (Clock::now() >= deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  // Closes all connections and ends the workers. Idempotent.
  void stop() {
    if (!engine_.stop_house()) return;
    const std::uint64_t all = threads_.size() + 1;
    [[maybe_unused]] const ssize_t n = write(engine_.wake_fd, &all, sizeof all);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    engine_.close_all();
  }

 private:
  Server(const ServerOptions& options, P& protocol, MetricRegistry& metrics) : engine_(options, protocol, metrics) {}

  Engine<P> engine_;
  std::vector<std::thread> threads_;
};

}  // namespace stoa::wire
