// Every odd length and offset, through every protocol, read back over new connections: only a fault of the server
// can cause a wrong byte.
#include "tests/torture/client.h"
#include "tests/torture/scenario.h"

namespace stoa::torture {
namespace {

constexpr unsigned kSteps = 1000;

// Whole files over connections on which nothing was read before.
Status read_first(Client& client, model::Random& random) {
  const std::uint64_t lengths[] = {
      13'497, 16'815, 21'915, awkward_number(random), awkward_number(random), awkward_number(random)};
  client.set_fresh(100);
  for (const std::uint64_t length : lengths) {
    const std::string file = "first" + std::to_string(length);
    STOA_CHECK_OK(client.change(Version::kS3, file, {.kind = Change::Kind::kReplace, .bytes = random.bytes(length)}));
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kCallBytesMax));
    for (const Version version : kVersions) STOA_CHECK_OK(client.read(version, file, 0, count));
  }
  return {};
}

}  // namespace

Status content(Run& run) {
  STOA_TRY(server, run.start(run.folder / "data"));
  Client client("c", run.random.next());
  client.attach(*server);
  client.set_odd_reads(true);
  STOA_CHECK_OK(read_first(client, run.random));
  for (unsigned i = 0; i < kSteps * run.effort; ++i) {
    if (i % 200 == 0) client.set_fresh(i % 400 == 0 ? 50 : 3);
    STOA_CHECK_OK(client.step());
  }
  STOA_CHECK_OK(client.verify());
  run.operations = client.operations();
  server->stop();
  return run.check(run.folder / "data");
}

}  // namespace stoa::torture
