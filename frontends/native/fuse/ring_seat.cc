#include "frontends/native/fuse/ring_seat.h"

#include <sched.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "frontends/native/fuse/ring_queues.h"

namespace stoa::native::fuse {
namespace {

constexpr std::chrono::milliseconds kRest{1000};

}  // namespace

Result<std::unique_ptr<RingSeat>> RingSeat::make(int fuse, RingEntry& entry, RingQueues& queues) {
  STOA_TRY(ring, CommandRing::open(1));
  std::unique_ptr<RingSeat> seat(new RingSeat(fuse, entry, queues));
  seat->ring_ = std::move(ring);
  return seat;
}

// Signals are for the threads of the program: whoever starts a seat blocks them.
bool RingSeat::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

bool RingSeat::wait_first() {
  state_.store(State::kAsked);
  return may_reply_later();
}

void RingSeat::join() {
  if (thread_.joinable()) thread_.join();
}

void RingSeat::end() {
  State asked = State::kAsked;
  if (state_.compare_exchange_strong(asked, State::kEnded)) state_.notify_all();
}

void RingSeat::reply(std::uint64_t, int error, std::span<const std::byte> body) {
  if (state_.load() != State::kAsked) return;
  entry_.put_reply(error, body);
  State asked = State::kAsked;
  if (state_.compare_exchange_strong(asked, State::kAnswered)) state_.notify_all();
}

bool RingSeat::may_reply_later() {
  parked_ = queues_.park(entry_.queue());
  return parked_;
}

void RingSeat::deliver() {
  if (state_.load() != State::kAnswered) return;
  push_commit();
  (void)ring_->submit();  // what fails is found when the seat waits
}

void RingSeat::push_commit() {
  committed_ = true;
  ring_->push_commit(fuse_, entry_.commit_id(), entry_.queue(), 0);
}

// Requests of a queue come from its processor: a thread there is woken without an interrupt to another, and finds the
// request in its cache. It is only quicker so: a processor that is gone, or not for this process, changes nothing.
void RingSeat::stay_at_processor() const {
  const std::size_t bytes = CPU_ALLOC_SIZE(entry_.queue() + 1);
  cpu_set_t* const one = CPU_ALLOC(entry_.queue() + 1);
  if (one == nullptr) return;
  CPU_ZERO_S(bytes, one);
  CPU_SET_S(entry_.queue(), bytes, one);
  (void)::sched_setaffinity(0, bytes, one);
  CPU_FREE(one);
}

void RingSeat::run() {
  stay_at_processor();
  if (const Status enabled = ring_->enable(); !enabled) {
    log_error("mount", "a ring of FUSE cannot be used", {{"cause", describe(enabled.error())}});
    return queues_.lost_an_entry();
  }
  for (bool goes_on = parked_ ? take_reply() : serve(); goes_on; goes_on = serve()) {
    if (!committed_) push_commit();
    entry_.set_use(RingUse::kIdle);
    const auto done = next();
    if (done && done->result >= 0) continue;
    if (done && is_end_of_connection(done->result)) return queues_.end();
    log_error("mount", "a ring of FUSE ends",
              {{"cause", done ? "errno " + std::to_string(-done->result) : describe(done.error())}});
    return queues_.lost_an_entry();
  }
}

// Memory of large requests is given back when none has come for a while. A request is put into the entry while this
// thread waits, so what is not there when a wait ends comes with the next.
Result<CommandRing::Completion> RingSeat::next() {
  if (!entry_.is_large()) return ring_->submit_and_wait();
  STOA_TRY(done, ring_->submit_and_wait_for(kRest));
  if (done) return *done;
  entry_.give_back();
  return ring_->submit_and_wait();
}

bool RingSeat::serve() {
  committed_ = false;
  switch (queues_.arrived(entry_)) {
    case RingQueues::Arrived::kOfAnother:
      return false;
    case RingQueues::Arrived::kFill:
      entry_.put_reply(ENODATA, {});
      return true;
    case RingQueues::Arrived::kRequest:
      break;
  }
  state_.store(State::kAsked);
  const auto request = entry_.request();
  if (request.empty() || !queues_.dispatcher().handle(request, entry_.payload(), *this)) {
    log_error("mount", "the kernel sent a request that is none", {{"bytes", request.size()}});
    reply(entry_.unique(), EIO, {});
  }
  // FORGET, which has no reply: the kernel, where it cannot use an entry of READDIRPLUS, waits for the commit of one.
  if (!parked_) reply(entry_.unique(), 0, {});
  return take_reply();
}

bool RingSeat::take_reply() {
  if (parked_) entry_.set_use(RingUse::kWaits);
  const bool answered = state_.load() == State::kAnswered || wait_for_reply();
  if (std::exchange(parked_, false)) {
    if (answered) entry_.set_use(RingUse::kRuns);
    queues_.unpark(entry_.queue());
  }
  return answered;
}

// A lock that is waited for: this thread waits, too, as its entry belongs to its ring.
bool RingSeat::wait_for_reply() {
  // Whoever ends the connection after this look ends the wait, as it finds the state.
  if (!queues_.ended()) state_.wait(State::kAsked);
  return state_.load() == State::kAnswered;
}

}  // namespace stoa::native::fuse
