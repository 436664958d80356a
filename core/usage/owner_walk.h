// Directories that wait for their usage by user and group to be counted, and the progress
// (core/namespace/owner_count.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/usage/ledger.h"

namespace stoa::core {

struct OwnerWalk {
  std::vector<AccountRef> accounts;  // of the directories that it is for
  CountedFiles at;
  std::shared_ptr<CountedFiles> reserved = std::make_shared<CountedFiles>();  // guarded as the sides of an account are
  std::shared_ptr<CountedFiles> committed = std::make_shared<CountedFiles>();
};

// Whether directories may wait to be counted: since a request, or from before the start. Thread-safe.
class OwnerCountRequest {
 public:
  void make() { wanted_ = true; }
  bool take() { return wanted_.exchange(false); }  // whether there was one
 private:
  std::atomic<bool> wanted_ = true;
};

struct OwnerCount {
  OwnerCountRequest request;
  // Called for a new request, to count soon; set before the first operation. Null: a caller polls.
  std::function<void()> on_request = nullptr;
  std::mutex mutex;  // guards the walk; comes before the tree lock
  std::unique_ptr<OwnerWalk> walk;
};

}  // namespace stoa::core
