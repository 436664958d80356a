// What a client does when the server has a new session for it: it asks back what it held, and writes again what may be
// lost.
#include "base/log.h"
#include "frontends/native/client/call_wishes.h"
#include "frontends/native/client/session_client.h"

namespace stoa::native {
namespace {

constexpr std::chrono::milliseconds kPatience{30'000};
constexpr std::chrono::milliseconds kStopLook{250};  // a client that ends waits no longer for a silent server

template <class Operation>
Bytes record_of(const typename Operation::Arguments& arguments) {
  Bytes record;
  append_record(record, Operation::kCode, arguments);
  return record;
}

}  // namespace

Status SessionClient::recover(ClientConnection& connection, const Welcome& welcome) {
  if (recovered_ != welcome.session) {
    STOA_CHECK_OK(reclaim_opens(connection, welcome));
    STOA_CHECK_OK(reclaim_locks(connection, welcome));
    STOA_CHECK_OK(reclaim_leases(connection, welcome));
    // Before grace ends: an append by anybody else would else take the place of one that is written again.
    STOA_CHECK_OK(write_again(connection, welcome));
    const Bytes done = record_of<operations::reclaim_done>({});
    STOA_TRY(told, recover_one(connection, welcome.session, {}, done, {}));
    recovered_ = welcome.session;
  }
  return write_again(connection, welcome);
}

Result<WireStatus> SessionClient::recover_one(ClientConnection& connection, U64 session,
                                              std::span<const std::byte> call, std::span<const std::byte> record,
                                              std::span<const std::byte> payload, Bytes* answer_record) {
  // A host's calls say for whom they are; this one is for nobody in particular.
  Bytes block(call.begin(), call.end());
  if (block.empty() && key_.kind == KeyKind::kHost) append_record(block, 0, CallBlock{.uid = 65534, .gid = 65534});
  std::chrono::milliseconds wait{5};
  ++recovery_sequence_;
  for (;;) {
    const Bytes frame = encode_message({.version = kVersion,
                                        .kind = static_cast<U16>(MessageKind::kCall),
                                        .session = session,
                                        .slot = calls_->count(),
                                        .sequence = recovery_sequence_,
                                        .operation_count = 1},
                                       block, record, payload);
    MessageView view;
    const auto body = answer_to(connection, frame, view);
    if (!body) {
      --recovery_sequence_;  // whether the server has counted it, the next one will find out
      return fail(body.error());
    }
    const WireStatus of_message{view.header.status};
    if (of_message == WireStatus::false_retry) {
      ++recovery_sequence_;
      STOA_CHECK_OK(pause(wait, {}, {}));
      continue;
    }
    if (is_later(of_message)) {
      STOA_CHECK_OK(pause(wait, {}, {}));
      continue;
    }
    if (!is_counted(of_message)) --recovery_sequence_;
    // The server refuses the client, not this operation: what it holds is not lost by that.
    if (of_message != WireStatus::ok && of_message != WireStatus::malformed)
      return fail(Errc::kIo, "the server refuses the client: " + std::string(to_string(of_message)));
    if (of_message == WireStatus::malformed) return of_message;
    std::span<const std::byte> answers = view.operations;
    const auto answer = next_record(answers);
    // Another client has to give a lease back, as others do to this one: asked again until it has.
    if (answer && WireStatus{answer->code} == WireStatus::recall_pending) {
      ++recovery_sequence_;
      STOA_CHECK_OK(pause(wait, {}, {}));
      continue;
    }
    if (answer && answer_record != nullptr) answer_record->assign(view.operations.begin(), view.operations.end());
    return answer ? WireStatus{answer->code} : WireStatus::malformed;
  }
}

Result<std::shared_ptr<const Content>> SessionClient::answer_to(ClientConnection& connection, const Bytes& frame,
                                                                MessageView& view) {
  STOA_CHECK_OK(connection.send(frame));
  const Deadline until(Deadline::Clock::now() + kPatience);
  for (;;) {
    auto received = connection.receive(kStopLook);
    if (stopping()) return fail(Errc::kShutdown);
    if (!received && (received.error().code != Errc::kTimeout || Deadline::Clock::now() >= until.at()))
      return fail(received.error());
    if (!received) continue;
    std::shared_ptr<const Content> body = std::move(*received);
    if (cut_message(*body, view) != Cut::kWhole) return fail(Errc::kCorrupt);
    if (view.header.kind == static_cast<U16>(MessageKind::kReply)) return body;
    // The server may recall what was asked back a moment ago.
    if (view.header.kind != static_cast<U16>(MessageKind::kRecall)) return fail(Errc::kCorrupt);
    take_recalls(view);
    if (Deadline::Clock::now() >= until.at()) return fail(Errc::kTimeout);
  }
}

Status SessionClient::reclaim_opens(ClientConnection& connection, const Welcome& welcome) {
  for (const HeldState::Open& open : held_.opens()) {
    OpenArgs wanted{.file = File{open.file}, .open = open.number, .access = open.access, .deny = open.deny};
    wanted.reclaim = welcome.may_reclaim;
    STOA_TRY(first, recover_one(connection, welcome.session, open.call, record_of<operations::open>(wanted), {}));
    WireStatus status = first;
    // The server was there all the time, and has ended the session: the file may yet be open to others only.
    if (status == WireStatus::no_grace) {
      wanted.reclaim = 0;
      STOA_TRY(plain, recover_one(connection, welcome.session, open.call, record_of<operations::open>(wanted), {}));
      status = plain;
    }
    if (status == WireStatus::ok) {
      ++reclaimed_;
      continue;
    }
    held_.lose_open(open.number);
    log_warning("native", "an open file was lost", {{"file", open.file}, {"status", std::string(to_string(status))}});
  }
  return {};
}

Status SessionClient::reclaim_locks(ClientConnection& connection, const Welcome& welcome) {
  for (const HeldState::Lock& lock : held_.locks()) {
    const U64 length = lock.end == ~U64{0} ? kLockToEnd : lock.end - lock.offset + 1;
    const LockArgs wanted{.file = File{lock.file},
                          .owner = lock.owner,
                          .offset = lock.offset,
                          .length = length,
                          .exclusive = lock.exclusive,
                          .reclaim = 1};
    WireStatus status = WireStatus::no_grace;
    // Only a reclaim tells that nobody had the lock in between.
    if (welcome.may_reclaim != 0) {
      STOA_TRY(asked, recover_one(connection, welcome.session, lock.call, record_of<operations::lock>(wanted), {}));
      status = asked;
    }
    if (status == WireStatus::ok) {
      ++reclaimed_;
      continue;
    }
    held_.lose_file(lock.file);
    log_warning("native", "a lock was lost, and the opens of its file with it",
                {{"file", lock.file}, {"status", std::string(to_string(status))}});
  }
  return {};
}

Status SessionClient::reclaim_leases(ClientConnection& connection, const Welcome& welcome) {
  for (const ClientLeases::Held& lease : leases_.all()) {
    U32 bits = 0;
    // Only a reclaim tells that nobody has changed anything in between.
    if (welcome.may_reclaim != 0) {
      const LeaseArgs wanted{
          .file = File{lease.file}, .lease = lease.number, .lease_bits = lease.bits, .kind = lease.kind, .reclaim = 1};
      Bytes answer;
      STOA_TRY(status,
               recover_one(connection, welcome.session, lease.call, record_of<operations::lease>(wanted), {}, &answer));
      LeaseReply given;
      std::span<const std::byte> records = answer;
      const auto record = next_record(records);
      if (status == WireStatus::ok && record && read_record(*record, given)) bits = given.lease_bits;
    }
    if ((bits & lease.bits) == lease.bits) {
      ++reclaimed_;
      continue;
    }
    if (bits != 0) {
      const AcknowledgeArgs none{.lease = lease.number};
      STOA_TRY(given_back,
               recover_one(connection, welcome.session, lease.call, record_of<operations::acknowledge>(none), {}));
    }
    leases_.lose(lease.number);
  }
  return {};
}

Status SessionClient::write_again(ClientConnection& connection, const Welcome& welcome) {
  const std::vector<UnstableWrites::Write> writes = unstable_.take_all_but(welcome.boot_verifier);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const UnstableWrites::Write& write = writes[i];
    // What was written under a lease that is gone may lie over newer bytes of others.
    if (write.lease != 0 && !leases_.held(write.lease)) {
      unstable_.lose(write.file);
      log_error("native", "a write was lost with its lease", {{"file", write.file}});
      continue;
    }
    const U64 through = held_.lost(write.open) ? 0 : write.open;
    const WriteArgs wanted{.file = File{write.file},
                           .open = through,
                           .offset = write.offset,
                           .data_bytes = static_cast<U32>(write.data.size()),
                           .stable = 1,
                           .lease = write.lease};
    WireStatus status = WireStatus::grace;
    std::chrono::milliseconds wait{5};
    while (status == WireStatus::grace) {
      const auto asked =
          recover_one(connection, welcome.session, write.call, record_of<operations::write>(wanted), write.data);
      if (!asked) {
        unstable_.add_back(std::span(writes).subspan(i));
        return fail(asked.error());
      }
      status = *asked;
      if (status != WireStatus::grace) break;
      if (const Status paused = pause(wait, {}, {}); !paused) {
        unstable_.add_back(std::span(writes).subspan(i));
        return paused;
      }
    }
    ++rewritten_;
    if (status == WireStatus::ok || status == WireStatus::stale) continue;
    unstable_.lose(write.file);
    log_error("native", "a write was lost", {{"file", write.file}, {"status", std::string(to_string(status))}});
  }
  return {};
}

}  // namespace stoa::native
