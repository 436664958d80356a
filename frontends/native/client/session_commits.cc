// Writes that are kept until a commit, and the order of writes that nobody waits for any more.
#include <set>

#include "frontends/native/client/call_wishes.h"
#include "frontends/native/client/overtaking.h"
#include "frontends/native/client/session_client.h"

namespace stoa::native {

Status SessionClient::commit_kept(const std::function<bool(U64 file)>& wanted, const CallOptions& options) {
  for (const auto& [file, block] : unstable_.files()) {
    if (!wanted(file)) continue;
    Batch batch;
    batch.add<operations::commit>({.file = File{file}});
    const U64 newest = unstable_.newest();
    STOA_TRY(replies, run_once(batch, block, options, deadline_of(options)));
    STOA_CHECK_OK(write_once_more(not_committed(batch, replies, newest), options));
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

Status SessionClient::await_abandoned(const Batch& batch, const CallOptions& options) {
  if (!calls_->has_abandoned_writes()) return {};
  std::vector<U64> files = Frame::written_by(batch);
  for (const Overtaking& one : changes_of(batch)) {
    if (one.open == 0) files.push_back(one.file);
  }
  if (files.empty()) return {};
  return out_of_time(calls_->wait_for_abandoned_writes(files, {deadline_of(options), options.interrupted}));
}

// What a commit of this batch has not kept, because the server has started anew in between.
std::vector<UnstableWrites::Write> SessionClient::not_committed(const Batch& batch, const Replies& replies,
                                                                U64 newest) {
  std::vector<UnstableWrites::Write> all;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (batch.code(i) != operations::commit::kCode || replies.status(i) != WireStatus::ok) continue;
    const CommitReply reply = replies.read<operations::commit>(i);
    for (UnstableWrites::Write& write : unstable_.committed(reply.attr.id, newest, reply.verifier))
      all.push_back(std::move(write));
  }
  return all;
}

Status SessionClient::write_once_more(const std::vector<UnstableWrites::Write>& writes, const CallOptions& options) {
  for (std::size_t n = 0; n < writes.size(); ++n) {
    const UnstableWrites::Write& write = writes[n];
    // What was written under a lease that is gone may lie over newer bytes of others.
    if (write.lease != 0 && !leases_.held(write.lease)) {
      unstable_.lose(write.file);
      continue;
    }
    Batch again;
    again.add_write(
        {.file = File{write.file}, .open = write.open, .offset = write.offset, .stable = 1, .lease = write.lease},
        write.data);
    ++rewritten_;
    const auto written = call_with_kept(again, options);
    if (!written) {
      unstable_.add_back(std::span(writes).subspan(n));
      return fail(written.error());
    }
    if (const auto done = written->get<operations::write>(0); !done) {
      unstable_.lose(write.file);
      unstable_.add_back(std::span(writes).subspan(n + 1));
      return fail(done.error());
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

}  // namespace stoa::native
