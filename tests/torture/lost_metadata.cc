// Missing metadata or content, as when a disk is not mounted: the server reports it and does not start; when all is
// back, all is there.
#include "tests/torture/together.h"

namespace stoa::torture {
namespace {

namespace fs = std::filesystem;

struct Loss {
  std::string what;
  fs::path from;  // moves away, and back
  fs::path data;  // the folder served meanwhile
  std::vector<std::string> flags{};
};

}  // namespace

Status lost_metadata(Run& run) {
  const fs::path data = run.folder / "data", away = run.folder / "away", other = run.folder / "new";
  Together clients(2, run);
  {
    STOA_TRY(server, run.start(data));
    clients.attach(*server);
    STOA_CHECK_OK(clients.work(300 * run.effort));
    server->stop();
    clients.server_died();
  }
  const Loss losses[] = {
      {"its metadata is away", data / "meta", data},
      {"meta/CURRENT is away", data / "meta" / "CURRENT", data},
      {"a new data folder is given the old blobs", {}, other, {"--blob-directories", data / "blobs"}},
      {"its blobs are away", data / "blobs", data},
  };
  // Each alone in the short form would take four rounds of starts: in any order, all of them.
  std::vector<const Loss*> order;
  for (const Loss& loss : losses)
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(run.random.below(order.size() + 1)), &loss);
  for (const Loss* loss : order) {
    if (!loss->from.empty()) fs::rename(loss->from, away);
    bool started = false;
    if (auto server = run.start(loss->data, loss->flags)) {
      started = true;
      (*server)->stop();
    }
    if (!loss->from.empty()) {
      fs::remove_all(loss->from);
      fs::rename(away, loss->from);
    }
    fs::remove_all(other);
    const std::string story = loss->what + (started ? ", and the server starts as if nothing were missing"
                                                    : ", and the server does not start");
    auto back = run.start(data);
    if (!back) return broken(story + "; put back, " + describe(back.error()));
    clients.attach(**back);
    if (const Status found = clients.verify(); !found)
      return broken(story + "; put back, content is lost:\n" + found.error().detail);
    (*back)->stop();
    clients.server_died();
    STOA_CHECK_OK(run.check(data));
    if (started) return broken(story);
  }
  run.operations = clients.operations();
  return {};
}

}  // namespace stoa::torture
