#include "frontends/native/fuse/ring_queues.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/log.h"

namespace stoa::native::fuse {
namespace {

// Beyond the processors of every machine.
constexpr std::uint16_t kNoQueue = 0xffff;
constexpr std::uint32_t kCommandsAtOnce = 256;

}  // namespace

Result<std::unique_ptr<RingQueues>> RingQueues::prepare(int fuse, const Processors& processors) {
  if (processors.possible == 0 || processors.possible > kNoQueue || processors.running.empty()) {
    return fail(Errc::kNotSupported, "/sys does not tell the processors");
  }
  std::unique_ptr<RingQueues> queues(new RingQueues(fuse, processors.possible));
  // The kernel wants an entry in the queue of each processor that there may ever be.
  for (std::uint32_t i = 0; i < processors.possible; ++i) {
    const bool runs = std::ranges::find(processors.running, i) != processors.running.end();
    STOA_CHECK_OK(queues->add_entries(static_cast<std::uint16_t>(i), runs ? kEntries : kEntriesAtRest,
                                      runs ? kParkedMost : kEntriesAtRest / 2));
  }
  STOA_TRY(ring, CommandRing::open(kCommandsAtOnce));
  queues->ring_ = std::move(ring);
  return queues;
}

Status RingQueues::add_entries(std::uint16_t queue, std::uint32_t count, std::uint32_t parked_most) {
  queues_[queue].parked_most = parked_most;
  for (std::uint32_t i = 0; i < count; ++i) {
    STOA_TRY(entry, RingEntry::make(queue));
    entries_.push_back(std::move(entry));
  }
  return {};
}

RingQueues::~RingQueues() {
  wait();
}

void RingQueues::start(Dispatcher& dispatcher) {
  dispatcher_ = &dispatcher;
  // Signals are for the threads of the program.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    reserve_ = std::thread([this] { reserve(); });
  } catch (const std::system_error&) {
    log_error("mount", "the system starts no more threads; requests come over /dev/fuse", {});
    renounce();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (reserve_.joinable()) registered_.wait(false);
}

void RingQueues::renounce() {
  if (!ring_->enable()) return;
  ring_->push_register(fuse_, *entries_.front(), kNoQueue, 0);
  (void)ring_->submit_and_wait();  // the refusal is the purpose
}

Status RingQueues::register_entries() {
  STOA_CHECK_OK(ring_->enable());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    ring_->push_register(fuse_, *entries_[i], entries_[i]->queue(), i);
    if ((i + 1) % kCommandsAtOnce == 0) STOA_CHECK_OK(ring_->submit());
  }
  return ring_->submit();
}

void RingQueues::reserve() {
  const Status registered = register_entries();
  registered_.store(true);
  registered_.notify_all();
  if (!registered) log_error("mount", "FUSE over io_uring fails", {{"cause", describe(registered.error())}});
  for (std::size_t left = registered ? entries_.size() : 0; left > 0;) {
    const auto done = ring_->submit_and_wait();
    if (!done) {
      log_error("mount", "the reserve of FUSE's rings ends", {{"cause", describe(done.error())}});
      return;
    }
    RingEntry& entry = *entries_[done->tag];
    if (done->result < 0) {
      --left;
      if (is_end_of_connection(done->result)) {
        end();
      } else {
        log_error("mount", "the kernel refused an entry of a ring", {{"errno", -done->result}});
      }
    } else if (seat(entry)) {
      --left;
    } else {
      // Better than a request that waits for ever.
      entry.put_reply(ENOMEM, {});
      ring_->push_commit(fuse_, entry.commit_id(), entry.queue(), done->tag);
    }
  }
}

bool RingQueues::seat(RingEntry& entry) {
  used_.store(true, std::memory_order_relaxed);
  auto made = RingSeat::make(fuse_, entry, *this);
  if (!made) return false;
  const std::lock_guard lock(mutex_);
  if (!(*made)->start()) return false;
  seats_.push_back(std::move(*made));
  return true;
}

void RingQueues::end() {
  if (ended_.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  for (const auto& seat : seats_) seat->end();
}

void RingQueues::wait() {
  if (reserve_.joinable()) reserve_.join();
  // The reserve alone adds seats. Those that end take the mutex.
  for (const auto& seat : seats_) seat->join();
}

bool RingQueues::park(std::uint16_t queue) {
  if (queues_[queue].parked.fetch_add(1) < queues_[queue].parked_most) return true;
  unpark(queue);
  return false;
}

}  // namespace stoa::native::fuse
