#include "frontends/nfs/rpc/worker.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/crc32c.h"
#include "base/log.h"
#include "frontends/nfs/rpc/record_mark.h"

namespace stoa::rpc {
namespace {

constexpr std::size_t kSendEarly = std::size_t{256} << 10;  // replies gathered beyond this leave at once
constexpr std::size_t kKeepReplies = std::size_t{512} << 10;
constexpr int kRoundsMax = 32;  // receives from one connection before others get a turn
// A call that took longer than this has blocked, or its thread was pre-empted. When it happens again soon, the next
// kSlowCalls calls of its weight on this connection go to other workers; then one is tried in place again.
constexpr std::chrono::microseconds kSlow{300};
constexpr std::uint32_t kSlowCalls = 64;
constexpr std::uint32_t kStrike = 8;
// A client that sends one call and waits for its reply: after so many calls in a row, its connection stays with the
// worker, which looks for the next call itself for a while. To be woken would cost each call some 35 us more.
constexpr std::uint32_t kLoneCalls = 16;
constexpr std::chrono::microseconds kLookout{100};
// So long a call waits for its flows. Clients send again, or give up, after 60 s; and when all slots of a session wait,
// its lease, which they renew after 60 s of 90, is not renewed meanwhile.
constexpr std::chrono::nanoseconds kParkedMax = std::chrono::seconds(20);

std::atomic<std::uint64_t> g_worker_number{0};

void finish_frame(ReplyBuffer& out, std::size_t begin, std::size_t more = 0) {
  XdrWriter(out).patch_u32(begin, kLastFragment | static_cast<std::uint32_t>(out.size() - begin - 4 + more));
}

}  // namespace

Worker::Worker(ServerState& state)
    : state_(state),
      runner_(state.service.programs.make_runner()),
      scratch_(new std::byte[Receiver::kScratchBytes]),
      next_request_id_(g_worker_number.fetch_add(1) << 48) {}

void Worker::run() {
  pthread_setname_np(pthread_self(), "nfs-worker");
  // sendfile(2) to a socket that the peer has closed raises SIGPIPE, and has no flag against it.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);

  while (!state_.stopping.load(std::memory_order_relaxed)) {
    Task task;
    if (state_.tasks.pop(task)) {
      state_.busy.fetch_add(1);
      const bool makes_context = task.makes_context();
      run_task(task);
      task = {};
      if (makes_context) {
        state_.tasks.context_done();
      } else {
        state_.tasks.done();
      }
      state_.busy.fetch_sub(1);
      continue;
    }
    if (!state_.tasks.begin_idle()) continue;
    epoll_event event{};
    const int n = epoll_wait(state_.epoll, &event, 1, -1);
    state_.busy.fetch_add(n > 0 ? 1 : 0);
    state_.tasks.end_idle();
    if (n <= 0) continue;
    handle_event(event.data.u64, event.events);
    state_.busy.fetch_sub(1);
  }
}

void Worker::handle_event(std::uint64_t key, std::uint32_t events) {
  if (key == ServerState::kWakeKey) {
    std::uint64_t one = 0;
    if (state_.stopping.load()) return;  // Leaves the count for the others.
    [[maybe_unused]] const ssize_t n = read(state_.wake_fd, &one, sizeof one);
    return;
  }
  if (key >= ServerState::kListenerKey) return state_.accept_from(key - ServerState::kListenerKey);

  const std::shared_ptr<Connection> connection = state_.find(key);
  if (!connection) return;
  const Connection::Ready ready = connection->take_events(events);
  if (ready.out) {
    if (!connection->flush()) return state_.close(*connection);
    pump(connection);
  }
  if (ready.in) handle_input(connection);
}

// --- one receive
// ---------------------------------------------------------------------------------------------------------

void Worker::handle_input(const std::shared_ptr<Connection>& connection) {
  Connection& c = *connection;
  const std::span<std::byte> scratch(scratch_.get(), Receiver::kScratchBytes);
  bool waited = true;  // since the last reply there was nothing to read
  for (int round = 0; round < kRoundsMax; ++round) {
    if (state_.draining.load(std::memory_order_relaxed)) return;  // Reads no more; keeps the receive side for ever.
    records_.clear();
    using Outcome = Receiver::Outcome;
    const Outcome outcome = c.receiver().receive(c.fd(), scratch, records_);
    if (outcome == Outcome::kOversized) {
      state_.metrics.closed_oversized.add();
      return state_.close(c);
    }
    now_ = Clock::now();
    const std::int64_t now_ns = now_.time_since_epoch().count();
    if (!records_.empty()) c.last_input_ns.store(now_ns, std::memory_order_relaxed);
    if (!c.receiver().partial() || outcome == Outcome::kNoMemory) {
      c.partial_since_ns.store(0, std::memory_order_relaxed);
    } else if (!records_.empty() || c.partial_since_ns.load(std::memory_order_relaxed) == 0) {
      c.partial_since_ns.store(now_ns, std::memory_order_relaxed);
    }
    c.holds_memory.store(c.receiver().holds_memory(), std::memory_order_relaxed);
    if (outcome == Outcome::kClosed) c.end_of_input.store(true);

    bool holds = true;
    const bool had_records = !records_.empty();
    if (had_records) {
      const bool lone = waited && records_.size() == 1 && c.in_flight.load(std::memory_order_relaxed) == 0;
      c.lone_calls = lone ? c.lone_calls + 1 : 0;
      waited = false;
      const bool may_release = c.lone_calls < kLoneCalls && (outcome == Outcome::kDry || outcome == Outcome::kMore);
      holds = run_batch(connection, true, may_release);
      records_.clear();
    }
    if (outcome == Outcome::kClosed) {
      // The peer has most likely gone: nothing waits for it any more, and one that still listens is told to ask again.
      if (state_.service.scheduler != nullptr) state_.service.scheduler->refuse(&c);
      return state_.close_if_finished(c);
    }
    if (c.closed.load(std::memory_order_relaxed) || !holds) return;
    if (outcome == Outcome::kNoMemory) return state_.wait_for_memory(connection);
    // After a batch, a busy client has often sent more already: looking costs less than a turn through epoll.
    if (outcome == Outcome::kDry && !had_records) {
      if (c.lone_calls < kLoneCalls || !look_out_for(c)) break;
      waited = true;
      round = 0;
    }
  }
  if (!c.release_receive_side()) {
    state_.metrics.held_back.add();
    pump(connection);
  }
}

// Whether the client's next call came before long. One worker at a time does this, so that it costs one processor at
// most.
bool Worker::look_out_for(Connection& connection) {
  if (state_.looking_out.exchange(true)) return false;
  const Clock::time_point until = Clock::now() + kLookout;
  char byte = 0;
  ssize_t n = -1;
  while (n < 0 && Clock::now() < until) {
    n = recv(connection.fd(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) break;
  }
  state_.looking_out.store(false);
  if (n < 0) connection.lone_calls = 0;  // it has something else to do
  return n >= 0;
}

bool Worker::run_batch(const std::shared_ptr<Connection>& connection, bool holds, bool may_release) {
  Connection& c = *connection;
  runner_->refresh();
  c.in_flight.fetch_add(1);  // Keeps the connection open until the replies have left, also when the peer has finished.
  ready_.clear(kKeepReplies);
  deferred_.clear(kKeepReplies);
  waiting_.clear();
  pending_.clear();
  const auto release_early = [&] {
    if (!holds || !may_release) return;
    holds = false;
    // This batch counts as one in flight; it must not hold back its own connection.
    if (!c.release_receive_side()) state_.metrics.held_back.add();
  };

  if (!decode_batch(c)) {
    state_.metrics.closed_protocol_error.add();
    c.in_flight.fetch_sub(1);
    state_.close(c);
    return false;
  }
  choose_elsewhere(c);
  const Item* alone = nullptr;  // a heavy call that this worker runs itself, last
  bool changes = false;
  for (const Item& item : items_)
    changes |= !item.elsewhere && (item.weight == Weight::kChange || item.weight == Weight::kSync);
  if (!changes && !c.backlog_high() && !c.has_parked()) {
    for (const Item& item : items_) alone = item.elsewhere && !item.makes_context() ? &item : alone;
    if (alone != nullptr && !state_.tasks.claim()) alone = nullptr;
  }
  for (const Item& item : items_) {
    if (!item.elsewhere || &item == alone) continue;
    item.record->own();
    item.record->makes_context = item.makes_context();
    hand_over(connection, std::move(*item.record));
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!items_[i].elsewhere) run_in_place(c, i);
  }
  if (waiting_.empty() || pending_.empty()) {
    // Nothing to wait for: all replies leave together.
    if (!waiting_.empty()) {
      settle_deferred();
      ready_.append(deferred_.bytes());
    }
    if (alone != nullptr) release_early();
    send_ready(c);
  } else {
    release_early();
    send_ready(c);
    settle_deferred();
    if (!c.send(deferred_.bytes())) state_.close(c);
  }
  if (alone != nullptr) {
    run_alone(c, *alone);
    state_.tasks.done();
  }
  c.in_flight.fetch_sub(1);
  if (!holds) pump(connection);
  return holds;
}

void Worker::charge(Connection& connection, const Item& item, Charge& charge) {
  runner_->charge(item.program_index, {item.header, connection.peer(), 0, now_, nullptr}, charge);
  for (const qos::Flow* flow : charge.path) flow->prefetch(charge.price.kind());
}

void Worker::admit_batch(Connection& connection) {
  const std::int64_t now = state_.service.scheduler->now();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const qos::Verdict verdict = admit(connection, items_[i], charges_[i], now);
    if (verdict == qos::Verdict::kBusy) append_busy(items_[i]);
    if (verdict != qos::Verdict::kGranted) continue;
    if (kept != i) items_[kept] = items_[i];
    ++kept;
  }
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(kept), items_.end());
}

qos::Verdict Worker::admit(Connection& connection, const Item& item, const Charge& charge, std::int64_t now) {
  using qos::Verdict;
  if (charge.path.empty() || charge.price.free()) return Verdict::kGranted;
  qos::Scheduler& scheduler = *state_.service.scheduler;
  if (scheduler.admit(charge.path, charge.price, now)) return Verdict::kGranted;

  // It counts among the calls in flight of its connection, which bounds what one client parks, and not among those of
  // all.
  connection.in_flight.fetch_add(1);
  item.record->own();
  const auto task = std::make_shared<Task>(Task{connection.shared_from_this(), false, std::move(*item.record)});
  const Verdict verdict = scheduler.park(charge.path, charge.price,
                                         {.deadline = qos::steady_ns() + kParkedMax.count(),
                                          .owner = &connection,
                                          .resume = [&state = state_, task](bool granted) {
                                            task->record.admission =
                                                granted ? Record::Admission::kGranted : Record::Admission::kRefused;
                                            state.in_flight.fetch_add(1);
                                            state.tasks.push(std::move(*task));
                                          }});
  if (verdict == Verdict::kParked) {
    state_.metrics.parked.add();
    // Closed meanwhile: whoever closed it may have come too early to find the call.
    if (connection.closed.load()) scheduler.cancel(&connection);
    return verdict;
  }
  connection.in_flight.fetch_sub(1);
  *item.record = std::move(task->record);
  return verdict;
}

void Worker::append_busy(const Item& item) {
  const std::size_t begin = ready_.size();
  XdrWriter writer(ready_);
  writer.u32(0);
  encode_accepted(writer, item.header.xid, AcceptStatus::kSuccess);
  item.program->encode_busy(item.header, writer);
  finish_frame(ready_, begin);
  seal(item, ready_, begin);
  item.metrics->requests.add();
  item.metrics->errors.add();
}

bool Worker::decode_batch(Connection& connection) {
  items_.clear();
  const bool governed = state_.service.scheduler != nullptr && runner_->governs();
  for (Record& record : records_) {
    if (connection.take_reply(record.bytes)) continue;
    Item item{};
    switch (classify(connection, record, item, ready_)) {
      case Classified::kRun: {
        const Record::Admission asked = std::exchange(record.admission, Record::Admission::kNotParked);
        if (asked == Record::Admission::kRefused) {
          append_busy(item);
          break;
        }
        if (governed) {
          if (charges_.size() == items_.size()) charges_.emplace_back();
          Charge& due = charges_[items_.size()];
          due.path.clear();
          due.price = {};
          if (asked == Record::Admission::kNotParked && !item.makes_context() && !item.ends_context())
            charge(connection, item, due);
        }
        items_.push_back(item);
        break;
      }
      case Classified::kAnswered:
      case Classified::kDropped:
        break;
      case Classified::kBroken:
        return false;
    }
  }
  if (governed) admit_batch(connection);
  return true;
}

void Worker::tell_refused(const Connection& connection, std::string_view request, std::string_view reason) const {
  if (state_.service.tell_refused) state_.service.tell_refused(connection.peer(), request, reason);
}

Worker::Classified Worker::classify(const Connection& connection, Record& record, Item& item, ReplyBuffer& out) {
  CallHeader& header = item.header;
  if (!decode_call(record.bytes, header)) return Classified::kBroken;
  item.record = &record;

  const auto answer = [&](auto encode) {
    state_.metrics.rejected_calls.add();
    const std::size_t begin = out.size();
    XdrWriter writer(out);
    writer.u32(0);
    encode(writer);
    finish_frame(out, begin);
    seal(item, out, begin);
    return Classified::kAnswered;
  };
  if (header.rpc_version != kRpcVersion) {
    return answer([&](XdrWriter& w) { encode_rpc_mismatch(w, header.xid); });
  }
  if (header.auth == AuthStatus::kOk && header.gss && !state_.gss) header.auth = AuthStatus::kBadCredential;
  // A call that another worker hands over was judged by that one.
  if (header.auth == AuthStatus::kOk && header.gss && !item.makes_context() && record.gss == nullptr) {
    switch (state_.gss->judge(header, now_, record.gss)) {
      case GssServer::Verdict::kBelieved:
      case GssServer::Verdict::kDenied:
        break;
      case GssServer::Verdict::kGarbage:
        tell_refused(connection, "RPCSEC_GSS call", "its arguments are not what was signed");
        return answer([&](XdrWriter& w) { encode_accepted(w, header.xid, AcceptStatus::kGarbageArguments); });
      case GssServer::Verdict::kDrop:
        return Classified::kDropped;
    }
  }
  if (header.auth != AuthStatus::kOk) {
    // A context that has come to its end is no denial.
    if (header.auth != AuthStatus::kGssContextProblem) {
      const bool gss = header.auth == AuthStatus::kGssCredentialProblem;
      tell_refused(connection, gss ? "RPCSEC_GSS call" : "RPC call",
                   gss ? "its context is not known, or its verifier is wrong"
                       : "its credential or verifier is not one that this server takes");
    }
    return answer([&](XdrWriter& w) { encode_auth_error(w, header.xid, header.auth); });
  }
  if (record.gss != nullptr) GssServer::show(*record.gss, header);
  const std::vector<Program*>& programs = state_.service.programs.list;
  // A program may be there in several versions, each with an entry of its own.
  std::uint32_t low = ~std::uint32_t{0}, high = 0;
  std::size_t index = 0;
  for (; index < programs.size(); ++index) {
    const Program& candidate = *programs[index];
    if (candidate.number() != header.program) continue;
    if (header.version >= candidate.version_low() && header.version <= candidate.version_high()) break;
    low = std::min(low, candidate.version_low());
    high = std::max(high, candidate.version_high());
  }
  if (index == programs.size()) {
    return answer([&](XdrWriter& w) {
      if (low <= high) {
        encode_program_mismatch(w, header.xid, low, high);
      } else {
        encode_accepted(w, header.xid, AcceptStatus::kProgramUnavailable);
      }
    });
  }
  Program& program = *programs[index];
  const auto procedures = program.procedures();
  if (header.procedure >= procedures.size() || procedures[header.procedure].name.empty()) {
    return answer([&](XdrWriter& w) { encode_accepted(w, header.xid, AcceptStatus::kProcedureUnavailable); });
  }
  item.program = &program;
  item.program_index = index;
  item.metrics = state_.metrics.of(index, header.procedure);
  if (item.makes_context() || item.ends_context()) {
    // To make a context takes long, and workers are kept free from what takes long.
    item.weight = item.makes_context() ? Weight::kHeavy : Weight::kMemory;
    item.idempotent = true;
  } else {
    item.weight = program.weigh(header);
    item.idempotent = program.idempotent(header);
  }
  return Classified::kRun;
}

bool Worker::seal(const Item& item, ReplyBuffer& out, std::size_t begin, std::size_t more) {
  return item.record->gss == nullptr || state_.gss->seal(*item.record->gss, out, begin, more);
}

CallKey Worker::key_of(const Connection& connection, const Item& item) const {
  const CallHeader& header = item.header;
  CallKey key{connection.peer().address, header.xid, header.program, header.procedure, 0, 0};
  if (item.record->gss == nullptr) {
    key.size = static_cast<std::uint32_t>(item.record->bytes.size());
    key.checksum = crc32c(item.record->bytes);
  } else {
    // Sent again, it has another sequence number and other wrapping (RFC 2203 5.3.3.1).
    const std::string_view who = header.credential.principal;
    key.size = static_cast<std::uint32_t>(header.arguments.size());
    key.checksum = crc32c(header.arguments) ^ crc32c(std::as_bytes(std::span(who.data(), who.size())));
  }
  return key;
}

void Worker::choose_elsewhere(Connection& connection) {
  for (Item& item : items_) {
    item.elsewhere = item.weight == Weight::kHeavy || ((item.weight == Weight::kData || item.weight == Weight::kSync) &&
                                                       connection.slow[static_cast<std::size_t>(item.weight)].take());
  }
}

// --- in place
// ------------------------------------------------------------------------------------------------------------

Outcome Worker::append_reply(Connection& connection, const Item& item, ReplyBuffer& out, core::RequestKey request,
                             core::PendingDurability* pending, Reply* reply) {
  const std::size_t begin = out.size();
  XdrWriter writer(out);
  writer.u32(0);  // the record mark, filled in below
  Reply plain{XdrWriter(out)};
  Reply& used = reply != nullptr ? *reply : plain;
  if (item.makes_context()) {
    const std::string refused = state_.gss->establish(item.header, connection.peer().address, now_, writer);
    if (!refused.empty()) tell_refused(connection, "RPCSEC_GSS token", refused);
    finish_frame(out, begin);
    item.metrics->requests.add();
    return {};
  }
  encode_accepted(writer, item.header.xid, AcceptStatus::kSuccess);
  if (item.ends_context()) {
    state_.gss->destroy(*item.record->gss);
    finish_frame(out, begin);
    item.metrics->requests.add();
    return {};
  }
  const Call call{
      item.header, connection.peer(), ++next_request_id_,       now_,
      pending,     &connection,       state_.service.scheduler, item.record->memory ? &item.record->memory : nullptr,
      request};
  const Outcome outcome = runner_->run(item.program_index, call, used);
  if (outcome.accept != AcceptStatus::kSuccess) {
    out.truncate(begin + 4);
    used.slices.clear();
    used.slice_bytes = 0;
    encode_accepted(writer, item.header.xid, outcome.accept);
    state_.metrics.rejected_calls.add();
  }
  const std::size_t tail = padded(used.slice_bytes);
  finish_frame(out, begin, tail);
  item.metrics->requests.add();
  if (outcome.failed || outcome.accept != AcceptStatus::kSuccess) item.metrics->errors.add();
  item.metrics->bytes_in.add(item.record->bytes.size());
  item.metrics->bytes_out.add(out.size() - begin + tail);
  return outcome;
}

void Worker::run_in_place(Connection& c, std::size_t index) {
  const Item& item = items_[index];
  if (ready_.size() > kSendEarly) send_ready(c);
  if (item.weight == Weight::kData && c.backlog_high()) {
    item.record->own();
    c.park(std::move(*item.record));
    return;
  }
  const Clock::time_point began = now_;
  const bool waits = item.weight == Weight::kChange || item.weight == Weight::kSync;
  ReplyBuffer& out = waits ? deferred_ : ready_;

  DuplicateCache::Begin known{DuplicateCache::Verdict::kUncached};
  core::RequestKey request;
  if (!item.idempotent) {
    const CallKey key = key_of(c, item);
    request = request_key(key);
    const std::size_t replay_at = ready_.size();
    known = state_.duplicates.begin(key, now_, [&](std::span<const std::byte> reply) { ready_.append(reply); });
    if (known.verdict == DuplicateCache::Verdict::kReplay) seal(item, ready_, replay_at);
    if (known.verdict == DuplicateCache::Verdict::kReplay || known.verdict == DuplicateCache::Verdict::kInProgress)
      return;
  }
  const std::size_t begin = out.size();
  const auto from = pending_.mark();
  const Outcome outcome = append_reply(c, item, out, request, waits ? &pending_ : nullptr, nullptr);
  now_ = Clock::now();
  const auto took = now_ - began;
  c.slow[static_cast<std::size_t>(item.weight)].note(took > kSlow, kStrike, kSlowCalls);
  if (waits) {
    waiting_.push_back({index, begin, out.size(), known.verdict == DuplicateCache::Verdict::kNew, known.ticket, began,
                        outcome.failed || outcome.accept != AcceptStatus::kSuccess, from, pending_.mark()});
  } else {
    seal(item, ready_, begin);
    item.metrics->seconds.observe_ns(static_cast<std::uint64_t>(took.count()));
  }
}

Status Worker::settle_one(const Deferred& deferred) {
  Status settled = state_.service.settle(pending_.between(deferred.from, deferred.to));
  if (!settled) log_error("nfs", "a change could not be made durable", {{"error", describe(settled.error())}});
  return settled;
}

// Makes durable what the deferred replies promise. Those whose changes are not then say so.
void Worker::settle_deferred() {
  const bool durable = pending_.empty() || state_.service.settle(pending_).has_value();
  now_ = Clock::now();
  // What may leave differs from what was written when something is not durable, or is to be wrapped.
  const bool rewrite = !durable || std::ranges::any_of(waiting_, [&](const Deferred& d) {
    return items_[d.item].record->gss != nullptr;
  });
  ReplyBuffer honest;
  for (Deferred& d : waiting_) {
    const Item& item = items_[d.item];
    const std::span<const std::byte> reply = deferred_.bytes().subspan(d.begin, d.end - d.begin);
    item.metrics->seconds.observe_ns(static_cast<std::uint64_t>((now_ - d.since).count()));
    const std::size_t honest_at = honest.size();
    const Status settled = durable || d.failed ? Status() : settle_one(d);
    if (settled) {
      if (d.remembered) state_.duplicates.finish(d.duplicate, reply, now_);
      if (!rewrite) continue;
      honest.append(reply);
      seal(item, honest, honest_at);
      continue;
    }
    if (d.remembered) state_.duplicates.forget(d.duplicate);
    item.metrics->errors.add();
    XdrWriter writer(honest);
    writer.u32(0);
    encode_accepted(writer, item.header.xid, AcceptStatus::kSuccess);
    item.program->encode_not_durable(item.header, settled.error().code, writer);
    finish_frame(honest, honest_at);
    seal(item, honest, honest_at);
  }
  if (rewrite) deferred_ = std::move(honest);
}

void Worker::send_ready(Connection& c) {
  if (ready_.empty()) return;
  if (!c.send(ready_.bytes())) state_.close(c);
  ready_.clear(kKeepReplies);
}

// --- elsewhere
// -------------------------------------------------------------------------------------------------------------

void Worker::hand_over(const std::shared_ptr<Connection>& connection, Record record) {
  Connection& c = *connection;
  const std::uint32_t mine = c.in_flight.load(std::memory_order_relaxed);
  const bool all_full = state_.in_flight.load(std::memory_order_relaxed) >= state_.options.limits.in_flight_max;
  if (c.in_flight_full() || c.backlog_high() || c.has_parked() || (all_full && mine > 1))
    return c.park(std::move(record));
  c.in_flight.fetch_add(1);
  state_.in_flight.fetch_add(1);
  state_.metrics.handed_over.add();
  state_.tasks.push(Task{connection, false, std::move(record)});
}

void Worker::run_task(Task& task) {
  Connection& c = *task.connection;
  now_ = Clock::now();
  if (task.receive) {
    if (!c.closed.load()) handle_input(task.connection);
    return;
  }
  if (task.record.admission != Record::Admission::kNotParked) {
    // Any kind of call waits for its flows: it goes on as if it had just come.
    records_.clear();
    records_.push_back(std::move(task.record));
    if (!c.closed.load(std::memory_order_relaxed)) run_batch(task.connection, false, false);
    records_.clear();
  } else if (!c.closed.load(std::memory_order_relaxed)) {
    Item item{};
    runner_->refresh();
    ReplyBuffer nothing;
    if (classify(c, task.record, item, nothing) == Classified::kRun) run_alone(c, item);
  }
  c.in_flight.fetch_sub(1);
  state_.in_flight.fetch_sub(1);
  pump(task.connection);
}

void Worker::run_alone(Connection& c, const Item& item) {
  ready_.clear(kKeepReplies);
  const Clock::time_point began = now_;
  // What is wrapped must be at hand.
  const bool wrapped = item.record->gss != nullptr && item.record->gss->service != GssService::kNone;
  Reply reply{.out = XdrWriter(ready_), .takes_slices = !wrapped};
  append_reply(c, item, ready_, {}, nullptr, &reply);
  if (!seal(item, ready_, 0, padded(reply.slice_bytes))) {
    ready_.clear(kKeepReplies);
    return;
  }
  now_ = Clock::now();
  item.metrics->seconds.observe_ns(static_cast<std::uint64_t>((now_ - began).count()));
  const bool sent = reply.slice_bytes == 0 ? c.send(ready_.bytes())
                                           : c.send(ready_.bytes(), std::move(reply.slices), reply.slice_bytes);
  if (!sent) state_.close(c);
  ready_.clear(kKeepReplies);
}

// Lets calls go on that waited for room, then reading.
void Worker::pump(const std::shared_ptr<Connection>& connection) {
  Connection& c = *connection;
  if (c.closed.load(std::memory_order_relaxed)) return;
  Record record;
  while (c.take_parked(record)) {
    c.in_flight.fetch_add(1);
    state_.in_flight.fetch_add(1);
    state_.tasks.push(Task{connection, false, std::move(record)});
    record = {};
  }
  c.resume_if_held();
  state_.close_if_finished(c);
}

}  // namespace stoa::rpc
