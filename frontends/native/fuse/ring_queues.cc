#include "frontends/native/fuse/ring_queues.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <system_error>

#include "base/log.h"
#include "frontends/native/fuse/blocked_signals.h"

namespace stoa::native::fuse {
namespace {

// Beyond the processors of every machine.
constexpr std::uint16_t kNoQueue = 0xffff;
constexpr std::uint32_t kCommandsAtOnce = 256;
constexpr std::uint64_t kWake = ~std::uint64_t{0};  // a tag that is of no entry

}  // namespace

Result<std::unique_ptr<RingQueues>> RingQueues::prepare(int fuse, const Processors& processors) {
  if (processors.possible == 0 || processors.possible > kNoQueue || processors.running.empty()) {
    return fail(Errc::kNotSupported, "/sys does not tell the processors");
  }
  std::unique_ptr<RingQueues> queues(new RingQueues(fuse, processors.possible));
  STOA_CHECK_OK(queues->open());
  // The kernel wants an entry in the queue of each processor that there may ever be.
  std::vector<std::uint32_t> counts(processors.possible, kEntriesAtRest);
  for (const std::uint32_t running : processors.running) {
    if (running < counts.size()) counts[running] = kEntries;
  }
  STOA_CHECK_OK(queues->add_entries(counts));
  return queues;
}

Status RingQueues::open() {
  STOA_TRY(name, RingFill::new_name());
  name_of_fill_ = std::move(name);
  wake_ = OwnedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return fail_errno(errno, "eventfd");
  STOA_TRY(ring, CommandRing::open(kCommandsAtOnce));
  ring_ = std::move(ring);
  return {};
}

Status RingQueues::add_entries(const std::vector<std::uint32_t>& counts) {
  const auto slots = std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
  if (slots == 0) return {};
  STOA_TRY(memory, RingMemory::make(slots));
  std::uint32_t slot = 0;
  for (std::size_t queue = 0; queue < counts.size(); ++queue) {
    queues_[queue].entries += counts[queue];
    for (std::uint32_t i = 0; i < counts[queue]; ++i) {
      fresh_.push_back(entries_.size());
      entries_.push_back(std::make_unique<RingEntry>(static_cast<std::uint16_t>(queue), *memory, slot++));
    }
  }
  memories_.push_back(std::move(memory));
  return {};
}

RingQueues::~RingQueues() {
  wait();
}

void RingQueues::start(Dispatcher& dispatcher) {
  dispatcher_ = &dispatcher;
  if (start_reserve()) {
    registered_.wait(false);
    return;
  }
  log_error("mount", "the system starts no more threads; requests come over /dev/fuse", {});
  renounce();
}

Status RingQueues::start_reserve() {
  const BlockedSignals blocked;
  try {
    reserve_ = std::thread([this] { reserve(); });
  } catch (const std::system_error&) {
    return fail(Errc::kBusy, "the system starts no more threads; end some programs");
  }
  return {};
}

void RingQueues::renounce() {
  if (!ring_->enable()) return;
  ring_->push_register(fuse_, *entries_.front(), kNoQueue, 0);
  (void)ring_->submit_and_wait();  // the refusal is the purpose
}

Status RingQueues::register_entries() {
  STOA_CHECK_OK(ring_->enable());
  for (std::size_t i = 0; i < fresh_.size(); ++i) {
    const RingEntry& entry = *entries_[fresh_[i]];
    ring_->push_register(fuse_, entry, entry.queue(), fresh_[i]);
    if ((i + 1) % kCommandsAtOnce == 0) STOA_CHECK_OK(ring_->submit());
  }
  STOA_CHECK_OK(ring_->submit());
  ring_->push_poll(wake_.get(), kWake);
  return ring_->submit();
}

void RingQueues::reserve() {
  {
    // Of another process: nothing is told to the kernel before this one serves.
    std::unique_lock lock(hold_mutex_);
    resumed_.wait(lock, [this] { return !is_held(); });
    if (left_) return;
  }
  const Status registered = register_entries();
  registered_.store(true);
  registered_.notify_all();
  if (!registered) {
    log_error("mount", "FUSE over io_uring fails", {{"cause", describe(registered.error())}});
    return lost_an_entry();
  }
  for (std::size_t left = fresh_.size() + held_.size(); left > 0 && !left_;) {
    // Whoever leaves does not resume.
    if (paused_)
      tell_held();
    else
      serve_held(left);
    if (left > 0 && !take_completion(left)) return lost_an_entry();
  }
}

bool RingQueues::take_completion(std::size_t& left) {
  const auto done = ring_->submit_and_wait();
  if (!done) {
    log_error("mount", "the reserve of FUSE's rings ends", {{"cause", describe(done.error())}});
    return false;
  }
  if (done->tag == kWake) {
    eventfd_t times = 0;
    ::eventfd_read(wake_.get(), &times);
    ring_->push_poll(wake_.get(), kWake);
    return true;
  }
  if (done->result < 0) {
    --left;
    if (is_end_of_connection(done->result)) {
      end();
    } else {
      log_error("mount", "the kernel refused an entry of a ring", {{"errno", -done->result}});
      lost_an_entry();
    }
    return true;
  }
  entries_[done->tag]->set_use(RingUse::kRuns);
  held_.push_back(done->tag);
  return true;
}

void RingQueues::tell_held() {
  for (const std::size_t number : held_) {
    RingEntry& entry = *entries_[number];
    if (entry.use() == RingUse::kRuns) entry.set_use(is_fill(entry) ? RingUse::kFills : RingUse::kHeld);
  }
}

void RingQueues::serve_held(std::size_t& left) {
  for (const std::size_t number : held_) {
    RingEntry& entry = *entries_[number];
    if (entry.use() == RingUse::kFills || is_fill(entry)) {
      answer_from_reserve(number, ENODATA);
    } else if (seat(entry)) {
      --left;
    } else {
      answer_from_reserve(number, ENOMEM);  // better than a request that waits for ever
    }
  }
  held_.clear();
}

void RingQueues::answer_from_reserve(std::size_t number, int error) {
  RingEntry& entry = *entries_[number];
  entry.put_reply(error, {});
  entry.set_use(RingUse::kIdle);
  ring_->push_commit(fuse_, entry.commit_id(), entry.queue(), number);
  (void)ring_->submit();  // what fails is found when the reserve waits
}

Result<std::unique_ptr<RingSeat>> RingQueues::make_seat(RingEntry& entry) {
  used_.store(true, std::memory_order_relaxed);
  return RingSeat::make(fuse_, entry, *this);
}

bool RingQueues::seat(RingEntry& entry) {
  auto made = make_seat(entry);
  if (!made) return false;
  const std::lock_guard lock(mutex_);
  if (!(*made)->start()) return false;
  seats_.push_back(std::move(*made));
  return true;
}

void RingQueues::end() {
  if (ended_.exchange(true)) return;
  {
    const std::lock_guard lock(hold_mutex_);
    resumed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  for (const auto& seat : seats_) seat->end();
}

void RingQueues::wait() {
  if (reserve_.joinable()) reserve_.join();
  // The reserve alone adds seats. Those that end take the mutex.
  for (const auto& seat : seats_) seat->join();
}

bool RingQueues::park(std::uint16_t queue) {
  if (queues_[queue].parked.fetch_add(1) < queues_[queue].parked_most()) return true;
  unpark(queue);
  return false;
}

}  // namespace stoa::native::fuse
