#include "tests/torture/together.h"

#include <atomic>
#include <thread>

namespace stoa::torture {
namespace {

// The first that is no broken connection.
Status worst(const std::vector<Status>& ended, bool killed) {
  Status lost;
  for (const Status& status : ended) {
    if (status) continue;
    if (status.error().code != Errc::kShutdown) return status;
    lost = status;
  }
  if (!lost && !killed) return broken("the server died, or broke off by itself: " + lost.error().detail);
  return {};
}

}  // namespace

Together::Together(std::size_t clients, Run& run) {
  for (std::size_t i = 0; i < clients; ++i) {
    clients_.push_back(std::make_unique<Client>("c" + std::to_string(i), run.random.next()));
  }
}

void Together::attach(const clients::ServerProcess& server) {
  for (const auto& client : clients_) client->attach(server);
}

void Together::set_disks(Disks disks) {
  for (const auto& client : clients_) client->set_disks(disks);
}

Status Together::work(std::uint64_t operations, const std::function<void()>& kill) {
  std::atomic<std::uint64_t> count{0};
  std::atomic<bool> over{false}, killed{false};
  std::vector<Status> ended(clients_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      threads.emplace_back([&, i] {
        while (ended[i] && !over) {
          ended[i] = clients_[i]->step();
          if (++count != operations) continue;
          if (kill) {
            killed = true;
            kill();
          } else {
            over = true;
          }
        }
        // A client that has found a fault ends it for all; one hit by the kill does not.
        if (!killed) over = true;
      });
    }
  }
  return worst(ended, killed);
}

void Together::server_died() {
  for (const auto& client : clients_) client->server_died();
}

void Together::know_as(const Together& other) {
  for (std::size_t i = 0; i < clients_.size(); ++i) clients_[i]->know_as(*other.clients_[i]);
}

Status Together::verify() {
  for (const auto& client : clients_) STOA_CHECK_OK(client->verify());
  return {};
}

std::uint64_t Together::operations() const {
  std::uint64_t sum = 0;
  for (const auto& client : clients_) sum += client->operations();
  return sum;
}

}  // namespace stoa::torture
