// Watches of directories: one thread reads the journal for all watchers and hands each its events, as server-sent
// events (WHATWG HTML, 9.2).
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/journal/journal.h"
#include "core/journal/path_resolver.h"
#include "core/volume/volume.h"
#include "frontends/admin/event_stream.h"

namespace stoa::admin {

// Thread-safe.
class WatchHub {
 public:
  static constexpr std::size_t kWatchersMax = 32;
  static constexpr std::chrono::seconds kHeartbeat{5};  // a lost watcher is detected by it, and keeps a place for this
                                                        // time

  // `volume` must outlive it.
  explicit WatchHub(core::Volume& volume);
  ~WatchHub() { stop(); }

  // The events of changes at or below the directory behind `cursor`. First "begin" with the cursor, then one event for
  // each change, its sequence as id; "lost" with a count where the journal dropped some before they were read. A
  // comment every kHeartbeat, with the newest cursor. kBusy: kWatchersMax are there; kShutdown.
  Result<std::shared_ptr<EventStream>> watch(core::FileId directory, std::uint64_t cursor);
  // Ends all streams that there are.
  void end_all();
  // The same, and no more are begun.
  void stop();

 private:
  struct Watcher {
    Watcher(core::Journal& journal, core::FileId dir, std::uint64_t after)
        : directory(dir), cursor(after), places(journal, 4096) {}
    const core::FileId directory;
    std::uint64_t cursor;
    core::PathResolver places;
    std::chrono::steady_clock::time_point spoke = std::chrono::steady_clock::now();
    const std::shared_ptr<EventStream> stream = std::make_shared<EventStream>();
  };
  void serve(const std::stop_token& stop);
  std::vector<std::shared_ptr<Watcher>> present();
  // True: there is more to read for it at once.
  Result<bool> advance(Watcher& watcher);
  Status tell(Watcher& watcher, const core::JournalRecord& record);

  core::Volume& volume_;
  core::Journal& journal_;
  std::mutex mutex_;  // guards the two below
  bool stopped_ = false;
  std::vector<std::shared_ptr<Watcher>> watchers_;
  std::jthread reader_;  // last: it uses all above
};

}  // namespace stoa::admin
