// What a Client is made of: the session, the channels that carry it, and what is done when one of them breaks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "frontends/native/client/calls_in_flight.h"
#include "frontends/native/client/client.h"
#include "frontends/native/client/client_login.h"
#include "frontends/native/client/connection.h"
#include "frontends/native/client/held_state.h"
#include "frontends/native/client/unstable_writes.h"
#include "frontends/native/client/url.h"

namespace stoa::native {

class SessionClient {
 public:
  static Result<std::unique_ptr<SessionClient>> connect(const ClientOptions& options);
  ~SessionClient();
  SessionClient(const SessionClient&) = delete;

  Result<Replies> call(const Batch& batch, const CallOptions& options);
  std::uint64_t new_open() { return ++last_open_; }
  bool lost(std::uint64_t open) const { return held_.lost(open); }
  SessionFacts facts() const;
  ClientCounts counts() const;
  void break_connections();

 private:
  // One connection at a time, and the thread that reads it and makes it anew.
  struct Channel {
    std::mutex mutex;  // guards `connection` and `up`
    std::shared_ptr<ClientConnection> connection;
    bool up = false;  // what was in flight has been sent again; calls may send
    std::thread thread;
  };
  SessionClient(const ClientOptions& options, Url url, ClientKey key);

  // --- calls
  Result<std::shared_ptr<CallsInFlight::Call>> begin(const Batch& batch, const Bytes& block, const Patience& patience);
  Result<Replies> run_once(const Batch& batch, const Bytes& block, const CallOptions& options,
                           const Deadline& deadline);
  Result<Replies> call_with_kept(const Batch& batch, const CallOptions& options);
  // Commits what is kept of files for which `wanted` is true.
  Status commit_kept(const std::function<bool(U64 file)>& wanted, const CallOptions& options);
  // Before a message after which writes that are kept must not be written again, or could not be.
  Status commit_before(const Batch& batch, const CallOptions& options);
  Status pause(std::chrono::milliseconds& wait, const CallOptions& options, const Deadline& deadline);
  Status settle_commits(const Batch& batch, const Replies& replies, U64 newest, const CallOptions& options);
  Status lost(const Batch& batch, const Replies& replies);
  void send(const CallsInFlight::Call& call);
  std::size_t channel_of(U32 slot) const { return slot % channels_.size(); }

  // --- channels
  void run_channel(std::size_t index);
  // A connection that has logged in, over which the session goes on; null: stopped.
  std::shared_ptr<ClientConnection> reconnect(std::size_t index);
  Result<std::shared_ptr<ClientConnection>> open_connection(std::chrono::milliseconds& wait);
  // What was in flight on it is sent again, and calls may use it.
  void resume(std::size_t index, const std::shared_ptr<ClientConnection>& connection);
  void read_until_broken(ClientConnection& connection);
  // False: the server does not know the session any more.
  bool take(const std::shared_ptr<const Bytes>& body);
  // The opens and locks that a message has made, and not given up itself.
  struct Gained {
    std::vector<U64> opens{};
    std::vector<UnlockArgs> locks{};
    void note(const RecordView& operation, U64 file);  // one that has succeeded
  };
  Gained note(const std::shared_ptr<const Bytes>& frame, const MessageView& reply);
  // Gives up what nobody knows of, as the caller waited no more. Does not wait.
  void give_back(const Gained& gained, std::span<const std::byte> call);
  Status find_path();

  // --- recovery (session_recovery.cc), on a fresh connection that nobody else uses yet
  Status recover(ClientConnection& connection, const Welcome& welcome);
  Status reclaim_opens(ClientConnection& connection, const Welcome& welcome);
  Status reclaim_locks(ClientConnection& connection, const Welcome& welcome);
  Status write_again(ClientConnection& connection, const Welcome& welcome);
  // One operation in the slot that is kept for this.
  Result<WireStatus> recover_one(ClientConnection& connection, U64 session, std::span<const std::byte> call,
                                 std::span<const std::byte> record, std::span<const std::byte> payload);

  const ClientOptions options_;
  const Url url_;
  const ClientKey key_;
  const std::string client_id_;
  std::unique_ptr<CallsInFlight> calls_;  // made by the first log-in
  HeldState held_;
  UnstableWrites unstable_;
  std::atomic<std::uint64_t> last_open_{0};
  std::vector<std::unique_ptr<Channel>> channels_;

  std::mutex login_mutex_;  // one log-in or recovery at a time; guards the two below
  U32 recovery_sequence_ = 0;
  U64 recovered_ = 0;         // the session in which all was asked back
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable stop_changed_;
  bool stopping_ = false;
  U64 session_ = 0;
  SessionFacts facts_;
  std::atomic<std::uint64_t> calls_made_{0}, resent_{0}, reconnects_{0}, sessions_{0}, reclaimed_{0}, rewritten_{0};
};

}  // namespace stoa::native
