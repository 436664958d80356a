// Directories that wait for their usage by user and group to be counted, and how far that is
// (core/namespace/owner_count.h).
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "core/usage/ledger.h"

namespace stoa::core {

struct OwnerWalk {
  std::vector<AccountRef> accounts;  // of the directories that it is for
  CountedFiles at;
  std::shared_ptr<CountedFiles> reserved = std::make_shared<CountedFiles>();  // guarded as the sides of an account are
  std::shared_ptr<CountedFiles> committed = std::make_shared<CountedFiles>();
};

// Whether directories may wait to be counted: since they said so, or from before the start. Thread-safe.
class OwnerCountWish {
 public:
  void make();
  bool take();  // whether there was one
  // Until there is one. False: stopped.
  bool wait(const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any made_;
  bool wanted_ = true;
};

struct OwnerCount {
  OwnerCountWish wish;
  std::mutex mutex;  // guards the walk; comes before the tree lock
  std::unique_ptr<OwnerWalk> walk;
};

}  // namespace stoa::core
