// A disk that fails: data acknowledged before is never read wrong and is there after a restart, and health reports
// it.
#include <cerrno>
#include <chrono>

#include "tests/torture/together.h"

namespace stoa::torture {
namespace {

using Clock = std::chrono::steady_clock;

// The answer of /healthz, and the state of `stoa status`.
struct Health {
  std::string http, state;
  bool healthy() const { return http == "200" || state.find("healthy") == 0; }
};

Health health_of(Run& run, const clients::ServerProcess& server, const std::filesystem::path& data) {
  Health health;
  clients::run_command({"/usr/bin/curl", "-s", "--noproxy", "*", "--max-time", "10", "-o", "/dev/null", "-w",
                        "%{http_code}", server.value("STOA_ADMIN_URL") + "/healthz"},
                       &health.http);
  std::string status;
  run.stoa(data, {"status"}, &status);
  const std::size_t at = status.find("state ");
  health.state = at == std::string::npos ? status : status.substr(at, status.find('\n', at) - at);
  const std::size_t word = health.state.find_first_not_of(' ', 5);
  if (at != std::string::npos && word != std::string::npos) health.state.erase(0, word);
  return health;
}

}  // namespace

Status failed_store(Run& run) {
  constexpr std::uint64_t kOperations = 150;
  // What fails leaves content behind. It stays below what a start frees without asking (backends/blob/local/sweep.h).
  constexpr std::uint64_t kFailingOperations = 50;
  const auto data = run.folder / "data";
  STOA_TRY(faults, Faults::make(run.folder / "faults"));
  Together clients(3, run);
  const stoa_disk_faults kinds[] = {{.sync_errno = EIO}, {.write_errno = EIO}, {.write_errno = EIO, .sync_errno = EIO}};
  const bool metadata_first = run.random.percent(50);
  for (const bool metadata : {metadata_first, !metadata_first}) {
    const Disk disk = metadata ? Disk::kMetadata : Disk::kContent;
    STOA_TRY(server, run.start(data, {}, faults.get()));
    clients.attach(*server);
    STOA_CHECK_OK(clients.verify());
    STOA_CHECK_OK(clients.work(kOperations * run.effort));
    const Health before = health_of(run, *server, data);
    if (before.http != "200" || !before.healthy())
      return broken("a sound server is called " + before.http + ", " + before.state);

    faults->set(disk, run.random.pick(kinds));
    clients.set_disks(Disks::kFailing);
    STOA_CHECK_OK(clients.work(kFailingOperations));
    Health health = health_of(run, *server, data);
    for (const auto deadline = Clock::now() + kPatience; health.healthy() && Clock::now() < deadline;)
      health = health_of(run, *server, data);
    if (health.healthy()) {
      return broken(std::string(metadata ? "the metadata's" : "the content's") + " disk fails, and /healthz says " +
                    health.http + ", stoa status: " + health.state);
    }
    if (metadata) {
      clients.set_disks(Disks::kReadable);
      if (const Status read = clients.verify(); !read)
        return broken("the metadata's disk takes no changes: " + read.error().detail);
    }
    server->kill_hard();
    faults->clear();
    clients.set_disks(Disks::kSound);
    clients.server_died();
    STOA_CHECK_OK(run.check(data));
  }
  STOA_TRY(server, run.start(data));
  clients.attach(*server);
  run.operations = clients.operations();
  return clients.verify();
}

}  // namespace stoa::torture
