// What a client does when the server has a new session for it: it asks back what it held, and writes again what may be
// lost.
#include "base/log.h"
#include "frontends/native/client/session_client.h"

namespace stoa::native {
namespace {

constexpr std::chrono::milliseconds kPatience{30'000};

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
                                              std::span<const std::byte> payload) {
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
    const Status sent = connection.send(frame);
    const Result<std::shared_ptr<const Bytes>> body =
        sent ? connection.receive(kPatience) : Result<std::shared_ptr<const Bytes>>(fail(sent.error()));
    MessageView view;
    if (!body || cut_message(**body, view) != Cut::kWhole) {
      --recovery_sequence_;  // whether the server has counted it, the next one will find out
      return fail(body ? Error{Errc::kCorrupt} : body.error());
    }
    WireStatus status{view.header.status};
    if (status == WireStatus::false_retry) {
      ++recovery_sequence_;
      continue;
    }
    if (status == WireStatus::busy || status == WireStatus::in_progress) {
      STOA_CHECK_OK(pause(wait, {}, {}));
      continue;
    }
    std::span<const std::byte> answers = view.operations;
    const auto answer = next_record(answers);
    if (status == WireStatus::ok) status = answer ? WireStatus{answer->code} : WireStatus::malformed;
    return status;
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

Status SessionClient::write_again(ClientConnection& connection, const Welcome& welcome) {
  const std::vector<UnstableWrites::Write> writes = unstable_.take_all_but(welcome.boot_verifier);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const UnstableWrites::Write& write = writes[i];
    const U64 through = held_.lost(write.open) ? 0 : write.open;
    const WriteArgs wanted{.file = File{write.file},
                           .open = through,
                           .offset = write.offset,
                           .data_bytes = static_cast<U32>(write.data.size()),
                           .stable = 1};
    WireStatus status = WireStatus::recall_pending;
    std::chrono::milliseconds wait{5};
    while (status == WireStatus::recall_pending || status == WireStatus::grace) {
      const auto asked =
          recover_one(connection, welcome.session, write.call, record_of<operations::write>(wanted), write.data);
      if (!asked) {
        unstable_.add_back(std::span(writes).subspan(i));
        return fail(asked.error());
      }
      status = *asked;
      if (status == WireStatus::recall_pending) STOA_CHECK_OK(pause(wait, {}, {}));
    }
    ++rewritten_;
    if (status == WireStatus::ok || status == WireStatus::stale) continue;
    unstable_.lose(write.file);
    log_error("native", "a write was lost", {{"file", write.file}, {"status", std::string(to_string(status))}});
  }
  return {};
}

}  // namespace stoa::native
