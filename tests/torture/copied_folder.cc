// A data folder that is copied, moved or put back from a backup just serves its content; pieces of different times do
// not.
#include "tests/torture/together.h"

namespace stoa::torture {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kOperations = 200;

Status copy_tree(const fs::path& from, const fs::path& to) {
  std::string output;
  if (clients::run_command({"/bin/cp", "-a", from, to}, &output) != 0) return skipped("cp -a: " + output);
  return {};
}

// Starts it, compares, works, stops it, and looks at it offline.
Status serve_for_a_while(Run& run, const fs::path& data, Together& clients, const std::string& story) {
  auto server = run.start(data);
  if (!server) return broken(story + ": " + describe(server.error()));
  clients.attach(**server);
  if (const Status found = clients.verify(); !found) return broken(story + ": " + found.error().detail);
  STOA_CHECK_OK(clients.work(kOperations * run.effort));
  (*server)->stop();
  clients.server_died();
  return run.check(data);
}

// Both at the same time.
Status serve_both(Run& run, const fs::path& one, Together& of_one, const fs::path& other, Together& of_other) {
  STOA_TRY(first, run.start(one));
  auto second = run.start(other);
  if (!second) return broken("cp -a of a data folder, beside the original: " + describe(second.error()));
  of_one.attach(*first);
  of_other.attach(**second);
  for (int round = 0; round < 2; ++round) {
    STOA_CHECK_OK(of_one.verify());
    if (const Status found = of_other.verify(); !found) return broken("in the copy: " + found.error().detail);
    STOA_CHECK_OK(of_one.work(kOperations * run.effort));
    STOA_CHECK_OK(of_other.work(kOperations * run.effort));
  }
  first->stop();
  (*second)->stop();
  of_one.server_died();
  of_other.server_died();
  STOA_CHECK_OK(run.check(one));
  return run.check(other);
}

// An old copy of `piece` of the folder: refused, and all is well when the right one is back.
Status mix_times(Run& run, const fs::path& data, const fs::path& old, const char* piece, Together& clients) {
  const fs::path away = run.folder / "away";
  fs::rename(data / piece, away);
  STOA_CHECK_OK(copy_tree(old / piece, data / piece));
  const std::string story = std::string(piece) + " of an earlier time beside the rest";
  bool started = false;
  if (auto server = run.start(data)) {
    started = true;
    (*server)->stop();
  }
  fs::remove_all(data / piece);
  fs::rename(away, data / piece);
  const std::string meanwhile = story + (started ? " was served" : " was refused");
  STOA_CHECK_OK(serve_for_a_while(run, data, clients, meanwhile + "; the right one is back"));
  if (started) return broken(story + " is served as if nothing were amiss");
  return {};
}

}  // namespace

Status copied_folder(Run& run) {
  const fs::path data = run.folder / "data", copy = run.folder / "copy", moved = run.folder / "moved",
                 backup = run.folder / "backup";
  Together clients(2, run), of_copy(2, run), of_backup(2, run);
  STOA_CHECK_OK(serve_for_a_while(run, data, clients, "a new folder"));
  STOA_CHECK_OK(copy_tree(data, backup));
  of_backup.know_as(clients);
  STOA_CHECK_OK(copy_tree(data, copy));
  of_copy.know_as(clients);
  STOA_CHECK_OK(serve_both(run, data, clients, copy, of_copy));
  fs::rename(copy, moved);
  STOA_CHECK_OK(serve_for_a_while(run, moved, of_copy, "mv of a data folder"));
  fs::remove_all(moved);
  for (const char* piece : {"meta", "blobs"}) STOA_CHECK_OK(mix_times(run, data, backup, piece, clients));
  fs::remove_all(data);
  STOA_CHECK_OK(copy_tree(backup, data));
  STOA_CHECK_OK(serve_for_a_while(run, data, of_backup, "a backup in the place of the original"));
  run.operations = clients.operations() + of_copy.operations() + of_backup.operations();
  return {};
}

}  // namespace stoa::torture
