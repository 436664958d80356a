// The online verifier as one background job: started by one request, polled by others.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "core/volume/volume.h"

namespace stoa::admin {

// Thread-safe. At most one check runs at a time.
class CheckJob {
 public:
  enum class State : std::uint8_t { kIdle, kRunning, kDone, kFailed };
  struct Snapshot {
    State state = State::kIdle;
    bool read_data = false;
    Timestamp started{};
    Timestamp finished{};
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    core::CheckReport report{};  // of kDone
    std::string error{};         // of kFailed
  };

  explicit CheckJob(core::Volume& volume) : volume_(volume) {}
  ~CheckJob();  // waits for a check that runs

  Status start(bool read_data);  // kBusy: one is running
  Snapshot snapshot() const;

 private:
  void run(bool read_data);

  core::Volume& volume_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
  mutable std::mutex mutex_;  // guards the members below; not held while the check runs
  Snapshot snapshot_;
  std::thread thread_;
};

}  // namespace stoa::admin
