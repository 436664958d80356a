// Space of the host file system that is held for the metadata database from the start, in a file that has all its
// blocks. What the database must write when nothing else is free takes it piece by piece; when there is room again, it
// is taken back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "backends/kv/rocksdb/space_plan.h"

namespace stoa::kv {

// Who writes. A compaction can be done again later; what is left to it is less.
enum class Urgency : bool { kCompaction, kMust };

class DiskReserve {
 public:
  struct State {
    std::uint64_t total = 0, free = 0;  // of the file system; free: beside the reserve
    std::uint64_t held = 0, wanted = 0;
    bool low = false;  // growth is refused
  };

  // In `folder`, which exists. Takes what there is room for, up to the plan's reserve.
  DiskReserve(const std::string& folder, const SpacePlan& plan);
  ~DiskReserve();

  // Before so many bytes are written: gives away as much of the reserve as they need, beside what others were promised
  // and have not written yet. False: there is no room for them. Who is told true says took() when they are written, or
  // not needed any more.
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
  std::mutex mutex_;  // guards what follows
  std::condition_variable_any wanted_;
  bool can_hold_ = true;  // the file system gives files blocks ahead
  std::uint64_t held_ = 0;
  std::uint64_t total_ = 0, free_ = 0;
  std::jthread keeper_;
};

// Total size of the file system of a path; 0: not known.
std::uint64_t file_system_bytes(const std::string& path);

}  // namespace stoa::kv
