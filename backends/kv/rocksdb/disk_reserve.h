// Space of the host file system reserved for the metadata database from the start, in a file that has all its blocks.
// Writes that must succeed on a full disk take it piece by piece; when there is room again, it is taken back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "backends/kv/rocksdb/space_plan.h"

namespace stoa::kv {

// The kind of writer. A compaction can be done again later, so less space is left to it.
enum class Urgency : bool { kCompaction, kMust };

class DiskReserve {
 public:
  struct State {
    std::uint64_t total = 0, free = 0;  // of the file system; free: beside the reserve
    std::uint64_t held = 0, wanted = 0;
    bool low = false;  // growth is refused
  };

  // In `folder`, which exists. Takes the room available, up to the plan's reserve.
  DiskReserve(const std::string& folder, const SpacePlan& plan);
  ~DiskReserve();

  // Call before writing this many bytes. Frees as much of the reserve as they need, beside space promised to others
  // and not written yet. False: there is no room for them. After true, the caller calls took() when they are written,
  // or not needed any more.
  bool make_room(std::uint64_t bytes, Urgency urgency);
  void took(std::uint64_t bytes) { promised_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Whether growth may go on. Looks at the file system a few times a second, not each time.
  bool has_room();
  State state();
  // Until growth is refused. False: stopped.
  bool wait_until_low(const std::stop_token& stop);
  const std::string& folder() const { return folder_; }
  const SpacePlan& plan() const { return plan_; }

 private:
  void keep_whole(const std::stop_token& stop);
  void measure_locked();
  void look_locked();
  bool resize_locked(std::uint64_t to);

  const std::string folder_;
  const std::string path_;
  const SpacePlan plan_;
  int fd_ = -1;
  std::atomic<bool> low_{false};
  std::atomic<std::int64_t> look_due_{0};
  std::atomic<std::uint64_t> promised_{0};
  std::mutex mutex_;  // guards the members below
  std::condition_variable_any wanted_;
  bool can_hold_ = true;  // the file system gives files blocks ahead
  std::uint64_t held_ = 0;
  std::uint64_t total_ = 0, free_ = 0;
  std::jthread keeper_;
};

// Total size of the file system of a path; 0: unknown.
std::uint64_t file_system_bytes(const std::string& path);

}  // namespace stoa::kv
