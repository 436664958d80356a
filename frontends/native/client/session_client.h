// What a Client is made of: the session, the channels that carry it, and what is done when one of them breaks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "frontends/native/client/calls_in_flight.h"
#include "frontends/native/client/channel_security.h"
#include "frontends/native/client/client.h"
#include "frontends/native/client/client_leases.h"
#include "frontends/native/client/client_login.h"
#include "frontends/native/client/connection.h"
#include "frontends/native/client/held_state.h"
#include "frontends/native/client/trust_clock.h"
#include "frontends/native/client/unstable_writes.h"
#include "frontends/native/client/url.h"
#include "frontends/native/client/work_threads.h"

namespace stoa::native {

class SessionClient final : private ChannelReading {
 public:
  static Result<std::unique_ptr<SessionClient>> connect(const ClientOptions& options);
  ~SessionClient();
  SessionClient(const SessionClient&) = delete;

  Result<Replies> call(const Batch& batch, const CallOptions& options);
  void submit(const Batch& batch, const CallOptions& options, std::function<void(Result<Replies>)> done);
  std::uint64_t new_number() { return ++last_number_; }
  bool lost(std::uint64_t open) const { return held_.lost(open); }
  std::int64_t trusted_until_ns() const { return options_.leases == nullptr ? 0 : trust_.until_ns(); }
  Result<SessionState> hand_over(const Deadline& deadline);
  void take_back();
  void leave_session();
  void take_session();
  SessionFacts facts() const;
  ClientCounts counts() const;
  void break_connections();

 private:
  using Call = CallsInFlight::Call;

  // One connection at a time, and the thread that makes it anew, and reads it when nobody else does.
  struct Channel {
    std::mutex mutex;  // guards `connection` and `up`
    std::shared_ptr<ClientConnection> connection;
    bool up = false;  // what was in flight has been sent again; calls may send
    std::thread thread;
    std::atomic<std::int64_t> heard_ns{0};   // by boot_now_ns()
    std::atomic<std::int64_t> ping_ns{0};    // when it was sent; 0: none is to be answered
    std::int64_t asked_ns = 0;               // the last ping of this connection; by the channel's thread
    std::chrono::nanoseconds usual_wait{0};  // for a reply, of late; by who reads
  };
  SessionClient(const ClientOptions& options, Url url, ClientKey key, std::unique_ptr<ChannelSecurity> security);

  // --- calls (session_calls.cc)
  // `deadline`: of the call, which the server is told; `patience`: for a free slot.
  Result<std::shared_ptr<Call>> begin(const Batch& batch, const Bytes& block, const Deadline& deadline,
                                      const Patience& patience, CallsInFlight::Done done = {});
  Result<Replies> run_once(const Batch& batch, const Bytes& block, const CallOptions& options,
                           const Deadline& deadline);
  Result<Replies> call_with_kept(const Batch& batch, const CallOptions& options);
  Deadline deadline_of(const CallOptions& options) const;
  // The cause, when the server is not to be reached or refuses this client.
  Status out_of_time(Status waited) const;
  Status pause(std::chrono::milliseconds& wait, const CallOptions& options, const Deadline& deadline);
  void send(Call& call);

  // --- writes that are kept until a commit (session_commits.cc)
  // Commits what is kept of files for which `wanted` is true.
  Status commit_kept(const std::function<bool(U64 file)>& wanted, const CallOptions& options);
  // Before a message after which writes that are kept must not be written again, or could not be.
  Status commit_before(const Batch& batch, const CallOptions& options);
  // Before a message that must not be overtaken by a write that nobody waits for any more.
  Status await_abandoned(const Batch& batch, const CallOptions& options);
  std::vector<UnstableWrites::Write> not_committed(const Batch& batch, const Replies& replies, U64 newest);
  Status write_once_more(const std::vector<UnstableWrites::Write>& writes, const CallOptions& options);
  Status lost(const Batch& batch, const Replies& replies);

  // --- calls that no thread waits for (session_submit.cc)
  struct Submitted;
  // Whether something has to be waited for before it may leave.
  bool is_held_up(const Batch& batch) const;
  void start(const Batch& batch, const CallOptions& options, const Deadline& deadline,
             std::function<void(Result<Replies>)> done);
  void leave(const std::shared_ptr<Submitted>& one);
  void take_reply(const std::shared_ptr<Submitted>& one, const std::shared_ptr<Call>& call);
  void take_replies(const std::shared_ptr<Submitted>& one, Replies replies);
  void watch(const std::shared_ptr<Submitted>& one);
  static void finish(Submitted& one, Result<Replies> result);

  // --- channels (session_channels.cc)
  void run_channel(std::size_t index);
  // Until the connection is broken, or silent for too long.
  void attend(std::size_t index, ClientConnection& connection);
  // When the channel is to be looked at again; nothing: the server is not there.
  std::optional<std::chrono::nanoseconds> keep_alive(std::size_t index, ClientConnection& connection);
  // Tells the log why there is no connection, once for each cause.
  void tell_unreachable(const Error& why);
  // A connection that has logged in, over which the session goes on; null: stopped.
  std::shared_ptr<ClientConnection> reconnect(std::size_t index);
  Result<std::shared_ptr<ClientConnection>> open_connection(std::chrono::milliseconds& wait);
  Result<std::shared_ptr<ClientConnection>> log_in_at(const Url::Host& host, std::chrono::milliseconds& wait);
  // What was in flight on it is sent again, and calls may use it.
  void resume(std::size_t index, const std::shared_ptr<ClientConnection>& connection);
  void read(std::size_t index, Deadline::Clock::time_point until) override;
  // Takes the bodies that have come. The end of the connection is told to its thread.
  enum class Took : std::uint8_t { kNothing, kSome, kEnd };
  Took take_all(std::size_t index, ClientConnection& connection);
  bool stopping() const;

  // --- what comes (session_replies.cc)
  // False: the server does not know the session any more, or says what it must not.
  bool take(std::size_t channel, const std::shared_ptr<const Content>& body);
  void take_recalls(const MessageView& message);
  // A request that was sent then is answered.
  void heard(std::size_t channel, U32 flags, std::int64_t sent_ns);
  // The opens, locks and leases that a message has made, and not given up itself.
  struct Gained {
    std::vector<U64> opens{};
    std::vector<UnlockArgs> locks{};
    std::vector<U64> leases{};
    void note(const RecordView& operation, U64 file);  // one that has succeeded
  };
  Gained note(const Frame& frame, const MessageView& reply);
  void note_leases(const RecordView& operation, const RecordView& answer, U64 file, std::span<const std::byte> call);
  // Gives up what nobody knows of, as the caller waited no more. Does not wait.
  void give_back(const Gained& gained, std::span<const std::byte> call);
  void ask_for_lost_leases();
  Status find_path();

  // --- from one process to another (session_hand_over.cc)
  void resume_session(const SessionState& state);

  // --- recovery (session_recovery.cc), on a fresh connection that nobody else uses yet
  Status recover(ClientConnection& connection, const Welcome& welcome);
  Status reclaim_opens(ClientConnection& connection, const Welcome& welcome);
  Status reclaim_locks(ClientConnection& connection, const Welcome& welcome);
  Status reclaim_leases(ClientConnection& connection, const Welcome& welcome);
  Status write_again(ClientConnection& connection, const Welcome& welcome);
  // One operation in the slot that is kept for this. `answer`: its record, to be read in place.
  Result<WireStatus> recover_one(ClientConnection& connection, U64 session, std::span<const std::byte> call,
                                 std::span<const std::byte> record, std::span<const std::byte> payload,
                                 Bytes* answer = nullptr);
  // The reply to it; what the server says by itself meanwhile is taken.
  Result<std::shared_ptr<const Content>> answer_to(ClientConnection& connection, const Bytes& frame, MessageView& view);

  const ClientOptions options_;
  const Url url_;
  const ClientKey key_;
  const std::unique_ptr<ChannelSecurity> security_;
  const std::string client_id_;
  std::unique_ptr<CallsInFlight> calls_;  // made by the first log-in
  HeldState held_;
  ClientLeases leases_;
  TrustClock trust_;
  UnstableWrites unstable_;
  std::atomic<std::uint64_t> last_number_{0};
  std::atomic<bool> asks_for_lost_{false};
  std::vector<std::unique_ptr<Channel>> channels_;
  WorkThreads timed_;    // work that never waits
  WorkThreads waiting_;  // work that may

  std::mutex login_mutex_;  // one log-in or recovery at a time; guards the three below
  U32 recovery_sequence_ = 0;
  U64 recovered_ = 0;         // the session in which all was asked back
  std::size_t host_ = 0;      // of the URL: the one that was there last
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable stop_changed_;
  bool stopping_ = false;
  bool rests_ = false;  // another process goes on with the session, or is about to: nobody logs in
  bool left_ = false;   // it is that of another process, and does not end with this client
  U64 session_ = 0;
  SessionFacts facts_;
  std::string unreachable_;  // why, since the last connection has ended; empty: it is there
  std::string told_;         // of that, in the log
  std::atomic<std::uint64_t> calls_made_{0}, resent_{0}, reconnects_{0}, sessions_{0}, reclaimed_{0}, rewritten_{0};
};

}  // namespace stoa::native
