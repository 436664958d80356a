// Slow disks: nothing goes wrong but the clock, and acknowledged data survives a kill.
#include "tests/torture/together.h"

namespace stoa::torture {

Status slow_disk(Run& run) {
  constexpr std::uint64_t kOperations = 60;
  const auto data = run.folder / "data";
  STOA_TRY(faults, Faults::make(run.folder / "faults"));
  Together clients(4, run);
  for (const Disk slow : {Disk::kMetadata, Disk::kContent}) {
    STOA_TRY(server, run.start(data, {}, faults.get()));
    clients.attach(*server);
    STOA_CHECK_OK(clients.verify());
    faults->set(slow, {.delay_us = 1000 * static_cast<std::uint32_t>(5 + run.random.below(60))});
    STOA_CHECK_OK(clients.work(kOperations * run.effort));
    STOA_CHECK_OK(clients.work_until(1 + run.random.below(kOperations), [&] { server->kill_hard(); }));
    faults->clear();
    clients.server_died();
    STOA_CHECK_OK(run.check(data));
  }
  STOA_TRY(server, run.start(data));
  clients.attach(*server);
  run.operations = clients.operations();
  return clients.verify();
}

}  // namespace stoa::torture
