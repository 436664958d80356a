#include "frontends/nfs/rpc/server.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.h"
#include "frontends/nfs/rpc/server_state.h"
#include "frontends/nfs/rpc/worker.h"

namespace stoa::rpc {
namespace {

constexpr std::uint64_t kIdleRecordMemory = std::uint64_t{32} << 20;
// Short calls must find a worker while long ones run.
constexpr std::uint32_t kReservedWorkers = 4;
constexpr std::uint32_t kWorkersMin = kReservedWorkers + 1;

ServerOptions with_defaults(ServerOptions options) {
  if (options.workers == 0) {
    // Workers wait for disks more than they compute: many more than cores.
    options.workers = std::max(24u, 4 * std::thread::hardware_concurrency());
  }
  options.workers = std::max(options.workers, kWorkersMin);
  return options;
}

}  // namespace

ServerState::ServerState(const ServerOptions& wanted, Service carried, MetricRegistry& registry)
    : options(with_defaults(wanted)),
      service(std::move(carried)),
      metrics(registry, service.programs.list),
      pool({options.limits.record_memory_max, options.limits.record_memory_per_address_max},
           {options.limits.half_sent_memory_max, options.limits.half_sent_memory_per_address_max}, kIdleRecordMemory),
      duplicates(options.duplicates, registry),
      epoll(epoll_create1(EPOLL_CLOEXEC)),
      wake_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)),
      tasks(wake_fd, options.workers - kReservedWorkers),
      slots_(std::min(options.limits.connections_max, 1u << kIndexBits)) {
  if (service.gss != nullptr) gss.emplace(*service.gss, options.gss, registry);
  for (std::size_t i = slots_.size(); i > 0; --i) free_slots_.push_back(static_cast<std::uint32_t>(i - 1));
}

ServerState::~ServerState() {
  for (const Listener& listener : listeners) ::close(listener.fd);
  slots_.clear();
  ::close(wake_fd);
  ::close(epoll);
}

Status ServerState::listen() {
  if (epoll < 0 || wake_fd < 0) return fail_errno(errno, "epoll");
  epoll_event wake{};
  wake.events = EPOLLIN | EPOLLEXCLUSIVE;
  wake.data.u64 = kWakeKey;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, wake_fd, &wake) != 0) return fail_errno(errno, "epoll of the wake-up descriptor");
  for (const Endpoint& endpoint : options.listen) {
    STOA_TRY(listener, listen_tcp(endpoint));
    listeners.push_back(listener);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.u64 = kListenerKey + listeners.size() - 1;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener.fd, &event) != 0) return fail_errno(errno, "epoll of a listener");
  }
  return {};
}

void ServerState::keep_house() {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSweepEvery = std::chrono::seconds(1);
  constexpr auto kRetryEvery = std::chrono::milliseconds(10);  // only while somebody waits for memory or descriptors
  constexpr int kTrimSweeps = 30;
  auto next_sweep = Clock::now() + kSweepEvery;
  int sweeps = 0;
  while (!stopping.load()) {
    bool waiting = false;
    {
      const std::lock_guard lock(waiting_mutex_);
      waiting = !waiting_.empty() || !paused_listeners_.empty();
    }
    {
      std::unique_lock lock(house_mutex);
      if (stopping.load()) return;
      if (waiting) {
        house_wake.wait_for(lock, kRetryEvery);
      } else {
        house_wake.wait_until(lock, next_sweep);
      }
    }
    wake_memory_waiters();
    if (Clock::now() < next_sweep) continue;
    next_sweep = Clock::now() + kSweepEvery;
    sweep();
    if (++sweeps % kTrimSweeps == 0 && pool.bytes_in_use() == 0) pool.trim();
  }
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Service service, MetricRegistry& metrics) {
  auto state = std::make_unique<ServerState>(options, std::move(service), metrics);
  STOA_CHECK_OK(state->listen());
  ServerState* shared = state.get();
  for (std::uint32_t i = 0; i < state->options.workers; ++i) {
    state->threads.emplace_back([shared] { Worker(*shared).run(); });
  }
  state->threads.emplace_back([shared] { shared->keep_house(); });
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<ServerState> state) : state_(std::move(state)) {}
Server::~Server() {
  stop();
}

std::vector<std::uint16_t> Server::ports() const {
  std::vector<std::uint16_t> ports;
  for (const Listener& listener : state_->listeners) ports.push_back(listener.port);
  return ports;
}

bool Server::connected(const std::array<std::uint8_t, 16>& address) const {
  return state_->connected(address);
}

bool Server::drain(std::chrono::milliseconds patience) {
  ServerState& s = *state_;
  s.draining.store(true);
  for (const Listener& listener : s.listeners) epoll_ctl(s.epoll, EPOLL_CTL_DEL, listener.fd, nullptr);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (s.busy.load() > 0 || s.in_flight.load() > 0 || !s.tasks.empty() || s.output_bytes.load() > 0) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

void Server::stop() {
  ServerState& s = *state_;
  {
    const std::lock_guard lock(s.house_mutex);
    if (s.stopping.exchange(true)) return;
  }
  s.house_wake.notify_all();
  const std::uint64_t all = s.threads.size() + 1;
  [[maybe_unused]] const ssize_t n = write(s.wake_fd, &all, sizeof all);
  for (std::thread& thread : s.threads) thread.join();
  s.threads.clear();
  s.close_all();
}

}  // namespace stoa::rpc
