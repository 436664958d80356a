// kill -9 in the middle of operations of several clients, again and again: acknowledged data is
// there.
#include "tests/torture/together.h"

namespace stoa::torture {

Status crash(Run& run) {
  constexpr unsigned kCycles = 3;
  constexpr std::uint64_t kOperationsMax = 900;  // before a kill
  const auto data = run.folder / "data";
  Together clients(3, run);
  for (unsigned cycle = 0; cycle <= kCycles * run.effort; ++cycle) {
    STOA_TRY(server, run.start(data));
    clients.attach(*server);
    STOA_CHECK_OK(clients.verify());
    STOA_CHECK_OK(clients.work_until(1 + run.random.below(kOperationsMax), [&] { server->kill_hard(); }));
    clients.server_died();
    STOA_CHECK_OK(run.check(data));
  }
  STOA_TRY(server, run.start(data));
  clients.attach(*server);
  run.operations = clients.operations();
  return clients.verify();
}

}  // namespace stoa::torture
