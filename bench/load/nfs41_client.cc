#include "bench/load/nfs41_client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "bench/load/die.h"

namespace stoa::bench {
namespace {

constexpr int kPatienceMs = 60'000;  // a server that answers nothing for so long is taken for dead
constexpr std::uint32_t kBackChannel = 2;
constexpr std::uint32_t kCallbackProgram = 0x40000000;
constexpr std::uint32_t kReply = 1;
constexpr std::uint32_t kControlXid = 0xfffffc00;  // of calls without a session

}  // namespace

void Phase41::recalled(Client41&, const Stateid41&, std::string_view) {}

void Loop41::turn() {
  pollfd polled[512];
  RpcConnection* connections[512];
  Client41* owners[512];
  nfds_t count = 0;
  for (Client41* client : clients_) {
    for (const auto& connection : client->connections_) {
      if (count == std::size(polled)) die("too many connections");
      connection->flush();
      const short events = connection->unsent() ? POLLIN | POLLOUT : POLLIN;
      connections[count] = connection.get();
      owners[count] = client;
      polled[count++] = {.fd = connection->fd(), .events = events, .revents = 0};
    }
  }
  if (poll(polled, count, kPatienceMs) == 0) die("no answer from the server for a minute");
  for (nfds_t i = 0; i < count; ++i) {
    if ((polled[i].revents & ~POLLOUT) == 0) continue;
    connections[i]->receive([&](std::string_view record) { owners[i]->take(*connections[i], record); });
  }
}

Client41::Client41(Loop41& loop, const Target41& target, const std::string& name, unsigned connections,
                   unsigned inflight)
    : loop_(loop) {
  for (unsigned i = 0; i < connections; ++i)
    connections_.push_back(std::make_unique<RpcConnection>(target.host, target.port));
  loop.add(*this);
  exchange_id(name);
  create_session(connections * inflight);
  // Connections beside the first belong to the session from their first SEQUENCE on (RFC 8881 2.10.3.1).
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    Slot41& slot = slots_[i];
    slot.client = this;
    slot.connection = connections_[i % connections_.size()].get();
    slot.number = i;
    slot.xid = i;
    slot.owner = "slot " + std::to_string(i);
  }
  call([](Call41& call) { call.op(Op::kReclaimComplete).u32(0); },
       [](Results41& results) { results.expect(Op::kReclaimComplete); }, true);
  find_root(target.export_path);
}

void Client41::wait_for(std::uint32_t xid, std::function<void(Results41&)> read) {
  waited_xid_ = xid;
  waiting_ = std::move(read);
  while (waiting_ != nullptr) loop_.turn();
}

void Client41::exchange_id(const std::string& name) {
  const std::string owner = name + " " + std::to_string(getpid());
  Call41(*connections_[0], kControlXid).op(Op::kExchangeId).u64(now_ns()).opaque(owner).u32(0).u32(0).u32(0);
  wait_for(kControlXid, [this](Results41& results) {
    results.expect(Op::kExchangeId);
    id_ = results.in().u64();
    create_sequence_ = results.in().u32();
    if (!results.ok()) die(results.why());
  });
}

void Client41::create_session(unsigned slots) {
  if (slots > kSlotsMax41) die("more requests in flight than this program has slots for");
  {
    Call41 call(*connections_[0], kControlXid);
    call.op(Op::kCreateSession).u64(id_).u32(create_sequence_).u32(kBackChannel);
    call.u32(0).u32((1 << 20) + 4096).u32((1 << 20) + 4096).u32(4096).u32(16).u32(slots).u32(0);
    call.u32(0).u32(4096).u32(4096).u32(0).u32(2).u32(1).u32(0);
    call.u32(kCallbackProgram).u32(1).u32(0);  // AUTH_NONE
  }
  wait_for(kControlXid, [&](Results41& results) {
    XdrIn& in = results.expect(Op::kCreateSession).in();
    const std::string_view session = in.fixed(session_.size());
    std::ranges::copy(session, session_.begin());
    in.u32();  // sequence
    const std::uint32_t flags = in.u32();
    in.fixed(5 * 4);
    const std::uint32_t granted = in.u32();
    if (!results.ok()) die(results.why());
    if (granted < slots)
      die("the server gives " + std::to_string(granted) + " slots, and " + std::to_string(slots) + " are wanted");
    if ((flags & kBackChannel) == 0) die("the server takes no back channel");
  });
  slots_.resize(slots);
}

std::uint32_t Client41::call(const std::function<void(Call41&)>& ask, const std::function<void(Results41&)>& read,
                             bool cache) {
  Slot41& slot = slots_[0];
  {
    Call41 call(slot, cache);
    ask(call);
  }
  std::uint32_t status = 0;
  wait_for(slot.xid, [&](Results41& results) {
    if (!check_sequence(slot, results)) die(results.why());
    status = results.status().value();
    read(results);
    if (status == kNfs4Ok && !results.ok()) die(results.why());
  });
  return status;
}

void Client41::find_root(const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) names.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  const std::uint32_t status = call(
      [&](Call41& call) {
        call.putrootfh();
        for (const std::string& name : names) call.lookup(name);
        call.getfh();
      },
      [&](Results41& results) {
        results.expect(Op::kPutRootFh);
        for (std::size_t i = 0; i < names.size(); ++i) results.expect(Op::kLookup);
        results.getfh(root_);
      });
  if (status != kNfs4Ok) die("LOOKUP " + path + ": " + status_name(status));
}

std::uint32_t Client41::lookup(const Handle41& dir, std::string_view name, Handle41* found) {
  Handle41 unwanted;
  return call([&](Call41& call) { call.putfh(dir).lookup(name).getfh(); },
              [&](Results41& results) {
                results.expect(Op::kPutFh).expect(Op::kLookup).getfh(found != nullptr ? *found : unwanted);
              });
}

std::uint32_t Client41::make_directory(const Handle41& dir, std::string_view name, Handle41* made) {
  Handle41 unwanted;
  return call([&](Call41& call) { call.putfh(dir).create_directory(name).getfh(); },
              [&](Results41& results) {
                XdrIn& in = results.expect(Op::kPutFh).expect(Op::kCreate).in();
                in.fixed(4 + 8 + 8);  // change_info4
                for (std::uint32_t words = in.u32(); words > 0 && in.ok(); --words) in.u32();
                results.getfh(made != nullptr ? *made : unwanted);
              },
              true);
}

std::string Client41::end() {
  std::string wrong;
  const auto read = [&wrong](Op op) {
    return [&wrong, op](Results41& results) {
      results.expect(op);
      if (wrong.empty() && !results.ok()) wrong = results.why();
    };
  };
  Call41(*connections_[0], kControlXid).op(Op::kDestroySession).fixed(session_.data(), session_.size());
  wait_for(kControlXid, read(Op::kDestroySession));
  Call41(*connections_[0], kControlXid).op(Op::kDestroyClientId).u64(id_);
  wait_for(kControlXid, read(Op::kDestroyClientId));
  return wrong;
}

// --- phases

void Client41::run(Phase41& phase, unsigned inflight, std::uint64_t count, double seconds, Outcome& outcome) {
  const std::size_t slots = std::min(slots_.size(), connections_.size() * inflight);
  phase_ = &phase;
  count_ = count;
  next_index_ = 0;
  busy_slots_ = slots;
  deadline_ns_ = seconds > 0 ? now_ns() + static_cast<std::uint64_t>(seconds * 1e9) : ~std::uint64_t{0};
  for (std::size_t i = 0; i < slots; ++i) {
    slots_[i].phase = &phase;
    slots_[i].outcome = &outcome;
    slots_[i].step = 0;
    next(slots_[i]);
  }
  while (busy_slots_ > 0) loop_.turn();
  phase_ = nullptr;
}

void Client41::next(Slot41& slot) {
  slot.started_ns = now_ns();
  if (next_index_ >= count_ || slot.started_ns >= deadline_ns_) {
    --busy_slots_;
    return;
  }
  slot.index = next_index_++;
  slot.phase->begin(slot);
}

void Client41::done(Slot41& slot, std::uint64_t bytes) {
  slot.outcome->succeeded(slot.started_ns, bytes);
  next(slot);
}

void Client41::failed(Slot41& slot, const std::string& why) {
  slot.outcome->failed(why);
  next(slot);
}

void Client41::take(RpcConnection& connection, std::string_view record) {
  if (record.size() < 8) die("the server sent a record of " + std::to_string(record.size()) + " bytes");
  if (load_be32(record.data() + 4) == kReply) {
    take_reply(record);
  } else {
    answer_callback(connection, record);
  }
}

void Client41::take_reply(std::string_view record) {
  const std::uint32_t xid = load_be32(record.data());
  Results41 results(record.substr(8));
  if (waiting_ != nullptr && xid == waited_xid_) {
    const auto read = std::exchange(waiting_, nullptr);
    return read(results);
  }
  const std::uint32_t number = xid % kSlotsMax41;
  if (number >= slots_.size() || slots_[number].xid != xid) die("the server answered a call that was not made");
  Slot41& slot = slots_[number];
  slot.outcome->request(slot.request_ns);
  // A slot with a number that the server rejects is useless.
  if (!check_sequence(slot, results)) die(results.why());
  slot.phase->reply(slot, results);
}

bool Client41::check_sequence(const Slot41& slot, Results41& results) {
  XdrIn& in = results.expect(Op::kSequence).in();
  const std::string_view session = in.fixed(session_.size());
  if (results.ok() && (session != std::string_view(session_.data(), session_.size()) || in.u32() != slot.sequence ||
                       in.u32() != slot.number)) {
    results.reject("SEQUENCE: of another request");
  }
  in.fixed(3 * 4);
  return results.ok();
}

}  // namespace stoa::bench
