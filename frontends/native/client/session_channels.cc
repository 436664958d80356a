// The channels of a session: connections that are made anew when they break.
#include "frontends/native/client/session_client.h"

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "frontends/native/client/operation_fields.h"

namespace stoa::native {
namespace {

constexpr std::chrono::milliseconds kConnectPatience{5'000};
constexpr std::chrono::milliseconds kIdle{
    10'000};  // then the server is asked whether it is there; and again, it is not
constexpr std::chrono::milliseconds kRetryFirst{20}, kRetryMost{2'000};

std::uint64_t offset_of(const WriteArgs& asked, const WriteReply&) {
  return asked.offset;
}
std::uint64_t offset_of(const AppendArgs&, const AppendReply& written) {
  return written.offset;
}

template <class Operation>
std::optional<UnstableWrites::Write> unstable_write_of(const RecordView& operation, const RecordView& answer,
                                                       std::span<const std::byte> payload) {
  typename Operation::Arguments asked;
  typename Operation::Reply written;
  if (!read_record(operation, asked) || !read_record(answer, written) || asked.stable != 0) return std::nullopt;
  const std::size_t length = std::min<std::size_t>(written.length, asked.data_bytes);
  return UnstableWrites::Write{.file = written.attr.id,
                               .open = asked.open,
                               .offset = offset_of(asked, written),
                               .data = payload.subspan(asked.data_at, length),
                               .verifier = written.verifier};
}

// A write that was answered, if it is to be kept until a commit.
std::optional<UnstableWrites::Write> unstable_write(const RecordView& operation, const RecordView& answer,
                                                    std::span<const std::byte> payload) {
  if (operation.code == operations::write::kCode)
    return unstable_write_of<operations::write>(operation, answer, payload);
  if (operation.code == operations::append::kCode)
    return unstable_write_of<operations::append>(operation, answer, payload);
  return std::nullopt;
}

// The file that the first operand of an operation names. `files`: of the operations up to this one.
U64 file_meant(const RecordView& operation, const std::vector<U64>& files) {
  if (operation.fixed.size() < sizeof(U64)) return 0;
  const File operand{load<U64>(operation.fixed.data())};
  if (!is_result(operand)) return static_cast<U64>(operand);
  return operation_of(operand) < files.size() ? files[operation_of(operand)] : 0;
}

}  // namespace

Result<std::shared_ptr<ClientConnection>> SessionClient::open_connection(std::chrono::milliseconds& wait) {
  STOA_TRY(fresh, ClientConnection::open(url_.host, url_.port, kConnectPatience));
  std::shared_ptr<ClientConnection> connection = std::move(fresh);
  const std::lock_guard lock(login_mutex_);
  U64 known = 0;
  {
    const std::lock_guard state(mutex_);
    if (stopping_) return fail(Errc::kShutdown);
    known = session_;
  }
  STOA_TRY(welcome, log_in(*connection, key_, {url_.export_name, client_id_, known}, wait));
  if (calls_ == nullptr) calls_ = std::make_unique<CallsInFlight>(welcome.slots - 1);
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
  return connection;
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
    if (retry == kRetryMost)
      log_warning("native", "the server is not to be reached", {{"error", describe(connection.error())}});
    retry = std::max(std::min(first ? kRetryFirst : retry * 2, kRetryMost), wait);
  }
}

void SessionClient::resume(std::size_t index, const std::shared_ptr<ClientConnection>& connection) {
  Channel& channel = *channels_[index];
  {
    const std::lock_guard lock(channel.mutex);
    channel.connection = connection;
    channel.up = true;
  }
  for (const auto& frame : calls_->unanswered([&](U32 slot) { return channel_of(slot) == index; })) {
    ++resent_;
    if (!connection->send(*frame)) return;
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
      read_until_broken(*connection);
      connection->break_off();
      ++reconnects_;
    }
    {
      const std::lock_guard lock(channel.mutex);
      channel.up = false;
      channel.connection = nullptr;
    }
    connection = reconnect(index);
    if (connection == nullptr) return;
    resume(index, connection);
    // The destructor may have come between, and has found no connection to break off.
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
}

void SessionClient::read_until_broken(ClientConnection& connection) {
  bool asked = false;
  for (;;) {
    const auto body = connection.receive(kIdle);
    if (body) {
      asked = false;
      if (!take(*body)) return;
      continue;
    }
    if (body.error().code != Errc::kTimeout || asked) return;
    U64 session = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      session = session_;
    }
    const Bytes ping = encode_message(
        {.version = kVersion, .kind = static_cast<U16>(MessageKind::kPing), .session = session}, {}, {}, {});
    if (!connection.send(ping)) return;
    asked = true;
  }
}

bool SessionClient::take(const std::shared_ptr<const Bytes>& body) {
  MessageView view;
  if (cut_message(*body, view) != Cut::kWhole) return false;
  if (WireStatus{view.header.status} == WireStatus::bad_session) return false;
  if (view.header.kind == static_cast<U16>(MessageKind::kPong)) return true;
  if (view.header.kind != static_cast<U16>(MessageKind::kReply)) return false;
  const auto frame = calls_->asked(view.header.slot, view.header.sequence);
  if (frame == nullptr) return true;  // it was answered twice
  Gained gained;
  if (WireStatus{view.header.status} == WireStatus::ok) gained = note(frame, view);
  if (calls_->answered(view.header.slot, view.header.sequence, body)) return true;
  MessageView sent;
  if (cut_message(std::span(*frame).subspan(kFrameHeadBytes), sent) == Cut::kWhole) give_back(gained, sent.call);
  return true;
}

void SessionClient::Gained::note(const RecordView& operation, U64 file) {
  if (operation.code == operations::open::kCode) {
    OpenArgs asked;
    if (read_record(operation, asked)) opens.push_back(asked.open);
  } else if (operation.code == operations::close::kCode) {
    CloseArgs asked;
    if (read_record(operation, asked)) std::erase(opens, asked.open);
  } else if (operation.code == operations::lock::kCode) {
    LockArgs asked;
    if (read_record(operation, asked)) locks.push_back({File{file}, asked.owner, asked.offset, asked.length});
  }
}

// Before the caller hears of it: what it holds from now on is to be known when the connection breaks.
SessionClient::Gained SessionClient::note(const std::shared_ptr<const Bytes>& frame, const MessageView& reply) {
  Gained gained;
  MessageView sent;
  if (cut_message(std::span(*frame).subspan(kFrameHeadBytes), sent) != Cut::kWhole) return gained;
  std::span<const std::byte> asked = sent.operations, answers = reply.operations;
  std::vector<U64> files;
  std::vector<UnstableWrites::Write> written_here;  // and not committed in the same message
  while (!asked.empty() && !answers.empty()) {
    const auto operation = next_record(asked);
    const auto answer = next_record(answers);
    if (!operation || !answer) break;
    const bool gone = operation->code == operations::close::kCode && WireStatus{answer->code} == WireStatus::bad_open;
    if (WireStatus{answer->code} != WireStatus::ok && !gone) break;
    U64 file = 0;
    (void)file_of_reply(operation->code, *answer, file);
    files.push_back(file);
    const U64 meant = file_meant(*operation, files);
    held_.note(operation->code, *operation, operation->code == operations::open::kCode ? file : meant, sent.call);
    gained.note(*operation, meant);
    if (operation->code == operations::commit::kCode) {
      CommitReply done;
      if (!read_record(*answer, done)) continue;
      std::erase_if(written_here, [&](const UnstableWrites::Write& write) {
        return write.file == done.attr.id && write.verifier == done.verifier;
      });
    }
    if (auto write = unstable_write(*operation, *answer, sent.payload)) {
      write->call.assign(sent.call.begin(), sent.call.end());
      write->frame = frame;
      written_here.push_back(std::move(*write));
    }
  }
  for (UnstableWrites::Write& write : written_here) unstable_.add(std::move(write));
  return gained;
}

}  // namespace stoa::native
