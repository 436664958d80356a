// What a running mount tells of itself: to stoa stats, and to stoa umount, which waits for its end.
//
// The process of the mount listens on an abstract socket that is named by the mount's device number. Whoever connects,
// as the superuser or the mounting user, gets a report at once and each second, and a last one that says how many files
// have lost data; then the connection ends. Who says something wants to take the mount over (take_over.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "frontends/native/fuse/owned_fd.h"

namespace stoa::native::mount {

struct MountReport {
  std::string server, transport;                                // the URL; "fuse" or "ring"
  std::uint64_t process = 0;                                    // number of the mount's process
  std::vector<std::pair<std::string, std::uint64_t>> counters;  // name, value; "unsent_bytes" is one
  std::optional<std::uint64_t> lost_files;  // only in the last one: data of these could not be written
};

// In the process of the mount.
class MountMonitor {
 public:
  // The last report goes out, and then all connections end.
  ~MountMonitor();
  using Report = std::function<MountReport()>;
  // Somebody of the same user said this. True: another process serves the mount and answers on `listener` from now on.
  using Said = std::function<bool(const std::string& word, fuse::OwnedFd socket, int listener)>;
  // Begins to answer for what is mounted on `directory` (absolute). `report` and `said` are called by a thread of it
  // until stop(). `listener`: of the process before; empty: a new one. kNotFound: nothing is mounted there. kBusy:
  // there is no thread.
  Status start(const std::string& directory, Report report, Said said, fuse::OwnedFd listener = {});
  // Takes no more connections: the device number may soon be that of another mount.
  void close_listener();
  // Asks `report` no more.
  void stop(std::uint64_t lost_files);

 private:
  void serve();
  void accept_one();
  void hear(std::size_t watcher);
  void send_report(const MountReport& report);

  Report report_;
  Said said_;
  fuse::OwnedFd listener_, wake_;
  std::vector<fuse::OwnedFd> watchers_;  // by the thread, and after it
  std::atomic<bool> listening_{false}, stopping_{false};
  bool replaced_ = false;  // by the thread, and after it
  std::uint64_t lost_files_ = 0;
  std::thread thread_;
};

// In a program that looks at a mount.
class MountWatch {
 public:
  // kNotFound: nothing is mounted on `directory`. kAccess: it is another user's. kShutdown: no process serves it.
  static Result<MountWatch> connect(const std::string& directory);
  // Blocks for the next report, at most some seconds. kShutdown: the connection has ended. kTimeout: nothing came.
  Result<MountReport> next();
  // Blocks until the process has ended, or, not for ever, so long.
  static constexpr std::chrono::milliseconds kForEver{-1};
  void wait_for_end(std::chrono::milliseconds patience = kForEver);
  // For a process that takes the mount over; only wait_for_end() is of use after it. kAccess: another user's serves it.
  Result<fuse::OwnedFd> take_socket();

 private:
  fuse::OwnedFd socket_, process_;
  uid_t user_ = 0;  // of the process
};

}  // namespace stoa::native::mount
