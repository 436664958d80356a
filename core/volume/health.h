// Whether a volume does what it is for. A real answer needs a real change: one small record is made durable, at most every few seconds and
// only while somebody asks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "core/namespace/tree.h"
#include "core/volume/volume.h"

namespace stoa::core {

class Health {
 public:
  using Clock = std::chrono::steady_clock::time_point (*)();
  static constexpr auto kFresh = std::chrono::seconds(5);

  explicit Health(Tree& tree, Clock clock = std::chrono::steady_clock::now) : tree_(tree), clock_(clock) {}

  // Thread-safe. Blocks for a durable change, or for that of whoever asked just before.
  std::vector<Problem> look();

 private:
  void probe();
  void add_metadata(std::vector<Problem>& found) const;
  void add_content(std::vector<Problem>& found) const;

  Tree& tree_;
  const Clock clock_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable probed_;
  bool probing_ = false;
  std::chrono::steady_clock::time_point fresh_until_{};
  Status change_;  // what became of the last one
};

}  // namespace stoa::core
