#include "frontends/native/cache/recall_engine.h"

#include <csignal>
#include <system_error>

#include "base/log.h"

namespace stoa::native {
namespace {

// How soon the kernel's pages go when the server is not heard of any more.
constexpr auto kTrustLook = std::chrono::seconds(1);

// The program's handlers of signals do not run on these threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Status RecallEngine::start() {
  const SignalsBlocked blocked;
  try {
    while (threads_.size() < kThreads) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error& error) {
    stop();
    return fail(Errc::kBusy, error.what());
  }
  return {};
}

void RecallEngine::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  calls_.stop_waiting();
  for (std::thread& one : threads_) one.join();
  threads_.clear();
}

void RecallEngine::set_kept(KeptUnderLeases* kept) {
  std::unique_lock lock(mutex_);
  kept_.layers = kept;
  idle_.wait(lock, [&] { return running_ == 0; });
}

void RecallEngine::set_kernel(KernelCache* kernel) {
  std::unique_lock lock(mutex_);
  kept_.kernel = kernel;
  idle_.wait(lock, [&] { return running_ == 0; });
}

void RecallEngine::recall(std::uint64_t lease, std::uint32_t keeps) {
  enqueue(lease, {.keeps = keeps, .pauses = true});
}

void RecallEngine::lost(std::uint64_t lease) {
  enqueue(lease, {.keeps = core::kLeaseNone, .lost = true, .pauses = true});
}

void RecallEngine::give_back(std::uint64_t lease) {
  enqueue(lease, {.keeps = core::kLeaseNone});
}

void RecallEngine::forget_name(core::FileId directory, std::string_view name) {
  std::unique_lock lock(mutex_);
  KernelCache* const kernel = kept_.kernel;
  if (kernel == nullptr) return;
  ++running_;
  lock.unlock();
  const bool forgot = kernel->forget_all_names();
  lock.lock();
  if (--running_ == 0) idle_.notify_all();
  if (forgot) return;
  names_.push_back({directory, std::string(name)});
  work_.notify_one();
}

void RecallEngine::forget_next_name(std::unique_lock<std::mutex>& lock) {
  const Name next = std::move(names_.front());
  names_.pop_front();
  KernelCache* const kernel = kept_.kernel;
  if (kernel == nullptr) return;
  ++running_;
  lock.unlock();
  kernel->forget_names(next.directory, std::span(&next.name, 1));
  lock.lock();
  if (--running_ == 0) idle_.notify_all();
}

// At most one entry for each lease: bounded by the leases there are.
void RecallEngine::enqueue(std::uint64_t lease, const End& end) {
  const std::lock_guard lock(mutex_);
  End& all = ends_[lease];
  all.keeps &= end.keeps;
  all.lost |= end.lost;
  all.pauses |= end.pauses;
  if (all.queued) return;
  all.queued = true;
  if (all.running) return;  // its thread puts it into the queue
  order_.push_back(lease);
  work_.notify_one();
}

void RecallEngine::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stopping_) return;
    if (!names_.empty()) {
      forget_next_name(lock);
      continue;
    }
    if (order_.empty()) {
      if (watching_) {
        work_.wait(lock);
        continue;
      }
      watch_trust(lock);
      continue;
    }
    const std::uint64_t lease = order_.front();
    order_.pop_front();
    End& one = ends_.at(lease);
    const End end = one;
    one = {.running = true};
    const Kept kept = kept_;
    ++running_;
    if (!watching_ || !order_.empty()) work_.notify_one();
    lock.unlock();
    carry_out(lease, end, kept);
    lock.lock();
    if (--running_ == 0) idle_.notify_all();
    const auto at = ends_.find(lease);
    at->second.running = false;
    if (at->second.queued) {
      order_.push_back(lease);
    } else {
      ends_.erase(at);
    }
  }
}

// Pages that the kernel has of open files would be read without a question.
void RecallEngine::watch_trust(std::unique_lock<std::mutex>& lock) {
  watching_ = true;
  work_.wait_for(lock, kTrustLook);
  watching_ = false;
  if (stopping_ || !order_.empty() || !names_.empty()) return;
  ++running_;
  const Kept kept = kept_;
  const bool before = trusted_;
  watching_ = true;
  lock.unlock();
  const bool now = cache_.trusted();
  if (before && !now && kept.kernel != nullptr) {
    for (const core::FileId file : cache_.opened_files()) kept.kernel->forget_pages(file);
  }
  lock.lock();
  watching_ = false;
  trusted_ = now;
  if (--running_ == 0) idle_.notify_all();
}

// The kernel waits in `forget_pages` for dirty pages that come back as writes: those no longer find the lease, and are
// written through.
void RecallEngine::forget_in_kernel(const LeaseGoing& going, KernelCache& kernel) {
  if ((going.gone & core::kReadCaching) != 0) {
    // Names first: that waits for look-ups whose replies the kernel has and has not yet taken up. Attributes of a node
    // that it does not know yet could not be ended.
    if (!going.names.empty() || going.other_names) kernel.forget_names(going.lease.file, going.names);
    for (const core::FileId file : going.files) kernel.forget_attributes(file);
  }
  // A file may have been open before the lease came, so that all may have pages.
  const bool reads = (going.gone & core::kReadCaching) != 0;
  const bool writes = (going.gone & core::kWriteCaching) != 0;
  for (const core::FileId file : reads ? going.files : going.opened) {
    if (reads || writes) kernel.forget_pages(file);
  }
}

void RecallEngine::carry_out(std::uint64_t lease, const End& end, const Kept& kept) {
  const std::optional<LeaseGoing> going = cache_.begin_end(lease, end.keeps);
  // One that is still being asked for ends with the reply. Others were given back before.
  if (!going) {
    if (!end.lost && !cache_.knows(lease)) (void)calls_.acknowledge(lease, core::kLeaseNone);
    return;
  }
  if ((going->gone & core::kHandleCaching) != 0) opens_.make_real(going->opened);
  if (kept.kernel != nullptr && going->gone != 0) forget_in_kernel(*going, *kept.kernel);
  if (kept.layers != nullptr) {
    if (end.lost) {
      kept.layers->lose(going->lease);
    } else if ((going->gone & core::kWriteCaching) != 0) {
      kept.layers->write_back(going->lease, core::kNoFile);
    }
    if ((going->gone & core::kReadCaching) != 0) kept.layers->forget(going->lease, core::kNoFile);
  }
  cache_.end(*going, end.pauses);
  if (end.lost) return;
  const Status given = calls_.acknowledge(lease, going->keeps);
  if (!given && given.error().code == Errc::kLeaseLost && going->keeps != 0) lost(lease);
  if (!given && given.error().code != Errc::kLeaseLost) {
    log_warning("native", "a lease could not be given back", {{"cause", describe(given.error())}});
  }
}

}  // namespace stoa::native
