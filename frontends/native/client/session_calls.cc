// Calls that their callers wait for.
#include <algorithm>

#include "frontends/native/client/call_wishes.h"
#include "frontends/native/client/overtaking.h"
#include "frontends/native/client/session_client.h"

namespace stoa::native {

Status SessionClient::pause(std::chrono::milliseconds& wait, const CallOptions& options, const Deadline& deadline) {
  if (options.interrupted && options.interrupted()) return fail(Errc::kTimeout, "interrupted");
  if (!deadline.is_never() && Deadline::Clock::now() + wait >= deadline.at())
    return fail(Errc::kTimeout, "it was not to be had in time");
  std::unique_lock lock(mutex_);
  if (stop_changed_.wait_for(lock, wait, [this] { return stopping_; })) return fail(Errc::kShutdown);
  wait = std::min(wait * 2, kWaitMost);
  return {};
}

Deadline SessionClient::deadline_of(const CallOptions& options) const {
  if (options_.soft.count() == 0) return options.deadline;
  const auto soft = Deadline::Clock::now() + options_.soft;
  return Deadline(std::min(options.deadline.at(), soft));
}

Status SessionClient::out_of_time(Status waited) const {
  if (waited || waited.error().code != Errc::kTimeout) return waited;
  const std::lock_guard lock(mutex_);
  if (!unreachable_.empty()) return fail(Errc::kTimeout, unreachable_);
  return waited;
}

Result<Replies> SessionClient::call(const Batch& wanted, const CallOptions& options) {
  const bool writes = has(wanted, operations::write::kCode) || has(wanted, operations::append::kCode);
  STOA_CHECK_OK(await_abandoned(wanted, options));
  // Where that fails, what is kept stays, and writes are durable at once.
  if (writes && unstable_.full()) (void)commit_kept([](U64) { return true; }, options);
  const bool ends =
      writes && std::ranges::any_of(changes_of(wanted), [](const auto& one) { return !one.stable_write; });
  const bool durable = writes && (ends || unstable_.full());
  const Batch at_once = durable ? wanted.stable() : Batch{};
  const Batch& batch = durable ? at_once : wanted;
  // What is durable at once is not kept: what is kept of the file must not be written again over it.
  STOA_CHECK_OK(commit_before(batch, options));
  STOA_TRY(replies, call_with_kept(batch, options));
  STOA_CHECK_OK(lost(wanted, replies));
  return std::move(replies);
}

Result<Replies> SessionClient::call_with_kept(const Batch& batch, const CallOptions& options) {
  if (batch.empty()) return Replies{};
  if (!batch.fits()) return fail(Errc::kTooLarge);
  const Deadline deadline = deadline_of(options);
  ++calls_made_;
  const Bytes block = call_block(options.as);
  const U64 newest = unstable_.newest();
  STOA_TRY(replies, run_once(batch, block, options, deadline));
  std::chrono::milliseconds wait = kWaitFirst;
  while (!options.asks_once && !replies.ok() && waits(batch, replies)) {
    STOA_CHECK_OK(pause(wait, options, deadline));
    replies.drop_last();
    std::vector<U64> files;
    for (std::size_t i = 0; i < replies.size(); ++i) files.push_back(replies.file(i));
    STOA_TRY(more, run_once(batch.rest(replies.size(), files), block, options, deadline));
    replies.join(std::move(more));
  }
  STOA_CHECK_OK(write_once_more(not_committed(batch, replies, newest), options));
  return std::move(replies);
}

Result<std::shared_ptr<CallsInFlight::Call>> SessionClient::begin(const Batch& batch, const Bytes& block,
                                                                  const Deadline& deadline, const Patience& patience,
                                                                  CallsInFlight::Done done) {
  std::vector<U64> leases;
  const auto make = [&](U64 session, U32 slot, U32 sequence) {
    Frame frame = Frame::of(batch,
                            {.version = kVersion,
                             .kind = static_cast<U16>(MessageKind::kCall),
                             .session = session,
                             .slot = slot,
                             .sequence = sequence,
                             .deadline_ms = milliseconds_to(deadline)},
                            block);
    leases = frame.leases;
    return frame;
  };
  STOA_TRY(call, calls_->begin(patience, make, std::move(done)));
  if (!leases.empty()) leases_.asked(leases);
  return std::move(call);
}

Result<Replies> SessionClient::run_once(const Batch& batch, const Bytes& block, const CallOptions& options,
                                        const Deadline& deadline) {
  const Patience patience{deadline, options.interrupted};
  auto begun = begin(batch, block, deadline, patience);
  if (!begun) return fail(out_of_time(fail(begun.error())).error());
  const std::shared_ptr<Call>& call = *begun;
  std::chrono::milliseconds wait = kWaitFirst;
  for (;;) {
    send(*call);
    STOA_CHECK_OK(out_of_time(calls_->wait(call, patience)));
    const WireStatus status{call->answer.header.status};
    if (status == WireStatus::ok) {
      Replies replies;
      const Status sound = replies.append(call->reply, call->answer, batch.codes());
      calls_->end(call);
      if (!sound) return fail(sound.error());
      return replies;
    }
    if (!is_later(status)) {
      calls_->end(call, !is_counted(status));
      return fail(refusal_of(status));
    }
    if (const Status paused = pause(wait, options, deadline); !paused) {
      // A message that runs keeps its slot until it is known what becomes of it.
      if (status == WireStatus::in_progress) {
        calls_->give_up(call);
      } else {
        calls_->end(call, true);
        leases_.answered(calls_->frame_of(*call)->leases);
      }
      return fail(paused.error());
    }
    calls_->again(*call);
    ++resent_;
  }
}

void SessionClient::send(Call& call) {
  Channel& channel = *channels_[calls_->channel_of(call.slot)];
  std::shared_ptr<ClientConnection> connection;
  {
    const std::lock_guard lock(channel.mutex);
    if (channel.up) connection = channel.connection;
  }
  // Else it is sent with all others that are in flight, once there is a connection.
  if (connection == nullptr) return;
  const auto frame = calls_->leaves(call, boot_now_ns());
  if (frame != nullptr) (void)connection->send(frame->head, frame->data());
}

}  // namespace stoa::native
