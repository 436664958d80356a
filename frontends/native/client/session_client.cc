#include "frontends/native/client/session_client.h"

#include <algorithm>

#include "frontends/native/client/quiet_thread.h"
#include "frontends/native/protocol/login.h"

namespace stoa::native {
namespace {

constexpr std::uint32_t kChannelsMax = 16;
constexpr std::size_t kWaitingThreads = 2;

std::string make_client_id() {
  const Nonce random = make_nonce();
  return std::string(as_text(random).substr(0, kClientIdBytes));
}

}  // namespace

Result<std::unique_ptr<SessionClient>> SessionClient::connect(const ClientOptions& options) {
  STOA_TRY(url, parse_url(options.url));
  STOA_TRY(key, choose_key(options.kerberos, options.key_file));
  if (options.channels < 1 || options.channels > kChannelsMax)
    return fail(Errc::kInvalid, "there are 1 to 16 channels");
  const bool verified = url.tls || !options.ca_file.empty();
  STOA_TRY(security, ChannelSecurity::make(verified ? TlsWish::kRequired : options.tls, options.ca_file));
  std::unique_ptr<SessionClient> client(new SessionClient(options, url, key, std::move(security)));
  if (options.resumes != nullptr) client->resume_session(*options.resumes);
  STOA_CHECK_OK(client->timed_.start(1));
  STOA_CHECK_OK(client->waiting_.start(kWaitingThreads));
  std::chrono::milliseconds wait{0};
  STOA_TRY(connection, client->open_connection(wait));
  client->resume(0, connection);
  for (std::size_t i = 0; i < client->channels_.size(); ++i) {
    STOA_CHECK_OK(start_quiet_thread(client->channels_[i]->thread, [&made = *client, i] { made.run_channel(i); }));
  }
  if (options.resumes == nullptr) STOA_CHECK_OK(client->find_path());
  return client;
}

SessionClient::SessionClient(const ClientOptions& options, Url url, ClientKey key,
                             std::unique_ptr<ChannelSecurity> security)
    : options_(options),
      url_(std::move(url)),
      key_(std::move(key)),
      security_(std::move(security)),
      client_id_(options.resumes != nullptr ? options.resumes->client_id : make_client_id()),
      leases_(options.leases),
      trust_(options.channels) {
  for (std::uint32_t i = 0; i < options.channels; ++i) channels_.push_back(std::make_unique<Channel>());
}

SessionClient::~SessionClient() {
  U64 session = 0;
  bool told = false;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    session = session_;
    told = left_;  // it goes on elsewhere
  }
  stop_changed_.notify_all();
  const Bytes goodbye = encode_message(
      {.version = kVersion, .kind = static_cast<U16>(MessageKind::kGoodbye), .session = session}, {}, {}, {});
  for (const auto& channel : channels_) {
    const std::lock_guard lock(channel->mutex);
    if (channel->connection == nullptr) continue;
    // The server reads what was sent before the end of the stream, so it need not be waited for.
    if (!told && channel->up) told = channel->connection->send(goodbye).has_value();
    channel->connection->break_off();
  }
  if (calls_ != nullptr) {
    for (const auto& call : calls_->stop()) call->done(call);
  }
  for (const auto& channel : channels_) {
    if (channel->thread.joinable()) channel->thread.join();
  }
  timed_.stop();
  waiting_.stop();
}

bool SessionClient::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

SessionFacts SessionClient::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

ClientCounts SessionClient::counts() const {
  return {.calls = calls_made_.load(),
          .resent = resent_.load(),
          .reconnects = reconnects_.load(),
          .sessions = sessions_.load(),
          .reclaimed = reclaimed_.load(),
          .lost = held_.lost_count(),
          .rewritten = rewritten_.load()};
}

void SessionClient::break_connections() {
  for (const auto& channel : channels_) {
    const std::lock_guard lock(channel->mutex);
    if (channel->connection != nullptr) channel->connection->break_off();
  }
}

// The directory that the URL names takes the place of the export's.
Status SessionClient::find_path() {
  CallOptions options;
  if (key_.kind == KeyKind::kHost) options.as = Identity{.uid = 0, .gid = 0};
  std::string_view path = url_.path;
  U64 at = facts().root;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path = slash == path.npos ? std::string_view{} : path.substr(slash + 1);
    if (name.empty()) continue;
    Batch batch;
    batch.add<operations::lookup>({.parent = File{at}, .name = name});
    STOA_TRY(replies, call(batch, options));
    const auto found = replies.get<operations::lookup>(0);
    if (!found)
      return fail(found.error().code,
                  "the export " + url_.export_name + " has no directory " + url_.path + " that may be seen");
    if (found->attr.type != kDirectory) return fail(Errc::kNotDirectory, url_.path + " is no directory");
    at = found->attr.id;
  }
  const std::lock_guard lock(mutex_);
  facts_.root = at;
  return {};
}

}  // namespace stoa::native
