// Health check of a volume. It makes a real change durable: one small record, at most every few seconds, only on
// request, and only if no other change became durable lately.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "core/txn/volume_context.h"
#include "core/volume/volume.h"

namespace stoa::core {

// The damaged content found so far, with the paths of now.
std::vector<DamagedRange> damaged_ranges(VolumeContext& volume);

class Health {
 public:
  static constexpr auto kFresh = std::chrono::seconds(5);
  static constexpr auto kLately = std::chrono::seconds(15);

  explicit Health(VolumeContext& volume) : volume_(volume) {}

  // Thread-safe. Blocks at most for a durable change, its own or that of a concurrent call.
  std::vector<Problem> look();

 private:
  void probe();
  // Whether other changes became durable since the last look, if that is recent.
  bool others_became_durable(std::chrono::steady_clock::time_point now);
  void add_metadata(std::vector<Problem>& found) const;
  void add_content(std::vector<Problem>& found) const;

  VolumeContext& volume_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable probed_;
  bool probing_ = false;
  std::chrono::steady_clock::time_point fresh_until_{};
  std::optional<std::chrono::steady_clock::time_point> looked_;
  CommitTicket durable_{};  // at that time
  Status change_;           // result of the last one
};

}  // namespace stoa::core
