// What /proc/PID/status tells of the process that asks: its groups, and whether it is being killed.
//
// Only that file. /proc/PID/stat and others wait for the exec_update_lock, which execve(2) holds while it closes files;
// closing a file of the mount waits for the mount, so reading them here could hang both for ever.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stoa::native::mount {

// Of the text of a status file. Groups that cannot be read are left out.
std::vector<std::uint32_t> parse_groups(std::string_view status);
// Whether SIGKILL is pending: the kernel adds it to each thread that a fatal signal ends.
bool parse_killed(std::string_view status);

// The whole file; empty when there is no such process.
std::optional<std::string> read_status(std::uint32_t pid);

// Whether the process is being killed, or gone.
bool is_dying(std::uint32_t pid);

// The supplementary groups of processes, remembered for a moment. Thread-safe; reads files without holding its lock.
class ProcessGroups {
 public:
  using Clock = std::chrono::steady_clock;
  // A change of groups without one of uid or gid is seen after so long.
  static constexpr std::chrono::milliseconds kLife{500};
  static constexpr std::size_t kEntriesMost = 1024;

  // Groups of the process; none when it is not visible (pid 0) or gone.
  std::vector<std::uint32_t> of(std::uint32_t pid, std::uint32_t uid, std::uint32_t gid);
  std::size_t size() const;

 private:
  struct Key {
    std::uint32_t pid, uid, gid;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return (std::size_t{key.pid} * 0x9e3779b97f4a7c15U) ^ (std::size_t{key.uid} << 32) ^ key.gid;
    }
  };
  struct Known {
    std::vector<std::uint32_t> groups;
    Clock::time_point until;
  };
  mutable std::mutex mutex_;  // guards known_
  std::unordered_map<Key, Known, KeyHash> known_;
};

}  // namespace stoa::native::mount
