// Ends leases, or parts of them, in the right order: what the client and the kernel keep under one is written back and
// forgotten, then the lease is given back.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "frontends/native/cache/kernel_cache.h"
#include "frontends/native/cache/lease_cache.h"
#include "frontends/native/cache/local_opens.h"
#include "frontends/native/client/lease_events.h"

namespace stoa::native {

// Thread-safe. Its threads hold no lock while they call others, and serve no request. There are several, so that a
// file whose write-back is slow does not hold up other leases; each lease has one thread at a time.
class RecallEngine {
 public:
  RecallEngine(LeaseCalls& calls, LeaseCache& cache, LocalOpens& opens) : calls_(calls), cache_(cache), opens_(opens) {}
  ~RecallEngine() { stop(); }
  RecallEngine(const RecallEngine&) = delete;

  // kBusy: a thread could not be started. Before the first lease is asked for.
  Status start();
  // Ends the threads, after what is under way. What is queued is left: the session's end ends its leases.
  void stop();
  // What else is kept; null: none. Before the first lease is asked for, or after the last: nullptr waits for a call
  // under way.
  void set_kept(KeptUnderLeases* kept);
  void set_kernel(KernelCache* kernel);

  // No call waits.
  void recall(std::uint64_t lease, std::uint32_t keeps);
  void lost(std::uint64_t lease);
  // A lease that the client wants no more.
  void give_back(std::uint64_t lease);
  // A name that the kernel may keep without a lease. Where the kernel can forget it at once it has; else a moment
  // later.
  void forget_name(core::FileId directory, std::string_view name);

 private:
  static constexpr std::size_t kThreads = 4;
  struct End {
    std::uint32_t keeps = core::kAllCaching;
    bool lost = false;
    bool pauses = false;
    bool queued = false;   // in order_
    bool running = false;  // a thread is at work on the lease
  };
  struct Kept {
    KeptUnderLeases* layers = nullptr;
    KernelCache* kernel = nullptr;
  };
  struct Name {
    core::FileId directory;
    std::string name;
  };
  void enqueue(std::uint64_t lease, const End& end);
  void run();
  void carry_out(std::uint64_t lease, const End& end, const Kept& kept);
  void forget_in_kernel(const LeaseGoing& going, KernelCache& kernel);
  void watch_trust(std::unique_lock<std::mutex>& lock);
  void forget_next_name(std::unique_lock<std::mutex>& lock);

  LeaseCalls& calls_;
  LeaseCache& cache_;
  LocalOpens& opens_;
  std::mutex mutex_;  // guards all below
  std::condition_variable work_, idle_;
  std::unordered_map<std::uint64_t, End> ends_;
  std::deque<std::uint64_t> order_;
  std::deque<Name> names_;  // to be forgotten; as many as there are calls that the kernel has not taken up
  Kept kept_;
  std::size_t running_ = 0;
  bool stopping_ = false;
  bool watching_ = false;  // a thread looks at the trust from time to time
  bool trusted_ = true;
  std::vector<std::thread> threads_;
};

}  // namespace stoa::native
