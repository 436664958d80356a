// Several clients at work on one server at the same time.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tests/torture/client.h"
#include "tests/torture/scenario.h"

namespace stoa::torture {

class Together {
 public:
  Together(std::size_t clients, Run& run);

  void attach(const clients::ServerProcess& server);
  void set_disks(Disks disks);
  // All work until this many operations are done.
  Status work(std::uint64_t operations) { return work(operations, {}); }
  // Then `kill` is called, which ends the server; the others meet that in the middle of their
  // operations.
  Status work_until(std::uint64_t operations, const std::function<void()>& kill) { return work(operations, kill); }
  void server_died();
  void know_as(const Together& other);
  // The present files, through every protocol.
  Status verify();
  std::uint64_t operations() const;
  Client& client(std::size_t number) { return *clients_[number]; }

 private:
  Status work(std::uint64_t operations, const std::function<void()>& kill);
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace stoa::torture
