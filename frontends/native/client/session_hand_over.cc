// A session that goes on in another process.
#include "frontends/native/client/session_client.h"

namespace stoa::native {

Result<SessionState> SessionClient::hand_over(const Deadline& deadline) {
  // Also asked when no slot becomes free: that may be told to a call that waits for one.
  const Patience patience{deadline, [this] { return stopping(); }};
  STOA_CHECK_OK(commit_kept([](U64) { return true; }, {.deadline = deadline, .interrupted = patience.interrupted}));
  STOA_TRY(sequences, calls_->freeze(patience));
  const std::lock_guard login(login_mutex_);
  // A write that has come between would be sent again by this process alone.
  if (!unstable_.empty() || leases_.any()) {
    calls_->thaw();
    return fail(Errc::kTimeout, "writes or leases came in between");
  }
  const std::lock_guard lock(mutex_);
  rests_ = true;
  return SessionState{.client_id = client_id_,
                      .session = session_,
                      .recovered = recovered_,
                      .last_number = last_number_.load(),
                      .root = facts_.root,
                      .volume = facts_.volume,
                      .message_bytes_max = facts_.message_bytes_max,
                      .recovery_sequence = recovery_sequence_,
                      .sequences = std::move(sequences),
                      .held = held_.all(),
                      .losses = unstable_.losses()};
}

void SessionClient::take_back() {
  {
    const std::lock_guard lock(mutex_);
    rests_ = false;
  }
  calls_->thaw();
}

void SessionClient::leave_session() {
  const std::lock_guard lock(mutex_);
  left_ = true;
}

void SessionClient::take_session() {
  const std::lock_guard lock(mutex_);
  left_ = false;
}

// Before the first log-in.
void SessionClient::resume_session(const SessionState& state) {
  ChannelReading& reading = *this;
  calls_ = std::make_unique<CallsInFlight>(state.sequences, channels_.size(), reading);
  held_.restore(state.held);
  for (const U64 file : state.losses) unstable_.lose(file);
  last_number_ = state.last_number;
  recovered_ = state.recovered;
  recovery_sequence_ = state.recovery_sequence;
  session_ = state.session;
  left_ = true;
  facts_ = {.root = state.root,
            .volume = state.volume,
            .slots = calls_->count(),
            .message_bytes_max = state.message_bytes_max};
}

}  // namespace stoa::native
