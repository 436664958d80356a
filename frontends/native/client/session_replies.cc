// What comes over a channel: replies, and what the server says of itself.
#include <algorithm>
#include <optional>

#include "base/log.h"
#include "frontends/native/client/call_wishes.h"
#include "frontends/native/client/operation_fields.h"
#include "frontends/native/client/session_client.h"

namespace stoa::native {
namespace {

constexpr std::chrono::milliseconds kAskAgain{250};

std::uint64_t offset_of(const WriteArgs& asked, const WriteReply&) {
  return asked.offset;
}
std::uint64_t offset_of(const AppendArgs&, const AppendReply& written) {
  return written.offset;
}

U64 lease_of(const WriteArgs& asked) {
  return asked.lease;
}
U64 lease_of(const AppendArgs&) {
  return 0;
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
                               .lease = lease_of(asked),
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

// The lease that an operation has named, and that the session has not any more.
void lose_lease_of(const RecordView& operation, ClientLeases& leases) {
  if (operation.code == operations::write::kCode) {
    WriteArgs asked;
    if (read_record(operation, asked)) leases.lose(asked.lease);
  } else if (operation.code == operations::acknowledge::kCode) {
    AcknowledgeArgs asked;
    if (read_record(operation, asked)) leases.lose(asked.lease);
  }
}

}  // namespace

bool SessionClient::take(std::size_t channel, const std::shared_ptr<const Content>& body) {
  MessageView view;
  if (cut_message(*body, view) != Cut::kWhole) return false;
  const WireStatus status{view.header.status};
  // A new connection logs in anew: to another session, with TLS, with a fresh ticket.
  const bool wants_tls = status == WireStatus::tls_required || status == WireStatus::kerberos_needs_tls;
  if (status == WireStatus::bad_session || status == WireStatus::ticket_expired ||
      (wants_tls && security_->may_start_tls()))
    return false;
  switch (static_cast<MessageKind>(view.header.kind)) {
    case MessageKind::kPong:
      heard(channel, view.header.flags, channels_[channel]->ping_ns.exchange(0));
      return true;
    case MessageKind::kRecall:
      take_recalls(view);
      return true;
    case MessageKind::kReply:
      break;
    default:
      return false;
  }
  const std::shared_ptr<Call> call = calls_->asked(view.header.slot, view.header.sequence);
  if (call == nullptr) return true;  // it was answered twice
  const std::shared_ptr<const Frame> frame = calls_->frame_of(*call);
  Gained gained;
  if (status == WireStatus::ok) gained = note(*frame, view);
  heard(channel, view.header.flags, call->sent_ns);
  const bool awaited = calls_->answered(call, body, view);
  if (!frame->leases.empty() && !is_later(status)) leases_.answered(frame->leases);
  if (!awaited) give_back(gained, frame->view().call);
  return true;
}

void SessionClient::take_recalls(const MessageView& message) {
  std::span<const std::byte> records = message.operations;
  while (const auto record = next_record(records)) {
    RecallNotice notice;
    if (read_record(*record, notice)) leases_.recalled(notice);
  }
}

void SessionClient::heard(std::size_t channel, U32 flags, std::int64_t sent_ns) {
  const std::int64_t now = boot_now_ns();
  channels_[channel]->heard_ns.store(now, std::memory_order_relaxed);
  const bool doubtful = (flags & kLeasesWereLost) != 0 || (trust_.ran_out(channel, now) && leases_.any());
  // Before the answer counts: from now on nothing is believed until the lost ones are known.
  if (doubtful) {
    trust_.doubt();
    ask_for_lost_leases();
  }
  if ((flags & kRecallsUnanswered) == 0) trust_.answered(channel, sent_ns);
}

void SessionClient::ask_for_lost_leases() {
  if (asks_for_lost_.exchange(true)) return;
  timed_.add(Deadline::Clock::now(), [this] {
    const std::uint64_t doubt = trust_.newest_doubt();
    Batch batch;
    batch.add<operations::lost_leases>({});
    CallOptions options;
    if (key_.kind == KeyKind::kHost) options.as = Identity{};
    // The numbers are taken where the reply is noted, so that no caller's patience loses them.
    start(batch, options, {}, [this, doubt](const Result<Replies>& replies) {
      asks_for_lost_ = false;
      if (stopping()) return;
      const WireStatus status = replies ? replies->status(0) : WireStatus::io;
      const bool known = status == WireStatus::ok || status == WireStatus::not_supported;
      if (known && trust_.settle(doubt)) return;
      timed_.add(Deadline::Clock::now() + (known ? std::chrono::milliseconds(0) : kAskAgain),
                 [this] { ask_for_lost_leases(); });
    });
  });
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
  } else if (operation.code == operations::lease::kCode) {
    LeaseArgs asked;
    if (read_record(operation, asked)) leases.push_back(asked.lease);
  }
}

// Before the caller hears of it: what it holds from now on is to be known when the connection breaks.
SessionClient::Gained SessionClient::note(const Frame& frame, const MessageView& reply) {
  Gained gained;
  const MessageView sent = frame.view();
  std::span<const std::byte> asked = sent.operations, answers = reply.operations;
  std::vector<U64> files;
  std::vector<UnstableWrites::Write> written_here;  // and not committed in the same message
  while (!asked.empty() && !answers.empty()) {
    const auto operation = next_record(asked);
    const auto answer = next_record(answers);
    if (!operation || !answer) break;
    const bool gone = operation->code == operations::close::kCode && WireStatus{answer->code} == WireStatus::bad_open;
    if (WireStatus{answer->code} == WireStatus::lease_lost) lose_lease_of(*operation, leases_);
    if (WireStatus{answer->code} != WireStatus::ok && !gone) break;
    U64 file = 0;
    (void)file_of_reply(operation->code, *answer, file);
    files.push_back(file);
    const U64 meant = file_meant(*operation, files);
    held_.note(operation->code, *operation, operation->code == operations::open::kCode ? file : meant, sent.call);
    gained.note(*operation, meant);
    note_leases(*operation, *answer, meant, sent.call);
    if (operation->code == operations::commit::kCode) {
      CommitReply done;
      if (!read_record(*answer, done)) continue;
      std::erase_if(written_here, [&](const UnstableWrites::Write& write) {
        return write.file == done.attr.id && write.verifier == done.verifier;
      });
    }
    if (auto write = unstable_write(*operation, *answer, sent.payload)) {
      write->call.assign(sent.call.begin(), sent.call.end());
      write->payload = frame.payload;
      written_here.push_back(std::move(*write));
    }
  }
  for (UnstableWrites::Write& write : written_here) unstable_.add(std::move(write));
  return gained;
}

void SessionClient::note_leases(const RecordView& operation, const RecordView& answer, U64 file,
                                std::span<const std::byte> call) {
  if (operation.code == operations::lease::kCode) {
    LeaseArgs asked;
    LeaseReply given;
    if (read_record(operation, asked) && read_record(answer, given))
      leases_.granted(asked, file, given.lease_bits, call);
  } else if (operation.code == operations::acknowledge::kCode) {
    AcknowledgeArgs asked;
    if (read_record(operation, asked)) leases_.acknowledged(asked.lease, asked.lease_bits);
  } else if (operation.code == operations::lost_leases::kCode) {
    LostLeasesReply lost;
    if (!read_record(answer, lost)) return;
    std::span<const std::byte> records = std::as_bytes(std::span(lost.leases.data(), lost.leases.size()));
    while (const auto record = next_record(records)) {
      LostLease one;
      if (read_record(*record, one)) leases_.lose(one.lease);
    }
  }
}

void SessionClient::give_back(const Gained& gained, std::span<const std::byte> call) {
  std::vector<Batch> batches;
  for (const UnlockArgs& lock : gained.locks) batches.emplace_back().add<operations::unlock>(lock);
  for (const U64 lease : gained.leases) batches.emplace_back().add<operations::acknowledge>({.lease = lease});
  for (const U64 open : gained.opens) batches.emplace_back().add<operations::close>({open});
  for (const Batch& batch : batches) {
    const Deadline now(Deadline::Clock::now());
    const auto begun = begin(batch, Bytes(call.begin(), call.end()), Deadline(), {.deadline = now});
    if (!begun) {
      log_warning("native", "an open, a lock or a lease that nobody waits for is kept",
                  {{"error", describe(begun.error())}});
      continue;
    }
    calls_->give_up(*begun);
    send(**begun);
  }
}

}  // namespace stoa::native
