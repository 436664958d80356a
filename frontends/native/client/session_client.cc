#include "frontends/native/client/session_client.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "frontends/native/protocol/login.h"

namespace stoa::native {
namespace {

constexpr std::uint32_t kChannelsMax = 16;
constexpr std::chrono::milliseconds kWaitFirst{5}, kWaitMost{250};  // before the same is asked again

std::string make_client_id() {
  const Nonce random = make_nonce();
  return std::string(as_text(random).substr(0, kClientIdBytes));
}

Bytes call_block(const std::optional<Identity>& as) {
  Bytes block;
  if (!as) return block;
  const std::size_t count = std::min(as->groups.size(), kGroupsMax);
  Bytes groups(count * sizeof(U32));
  for (std::size_t i = 0; i < count; ++i) store(groups.data() + i * sizeof(U32), as->groups[i]);
  append_record(block, 0, CallBlock{.uid = as->uid, .gid = as->gid, .groups = as_text(groups)});
  return block;
}

U32 milliseconds_to(const Deadline& deadline) {
  if (deadline.is_never()) return 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.at() - Deadline::Clock::now()).count();
  return static_cast<U32>(std::clamp<std::int64_t>(left, 1, 50'000));
}

bool has(const Batch& batch, U16 code) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch.code(i) == code) return true;
  }
  return false;
}

// An operation after which older writes of its file must not be written again, or could not be. `file` 0: any.
struct Overtaking {
  U64 file = 0;
  U64 open = 0;  // a close
  bool stable_write = false;
};

std::vector<Overtaking> changes_of(const Batch& batch) {
  std::vector<Overtaking> found;
  const auto add = [&](File file) { found.push_back({.file = is_result(file) ? 0 : static_cast<U64>(file)}); };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    switch (batch.code(i)) {
      case operations::close::kCode:
        found.push_back({.open = batch.arguments<operations::close>(i).open});
        break;
      case operations::setattr::kCode: {
        const auto in = batch.arguments<operations::setattr>(i);
        if ((in.set.which & kSetSize) != 0) add(in.file);
        break;
      }
      case operations::create::kCode:
        if ((batch.arguments<operations::create>(i).set.which & kSetSize) != 0) add(File{});
        break;
      case operations::open::kCode: {
        const auto in = batch.arguments<operations::open>(i);
        if (in.disposition == kOpenTruncate || in.disposition == kOpenTruncateOrCreate) add(in.file);
        break;
      }
      case operations::punch::kCode:
        add(batch.arguments<operations::punch>(i).file);
        break;
      case operations::zero::kCode:
        add(batch.arguments<operations::zero>(i).file);
        break;
      case operations::copy_range::kCode:
        add(batch.arguments<operations::copy_range>(i).to);
        break;
      case operations::write::kCode: {
        const auto in = batch.arguments<operations::write>(i);
        if (in.stable == 0) break;
        add(in.file);
        found.back().stable_write = true;
        break;
      }
      default:
        break;
    }
  }
  return found;
}

// Whether an operation that failed so is to be asked again.
bool waits(const Batch& batch, const Replies& replies) {
  const std::size_t last = replies.size() - 1;
  const WireStatus status = replies.status(last);
  if (status == WireStatus::recall_pending || status == WireStatus::grace) return true;
  return status == WireStatus::locked && batch.code(last) == operations::lock::kCode &&
         batch.arguments<operations::lock>(last).waits != 0;
}

}  // namespace

Result<std::unique_ptr<SessionClient>> SessionClient::connect(const ClientOptions& options) {
  STOA_TRY(url, parse_url(options.url));
  STOA_TRY(key, read_key_file(options.key_file));
  if (options.channels < 1 || options.channels > kChannelsMax)
    return fail(Errc::kInvalid, "there are 1 to 16 channels");
  std::unique_ptr<SessionClient> client(new SessionClient(options, url, key));
  std::chrono::milliseconds wait{0};
  STOA_TRY(connection, client->open_connection(wait));
  client->resume(0, connection);
  for (std::size_t i = 0; i < client->channels_.size(); ++i) {
    client->channels_[i]->thread = std::thread([&made = *client, i] { made.run_channel(i); });
  }
  STOA_CHECK_OK(client->find_path());
  return client;
}

SessionClient::SessionClient(const ClientOptions& options, Url url, ClientKey key)
    : options_(options), url_(std::move(url)), key_(std::move(key)), client_id_(make_client_id()) {
  for (std::uint32_t i = 0; i < options.channels; ++i) channels_.push_back(std::make_unique<Channel>());
}

SessionClient::~SessionClient() {
  U64 session = 0;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    session = session_;
  }
  stop_changed_.notify_all();
  if (calls_ != nullptr) calls_->stop();
  const Bytes goodbye = encode_message(
      {.version = kVersion, .kind = static_cast<U16>(MessageKind::kGoodbye), .session = session}, {}, {}, {});
  bool told = false;
  for (const auto& channel : channels_) {
    const std::lock_guard lock(channel->mutex);
    if (channel->connection == nullptr) continue;
    // The server reads what was sent before the end of the stream, so it need not be waited for.
    if (!told && channel->up) told = channel->connection->send(goodbye).has_value();
    channel->connection->break_off();
  }
  for (const auto& channel : channels_) {
    if (channel->thread.joinable()) channel->thread.join();
  }
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

// --- calls

Status SessionClient::pause(std::chrono::milliseconds& wait, const CallOptions& options, const Deadline& deadline) {
  if (options.interrupted && options.interrupted()) return fail(Errc::kTimeout, "interrupted");
  if (!deadline.is_never() && Deadline::Clock::now() + wait >= deadline.at())
    return fail(Errc::kTimeout, "it was not to be had in time");
  std::unique_lock lock(mutex_);
  if (stop_changed_.wait_for(lock, wait, [this] { return stopping_; })) return fail(Errc::kShutdown);
  wait = std::min(wait * 2, kWaitMost);
  return {};
}

Result<Replies> SessionClient::call(const Batch& wanted, const CallOptions& options) {
  const bool writes = has(wanted, operations::write::kCode) || has(wanted, operations::append::kCode);
  const bool ends = std::ranges::any_of(changes_of(wanted), [](const Overtaking& one) { return !one.stable_write; });
  STOA_CHECK_OK(commit_before(wanted, options));
  // Where that fails, what is kept stays, and writes are durable at once.
  if (writes && unstable_.full()) (void)commit_kept([](U64) { return true; }, options);
  const Batch batch = writes && (ends || unstable_.full()) ? wanted.stable() : wanted;
  STOA_TRY(replies, call_with_kept(batch, options));
  STOA_CHECK_OK(lost(batch, replies));
  return std::move(replies);
}

Result<Replies> SessionClient::call_with_kept(const Batch& batch, const CallOptions& options) {
  if (batch.empty()) return Replies{};
  if (!batch.fits()) return fail(Errc::kTooLarge);
  Deadline deadline = options.deadline;
  if (options_.soft.count() > 0) {
    const auto soft = Deadline::Clock::now() + options_.soft;
    if (deadline.is_never() || deadline.at() > soft) deadline = Deadline(soft);
  }
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
  STOA_CHECK_OK(settle_commits(batch, replies, newest, options));
  return std::move(replies);
}

Status SessionClient::commit_kept(const std::function<bool(U64 file)>& wanted, const CallOptions& options) {
  for (const auto& [file, block] : unstable_.files()) {
    if (!wanted(file)) continue;
    Batch batch;
    batch.add<operations::commit>({.file = File{file}});
    const U64 newest = unstable_.newest();
    STOA_TRY(replies, run_once(batch, block, options, options.deadline));
    STOA_CHECK_OK(settle_commits(batch, replies, newest, options));
  }
  return {};
}

Status SessionClient::commit_before(const Batch& batch, const CallOptions& options) {
  if (unstable_.empty()) return {};
  std::set<U64> files;
  bool all = false, must = false;
  for (const Overtaking& one : changes_of(batch)) {
    const U64 file = one.open != 0 ? unstable_.file_through(one.open) : one.file;
    if (one.open == 0) must = true;
    if (one.open == 0 && file == 0) all = true;
    if (file != 0) files.insert(file);
  }
  if (!all && files.empty()) return {};
  const Status done = commit_kept([&](U64 file) { return all || files.contains(file); }, options);
  // A close happens in any case: the next commit tells what became of the bytes.
  return must ? done : Status{};
}

Result<std::shared_ptr<CallsInFlight::Call>> SessionClient::begin(const Batch& batch, const Bytes& block,
                                                                  const Patience& patience) {
  return calls_->begin(patience, [&](U32 slot, U32 sequence) {
    U64 session = 0;
    {
      const std::lock_guard lock(mutex_);
      session = session_;
    }
    return encode_message({.version = kVersion,
                           .kind = static_cast<U16>(MessageKind::kCall),
                           .session = session,
                           .slot = slot,
                           .sequence = sequence,
                           .deadline_ms = milliseconds_to(patience.deadline),
                           .operation_count = static_cast<U32>(batch.size())},
                          block, batch.records(), batch.payload());
  });
}

Result<Replies> SessionClient::run_once(const Batch& batch, const Bytes& block, const CallOptions& options,
                                        const Deadline& deadline) {
  const Patience patience{deadline, options.interrupted};
  STOA_TRY(call, begin(batch, block, patience));
  std::vector<U16> codes;
  for (std::size_t i = 0; i < batch.size(); ++i) codes.push_back(batch.code(i));
  std::chrono::milliseconds wait = kWaitFirst;
  for (;;) {
    send(*call);
    STOA_CHECK_OK(calls_->wait(call, patience));
    MessageView view;
    (void)cut_message(*call->reply, view);
    const WireStatus status{view.header.status};
    if (status == WireStatus::ok) {
      Replies replies;
      const Status sound = replies.append(call->reply, codes);
      calls_->end(call);
      if (!sound) return fail(sound.error());
      return replies;
    }
    const bool later =
        status == WireStatus::busy || status == WireStatus::in_progress || status == WireStatus::bad_checksum;
    if (!later) {
      calls_->end(call, status == WireStatus::malformed);
      // What is wrong with a message is nothing that its operations found.
      const Errc code = to_errc(status);
      const bool misleads = code == Errc::kNotFound || code == Errc::kInvalid || code == Errc::kStale;
      return fail(misleads ? Errc::kIo : code, std::string(to_string(status)));
    }
    if (const Status paused = pause(wait, options, deadline); !paused) {
      // A message that runs keeps its slot until it is known what becomes of it.
      if (status == WireStatus::in_progress) {
        calls_->give_up(call);
      } else {
        calls_->end(call, true);
      }
      return fail(paused.error());
    }
    calls_->again(*call);
    ++resent_;
  }
}

// What a commit of this batch has not kept, because the server has started anew in between, is written once more.
Status SessionClient::settle_commits(const Batch& batch, const Replies& replies, U64 newest,
                                     const CallOptions& options) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (batch.code(i) != operations::commit::kCode || replies.status(i) != WireStatus::ok) continue;
    const CommitReply reply = replies.read<operations::commit>(i);
    const U64 file = reply.attr.id;
    const std::vector<UnstableWrites::Write> writes = unstable_.committed(file, newest, reply.verifier);
    for (std::size_t n = 0; n < writes.size(); ++n) {
      const UnstableWrites::Write& write = writes[n];
      Batch again;
      again.add_write({.file = File{write.file}, .open = write.open, .offset = write.offset, .stable = 1}, write.data);
      ++rewritten_;
      const auto written = call_with_kept(again, options);
      if (!written) {
        unstable_.add_back(std::span(writes).subspan(n));
        return fail(written.error());
      }
      if (const auto done = written->get<operations::write>(0); !done) {
        unstable_.lose(file);
        unstable_.add_back(std::span(writes).subspan(n + 1));
        return fail(done.error());
      }
    }
  }
  return {};
}

// The caller that commits a file is told of bytes of it that are lost, once.
Status SessionClient::lost(const Batch& batch, const Replies& replies) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (batch.code(i) != operations::commit::kCode || replies.status(i) != WireStatus::ok) continue;
    if (unstable_.take_loss(replies.read<operations::commit>(i).attr.id))
      return fail(Errc::kIo, "writes were lost when the server started anew");
  }
  return {};
}

void SessionClient::give_back(const Gained& gained, std::span<const std::byte> call) {
  std::vector<Batch> batches;
  for (const UnlockArgs& lock : gained.locks) batches.emplace_back().add<operations::unlock>(lock);
  for (const U64 open : gained.opens) batches.emplace_back().add<operations::close>({open});
  for (const Batch& batch : batches) {
    Deadline now(Deadline::Clock::now());
    const auto begun = begin(batch, Bytes(call.begin(), call.end()), {.deadline = now});
    if (!begun) {
      log_warning("native", "an open or a lock that nobody waits for is kept", {{"error", describe(begun.error())}});
      continue;
    }
    calls_->give_up(*begun);
    send(**begun);
  }
}

void SessionClient::send(const CallsInFlight::Call& call) {
  Channel& channel = *channels_[channel_of(call.slot)];
  std::shared_ptr<ClientConnection> connection;
  {
    const std::lock_guard lock(channel.mutex);
    if (channel.up) connection = channel.connection;
  }
  // Else it is sent with all others that are in flight, once there is a connection.
  const auto frame = calls_->asked(call.slot, call.sequence);
  if (connection != nullptr && frame != nullptr) (void)connection->send(*frame);
}

}  // namespace stoa::native
