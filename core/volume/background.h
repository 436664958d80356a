// The background work of a volume: one thread that flushes lazy attributes, frees garbage and scrubs.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/namespace/tree.h"

namespace stoa::core {

class Background {
 public:
  explicit Background(Tree& tree) : tree_(tree), thread_([this] { run(); }) {}
  ~Background();

 private:
  void run();

  Tree& tree_;
  std::mutex mutex_;  // guards stop_
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace stoa::core
