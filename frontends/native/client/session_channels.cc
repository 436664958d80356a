// The channels of a session: connections that are made anew when they break.
#include "frontends/native/client/session_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.h"

namespace stoa::native {
namespace {

constexpr std::chrono::milliseconds kConnectPatience{5'000};
constexpr std::chrono::milliseconds kRetryFirst{20}, kRetryMost{2'000};
// The server is asked whether it is there when no request that was sent in this time is answered. With leases it is
// a quarter of the time for which they are to be believed.
constexpr std::chrono::nanoseconds kAskEvery = std::chrono::seconds(10);
constexpr std::chrono::nanoseconds kSilence = std::chrono::seconds(10);  // after that question: it is not there
// Where replies come that fast, with the wake-up, the next one is polled for: a wake-up costs as much as the wait.
constexpr std::chrono::nanoseconds kWorthPolling = std::chrono::microseconds(100);
constexpr std::chrono::nanoseconds kPolledMost = std::chrono::microseconds(60);

}  // namespace

Result<std::shared_ptr<ClientConnection>> SessionClient::log_in_at(const Url::Host& host,
                                                                   std::chrono::milliseconds& wait) {
  STOA_TRY(fresh, security_->open(host.name, host.port, kConnectPatience));
  const std::lock_guard lock(login_mutex_);
  U64 known = 0;
  bool anothers = false;
  {
    const std::lock_guard state(mutex_);
    if (stopping_) return fail(Errc::kShutdown);
    if (rests_) return fail(Errc::kBusy, "another process takes the session over");
    known = session_;
    anothers = left_;
  }
  STOA_TRY(entered, security_->enter(std::move(fresh), host.name, host.port, kConnectPatience, key_,
                                     {url_.export_name, client_id_, known}, wait));
  const auto& [connection, welcome] = entered;
  // What the other process holds is for that one to ask back.
  if (anothers && welcome.session != known) {
    return fail(Errc::kStale,
                "the server has started anew, or has no session of the other process under this key; try "
                "again, with the key of the mount");
  }
  ChannelReading& reading = *this;
  trust_.session_lasts(std::chrono::seconds(welcome.lease_seconds));
  if (calls_ == nullptr) calls_ = std::make_unique<CallsInFlight>(welcome.slots - 1, channels_.size(), reading);
  if (welcome.session != known) {
    ++sessions_;
    if (known != 0) STOA_CHECK_OK(recover(*connection, welcome));
    const std::lock_guard state(mutex_);
    session_ = welcome.session;
    if (known == 0) facts_.root = welcome.root;
    facts_.volume = welcome.volume;
    facts_.slots = welcome.slots - 1;
    facts_.message_bytes_max = welcome.message_bytes_max;
  }
  calls_->readdress_all(welcome.session);
  const std::lock_guard state(mutex_);
  facts_.boot_verifier = welcome.boot_verifier;
  facts_.read_only = welcome.read_only != 0;
  unreachable_.clear();
  told_.clear();
  return connection;
}

Result<std::shared_ptr<ClientConnection>> SessionClient::open_connection(std::chrono::milliseconds& wait) {
  std::size_t first = 0;
  {
    const std::lock_guard lock(login_mutex_);
    first = host_;
  }
  std::optional<Error> why;
  for (std::size_t i = 0; i < url_.hosts.size(); ++i) {
    const std::size_t at = (first + i) % url_.hosts.size();
    std::chrono::milliseconds of_this{0};
    auto connection = log_in_at(url_.hosts[at], of_this);
    if (connection) {
      const std::lock_guard lock(login_mutex_);
      host_ = at;
      return connection;
    }
    wait = std::max(wait, of_this);
    // What one that was there has said tells more than that another was not.
    const bool refused = connection.error().code != Errc::kIo && connection.error().code != Errc::kTimeout;
    if (!why || refused) why = connection.error();
  }
  return fail(*std::move(why));
}

void SessionClient::tell_unreachable(const Error& why) {
  const std::string text = describe(why);
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(told_, text) == text) return;
  }
  log_warning("native", "the server is not to be reached, and is waited for", {{"error", text}});
}

std::shared_ptr<ClientConnection> SessionClient::reconnect(std::size_t) {
  std::chrono::milliseconds retry = kRetryFirst;
  for (bool first = true;; first = false) {
    {
      std::unique_lock lock(mutex_);
      if (!first) stop_changed_.wait_for(lock, retry, [this] { return stopping_; });
      if (stopping_) return nullptr;
    }
    std::chrono::milliseconds wait{0};
    auto connection = open_connection(wait);
    if (connection) return *connection;
    {
      const std::lock_guard lock(mutex_);
      unreachable_ = connection.error().detail;
    }
    if (retry == kRetryMost) tell_unreachable(connection.error());
    retry = std::max(std::min(first ? kRetryFirst : retry * 2, kRetryMost), wait);
  }
}

void SessionClient::resume(std::size_t index, const std::shared_ptr<ClientConnection>& connection) {
  Channel& channel = *channels_[index];
  channel.heard_ns = boot_now_ns();
  channel.ping_ns = 0;
  channel.asked_ns = 0;
  {
    const std::lock_guard lock(channel.mutex);
    channel.connection = connection;
    channel.up = true;
  }
  calls_->channel_up(index);
  for (const auto& frame : calls_->unanswered(index, boot_now_ns())) {
    ++resent_;
    if (!connection->send(frame->head, frame->data())) return;
  }
}

void SessionClient::run_channel(std::size_t index) {
  Channel& channel = *channels_[index];
  for (;;) {
    std::shared_ptr<ClientConnection> connection;
    {
      const std::lock_guard lock(channel.mutex);
      connection = channel.connection;
    }
    if (connection != nullptr) {
      attend(index, *connection);
      connection->break_off();
      ++reconnects_;
    }
    {
      const std::lock_guard lock(channel.mutex);
      channel.up = false;
      channel.connection = nullptr;
    }
    calls_->channel_down(index);
    connection = reconnect(index);
    if (connection == nullptr) return;
    resume(index, connection);
    // The destructor may have come between, and has found no connection to break off.
    if (stopping()) return;
  }
}

std::optional<std::chrono::nanoseconds> SessionClient::keep_alive(std::size_t index, ClientConnection& connection) {
  Channel& channel = *channels_[index];
  const std::int64_t now = boot_now_ns();
  if (const std::int64_t asked = channel.ping_ns.load(); asked != 0) {
    const std::int64_t silent = now - std::max(asked, channel.heard_ns.load());
    if (silent >= kSilence.count()) return std::nullopt;
    return std::chrono::nanoseconds(kSilence.count() - silent);
  }
  // Leases are believed for as long as all channels are heard, and a recall is sent again over a new connection behind
  // its first question: so that one is asked at once.
  const bool leases = leases_.any();
  const std::int64_t every = leases ? trust_.trust_ns() / 4 : kAskEvery.count();
  std::int64_t since = std::max(trust_.newest(index), channel.asked_ns);
  if (!leases) since = std::max(since, channel.heard_ns.load());
  const bool first = options_.leases != nullptr && channel.asked_ns == 0;
  if (!first && now - since < every) return std::chrono::nanoseconds(since + every - now);
  U64 session = 0;
  {
    const std::lock_guard lock(mutex_);
    session = session_;
  }
  const Bytes ping = encode_message(
      {.version = kVersion, .kind = static_cast<U16>(MessageKind::kPing), .session = session}, {}, {}, {});
  channel.ping_ns = channel.asked_ns = now;
  if (!connection.send(ping)) return std::nullopt;
  return kSilence;
}

void SessionClient::attend(std::size_t index, ClientConnection& connection) {
  for (;;) {
    const auto next = keep_alive(index, connection);
    LargeMemory::rest();
    if (!next) return;
    const auto until = Deadline::Clock::now() + *next;
    for (;;) {
      const CallsInFlight::Turn turn = calls_->next_turn(index, until);
      if (turn == CallsInFlight::Turn::kBroken) return;
      if (turn == CallsInFlight::Turn::kLater) break;
      const auto left = until - Deadline::Clock::now();
      if (left.count() <= 0 || !connection.wait_readable(left)) break;
      if (!calls_->begin_reading(index)) continue;
      while (take_all(index, connection) == Took::kSome) {
      }
      calls_->end_reading(index);
    }
  }
}

SessionClient::Took SessionClient::take_all(std::size_t index, ClientConnection& connection) {
  Took took = Took::kNothing;
  do {
    const auto body = connection.try_receive();
    if (body && *body == nullptr) return took;
    if (!body || !take(index, *body)) {
      connection.break_off();
      calls_->channel_broken(index);
      return Took::kEnd;
    }
    took = Took::kSome;
  } while (connection.ready());
  return took;
}

void SessionClient::read(std::size_t index, Deadline::Clock::time_point until) {
  Channel& channel = *channels_[index];
  std::shared_ptr<ClientConnection> connection;
  {
    const std::lock_guard lock(channel.mutex);
    connection = channel.connection;
  }
  if (connection == nullptr || take_all(index, *connection) != Took::kNothing) return;
  const auto began = Deadline::Clock::now();
  auto now = began;
  Took took = Took::kNothing;
  const bool polls = channel.usual_wait < kWorthPolling;
  while (polls && took == Took::kNothing && now - began < kPolledMost && now < until) {
    took = take_all(index, *connection);
    now = Deadline::Clock::now();
  }
  if (took == Took::kNothing) {
    const bool for_ever = until == Deadline::Clock::time_point::max();
    if (!for_ever && now >= until) return;
    if (!connection->wait_readable(for_ever ? std::chrono::nanoseconds(-1) : until - now)) return;
    (void)take_all(index, *connection);
    now = Deadline::Clock::now();
  }
  const std::chrono::nanoseconds waited = std::min<std::chrono::nanoseconds>(now - began, 4 * kWorthPolling);
  channel.usual_wait = (channel.usual_wait * 7 + waited) / 8;
}

}  // namespace stoa::native
