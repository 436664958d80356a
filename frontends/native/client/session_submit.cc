// Calls that no thread waits for: whoever reads takes their replies; what is to be asked again later is left to a
// thread that waits for the time only.
#include <utility>

#include "frontends/native/client/call_wishes.h"
#include "frontends/native/client/overtaking.h"
#include "frontends/native/client/session_client.h"

namespace stoa::native {
namespace {

constexpr std::chrono::milliseconds kSlotRetry{1};
constexpr std::chrono::milliseconds kWatchEvery{100};

}  // namespace

// One call on its way through as many messages as it takes.
struct SessionClient::Submitted {
  const Batch batch;
  const Bytes block;
  const CallOptions options;
  const Deadline deadline;
  const std::function<void(Result<Replies>)> done;
  U64 newest = 0;
  Replies replies{};                           // so far
  std::chrono::milliseconds wait{kWaitFirst};  // before the next message
  std::mutex mutex;                            // guards what follows
  bool over = false;                           // `done` was called, or is
  std::shared_ptr<Call> call{};                // that is under way

  bool is_over() {
    const std::lock_guard lock(mutex);
    return over;
  }
};

bool SessionClient::is_held_up(const Batch& batch) const {
  const bool writes = has(batch, operations::write::kCode) || has(batch, operations::append::kCode);
  const std::vector<Overtaking> changes = changes_of(batch);
  if (!unstable_.empty() && !changes.empty()) return true;
  if (writes && unstable_.full()) return true;
  // A write and what ends it in one message: it is to be made durable at once.
  for (const Overtaking& one : changes) {
    if (writes && !one.stable_write) return true;
  }
  return (writes || !changes.empty()) && calls_->has_abandoned_writes();
}

void SessionClient::submit(const Batch& batch, const CallOptions& options, std::function<void(Result<Replies>)> done) {
  if (batch.empty()) return done(Replies{});
  if (!batch.fits()) return done(fail(Errc::kTooLarge));
  if (is_held_up(batch)) {
    waiting_.add(Deadline::Clock::now(),
                 [this, batch, options, done = std::move(done)] { done(call(batch, options)); });
  } else {
    start(batch, options, deadline_of(options), std::move(done));
  }
}

void SessionClient::start(const Batch& batch, const CallOptions& options, const Deadline& deadline,
                          std::function<void(Result<Replies>)> done) {
  ++calls_made_;
  const std::shared_ptr<Submitted> one(
      new Submitted{batch, call_block(options.as), options, deadline, std::move(done), unstable_.newest()});
  if (!deadline.is_never() || options.interrupted) watch(one);
  leave(one);
}

void SessionClient::leave(const std::shared_ptr<Submitted>& one) {
  if (one->is_over()) return;
  std::vector<U64> files;
  for (std::size_t i = 0; i < one->replies.size(); ++i) files.push_back(one->replies.file(i));
  const Batch& batch = one->batch;
  const auto begun = begin(files.empty() ? batch : batch.rest(files.size(), files), one->block, one->deadline,
                           Patience{Deadline(Deadline::Clock::now())},
                           [this, one](const std::shared_ptr<Call>& call) { take_reply(one, call); });
  if (!begun) {
    const bool full = begun.error().code == Errc::kTimeout && !stopping();
    if (!full) return finish(*one, fail(out_of_time(fail(begun.error())).error()));
    timed_.add(Deadline::Clock::now() + kSlotRetry, [this, one] { leave(one); });
    return;
  }
  {
    const std::lock_guard lock(one->mutex);
    one->call = *begun;
    // Its time has ended in this moment. It may be under way already, so it goes on.
    if (one->over) (void)calls_->abandon(*begun);
  }
  send(**begun);
}

void SessionClient::take_reply(const std::shared_ptr<Submitted>& one, const std::shared_ptr<Call>& call) {
  {
    const std::lock_guard lock(one->mutex);
    one->call = nullptr;
  }
  if (call->reply == nullptr) return finish(*one, fail(Errc::kShutdown));
  const WireStatus status{call->answer.header.status};
  if (status == WireStatus::ok) {
    Replies more;
    std::vector<U16> codes = one->batch.codes();
    codes.erase(codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(one->replies.size()));
    const Status sound = more.append(call->reply, call->answer, codes);
    calls_->end(call);
    if (!sound) return finish(*one, fail(sound.error()));
    return take_replies(one, std::move(more));
  }
  // It runs yet, in this slot; else the server has counted nothing.
  if (status == WireStatus::in_progress) {
    timed_.add(Deadline::Clock::now() + one->wait, [this, one, call] {
      if (stopping()) return finish(*one, fail(Errc::kShutdown));
      calls_->again(*call);
      {
        const std::lock_guard lock(one->mutex);
        one->call = call;
        if (one->over) (void)calls_->abandon(call);
      }
      send(*call);
    });
  } else if (is_later(status)) {
    calls_->end(call, true);
    leases_.answered(calls_->frame_of(*call)->leases);
    timed_.add(Deadline::Clock::now() + one->wait, [this, one] { leave(one); });
  } else {
    calls_->end(call, !is_counted(status));
    return finish(*one, fail(refusal_of(status)));
  }
  one->wait = std::min(one->wait * 2, kWaitMost);
  ++resent_;
}

void SessionClient::take_replies(const std::shared_ptr<Submitted>& one, Replies more) {
  one->replies.join(std::move(more));
  Replies& replies = one->replies;
  if (!one->options.asks_once && !replies.ok() && waits(one->batch, replies)) {
    replies.drop_last();
    timed_.add(Deadline::Clock::now() + one->wait, [this, one] { leave(one); });
    one->wait = std::min(one->wait * 2, kWaitMost);
    return;
  }
  const auto end = [this, one](const Status& settled) {
    const Status told = settled ? lost(one->batch, one->replies) : settled;
    finish(*one, told ? Result<Replies>(std::move(one->replies)) : fail(told.error()));
  };
  auto writes = not_committed(one->batch, replies, one->newest);
  if (writes.empty()) return end({});
  waiting_.add(Deadline::Clock::now(),
               [this, one, end, writes = std::move(writes)] { end(write_once_more(writes, one->options)); });
}

// Looks now and then whether its caller has no more patience.
void SessionClient::watch(const std::shared_ptr<Submitted>& one) {
  const auto now = Deadline::Clock::now();
  const auto wanted = one->options.interrupted ? std::min(now + kWatchEvery, one->deadline.at()) : one->deadline.at();
  timed_.add(std::max(wanted, now + kSlotRetry), [this, weak = std::weak_ptr(one)] {
    const std::shared_ptr<Submitted> watched = weak.lock();
    if (watched == nullptr) return;
    if (watched->is_over()) return;
    const bool interrupted = watched->options.interrupted && watched->options.interrupted();
    const bool late = !watched->deadline.is_never() && Deadline::Clock::now() >= watched->deadline.at();
    if (stopping()) return;  // it is told so by others
    if (!interrupted && !late) return watch(watched);
    std::shared_ptr<Call> call;
    {
      const std::lock_guard lock(watched->mutex);
      call = watched->call;
    }
    // Its reply may have come in this moment, and is taken by who reads.
    if (call != nullptr && !calls_->abandon(call)) return watch(watched);
    const std::string why = interrupted ? "interrupted" : "the server has not answered in time";
    finish(*watched, fail(out_of_time(fail(Errc::kTimeout, why)).error()));
  });
}

void SessionClient::finish(Submitted& one, Result<Replies> result) {
  {
    const std::lock_guard lock(one.mutex);
    if (std::exchange(one.over, true)) return;
  }
  one.done(std::move(result));
}

}  // namespace stoa::native
