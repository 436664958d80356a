// COMPOUNDs of two clients with a session each, on a small tree that is made anew for every input. So an input always
// has the same effect, except for the progress of copies in the background. The input is a list of records: a word for
// its kind (its lowest byte) and its number of operations (the byte above), its length, its bytes.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <mutex>

#include "base/assert.h"
#include "frontends/nfs/v4/operation_table.h"
#include "frontends/nfs/v4/program.h"
#include "tests/frontends/nfs/fuzz/kept_volume.h"

namespace {

using namespace stoa;
using nfs4::Nfs4Status;

enum Kind : std::uint32_t {
  kWhole,           // COMPOUND4args, unchanged
  kFirstInSession,  // operations behind a SEQUENCE of the first client, minor version 1
  kFirstNewest,     // the same, minor version 2
  kSecondNewest,    // the second client's
  kCallbackReply,   // a client's answer to the oldest callback: bytes behind the xid
  kKinds,
};

// Keeps the callbacks until the input answers them.
class CallbackQueue final : public rpc::BackChannel, public std::enable_shared_from_this<CallbackQueue> {
 public:
  bool call_back(std::vector<std::byte> record, OnReply on_reply) override {
    STOA_ASSERT(record.size() % 4 == 0);
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(on_reply));
    return true;
  }
  bool connected() const override { return true; }
  std::weak_ptr<BackChannel> keep() override { return weak_from_this(); }
  void answer(std::span<const std::byte> reply) {
    OnReply on_reply;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return;
      on_reply = std::move(waiting_.front());
      waiting_.pop_front();
    }
    on_reply(reply);
  }

 private:
  std::mutex mutex_;  // copies in the background call back, too
  std::deque<OnReply> waiting_;
};

class World {
 public:
  World() {
    core::Namespace& ns = kept_.ns();
    const auto file = ns.create({}, {.parent = kept_.root(), .name = "f", .set = {.mode = 0666}});
    const auto directory = ns.mkdir({}, {kept_.root(), "d", {.mode = 0777}});
    const auto link = ns.symlink({}, {.parent = kept_.root(), .name = "l", .target = "f"});
    STOA_ASSERT(file && directory && link);
    const std::array<std::byte, 5000> content{};
    const std::span<const std::byte> pieces[] = {content};
    STOA_ASSERT(ns.write({}, {file->attr.id, 0, pieces}));
    handles_ = {kept_.volume().handles().encode({}), kept_.root_handle(), kept_.handle_of(file->attr),
                kept_.handle_of(directory->attr), kept_.handle_of(link->attr)};
    for (Client& client : callers_) begin(client);
  }

  void take(std::uint32_t control, std::span<const std::byte> bytes) {
    const std::uint32_t kind = (control & 0xff) % kKinds;
    const std::uint32_t operations = control >> 8 & 0xff;
    if (kind == kCallbackReply) {
      std::vector<std::byte> reply(4);
      reply.insert(reply.end(), bytes.begin(), bytes.end());
      return callbacks_->answer(reply);
    }
    std::vector<std::byte> record(bytes.begin(), bytes.end());
    put_real_handles(record);
    if (kind == kWhole) return run(record);
    Client& client = callers_[kind == kSecondNewest ? 1 : 0];
    rpc::ReplyBuffer arguments;
    rpc::XdrWriter out(arguments);
    out.u32(0);  // tag
    out.u32(kind == kFirstInSession ? 1 : 2);
    out.u32(operations + 1);
    sequence(out, client);
    out.fixed(record);
    run(arguments.bytes());
    if (!sequenced()) --client.sequence;
  }

 private:
  struct Client {
    char name;
    std::array<std::byte, 16> session{};
    std::uint32_t sequence = 0;
  };

  // The fuzzer cannot guess a keyed checksum, so one of our handles is put where 36 bytes of a handle may stand.
  void put_real_handles(std::vector<std::byte>& record) const {
    constexpr unsigned char kAsk[] = {0, 0, 0, core::kHandleBytes};
    for (std::size_t i = 0; i + 4 + core::kHandleBytes <= record.size(); i += 4) {
      if (std::memcmp(record.data() + i, kAsk, 4) != 0) continue;
      const auto& handle = handles_[std::to_integer<std::size_t>(record[i + 4]) % handles_.size()];
      std::memcpy(record.data() + i + 4, handle.data(), handle.size());
      i += handle.size();
    }
  }

  static void sequence(rpc::XdrWriter& out, Client& client) {
    out.u32(53);
    out.fixed(client.session);
    out.u32(++client.sequence);
    out.u32(0);
    out.u32(0);
    out.boolean(true);
  }

  // EXCHANGE_ID, CREATE_SESSION with this connection for the back channel, RECLAIM_COMPLETE.
  void begin(Client& client) {
    rpc::ReplyBuffer buffers[3];
    rpc::XdrWriter exchange(buffers[0]), create(buffers[1]), done(buffers[2]);
    for (const std::uint32_t word : {0, 1, 1, 42, 0, 1}) exchange.u32(word);
    exchange.string(std::string_view(&client.name, 1));
    for (const std::uint32_t word : {0, 0, 0}) exchange.u32(word);
    rpc::XdrReader exchanged = results(buffers[0].bytes(), 42);

    for (const std::uint32_t word : {0, 1, 1, 43}) create.u32(word);
    create.u64(exchanged.u64());
    for (const std::uint32_t word : {1, 2}) create.u32(word);
    for (int channel = 0; channel < 2; ++channel) {
      for (const std::uint32_t word : {0, 1 << 20, 1 << 20, 4096, 64, 4, 0}) create.u32(word);
    }
    for (const std::uint32_t word : {0x40000000, 1, 0}) create.u32(word);
    rpc::XdrReader made = results(buffers[1].bytes(), 43);
    const auto session = made.fixed(client.session.size());
    std::memcpy(client.session.data(), session.data(), session.size());

    for (const std::uint32_t word : {0, 1, 2}) done.u32(word);
    sequence(done, client);
    for (const std::uint32_t word : {58, 0}) done.u32(word);
    results(buffers[2].bytes(), 53);
  }

  // Runs operations that must succeed; returns the body of the first result.
  rpc::XdrReader results(std::span<const std::byte> arguments, std::uint32_t operation) {
    run(arguments);
    rpc::XdrReader in(reply_.bytes());
    for (const std::uint32_t expected : {0u, 0u}) STOA_ASSERT(in.u32() == expected);
    in.u32();
    STOA_ASSERT(in.u32() == operation && in.u32() == 0 && in.ok());
    return in;
  }

  // Whether the first result of the last reply is a SEQUENCE that took its slot.
  bool sequenced() const {
    rpc::XdrReader in(reply_.bytes());
    in.u32();
    in.u32();
    return in.u32() > 0 && in.u32() == 53 && in.u32() == 0 && in.ok();
  }

  void run(std::span<const std::byte> arguments) {
    kept_.access().refresh();
    rpc::CallHeader header{.program = nfs4::kNfsProgram, .version = nfs4::kNfsVersion, .procedure = 1};
    header.credential = {.sys = true};
    header.arguments = arguments;
    core::PendingDurability pending;
    const rpc::Peer peer{.text = "fuzz"};
    const nfs::Call call{{header, peer, 1, std::chrono::steady_clock::now(), &pending, callbacks_.get()},
                         kept_.access()};
    reply_.clear(1 << 20);
    rpc::Reply reply{rpc::XdrWriter(reply_)};
    nfs4::cost_class_of(header);
    const rpc::Outcome outcome = nfs4::run_compound(environment_, call, reply);
    kept_.access().hand_over(pending);
    STOA_ASSERT(kept_.ns().sync({}, pending));
    check(arguments, outcome, reply);
  }

  // COMPOUND4res: status, tag, number of results; no result follows one that failed.
  void check(std::span<const std::byte> arguments, const rpc::Outcome& outcome, const rpc::Reply& reply) const {
    if (outcome.accept != rpc::AcceptStatus::kSuccess) {
      STOA_ASSERT(outcome.accept == rpc::AcceptStatus::kGarbageArguments);
      return;
    }
    STOA_ASSERT(reply_.size() % 4 == 0);
    std::uint64_t slice_bytes = 0;
    for (const core::DataSlice& slice : reply.slices) slice_bytes += slice.length;
    STOA_ASSERT(slice_bytes == reply.slice_bytes);
    rpc::XdrReader asked(arguments);
    const auto tag = asked.opaque(nfs4::kTagBytesMax);
    const std::uint32_t minor = asked.u32();
    const std::uint32_t count = asked.u32();
    rpc::XdrReader in(reply_.bytes());
    const auto status = static_cast<Nfs4Status>(in.u32());
    STOA_ASSERT(std::ranges::equal(in.opaque(nfs4::kTagBytesMax), tag));
    const std::uint32_t done = in.u32();
    STOA_ASSERT(in.ok() && done <= count);
    if (status == Nfs4Status::kOk) {
      STOA_ASSERT(!outcome.failed && done == count);
    } else {
      STOA_ASSERT(reply.slices.empty());
    }
    if (done == 0) {
      STOA_ASSERT(in.left() == 0);
      return;
    }
    const std::uint32_t number = in.u32();
    STOA_ASSERT(number == nfs4::kOpIllegal || nfs4::find_operation(number, minor) != nullptr);
    const auto first = static_cast<Nfs4Status>(in.u32());
    STOA_ASSERT(in.ok() && first == (done == 1 ? status : Nfs4Status::kOk));
  }

  test::KeptVolume& kept_ = test::KeptVolume::next();
  std::array<core::HandleBytes, 5> handles_{};
  std::shared_ptr<CallbackQueue> callbacks_ = std::make_shared<CallbackQueue>();
  rpc::Dialer dialer_;
  nfs4::ClientTable clients_{kept_.volume().state(), dialer_, 1, std::chrono::seconds(90), kept_.metrics()};
  nfs4::Offloads offloads_{kept_.ns(), kept_.metrics()};
  const nfs4::Environment environment_{.ns = kept_.ns(),
                                       .state = kept_.volume().state(),
                                       .handles = kept_.volume().handles(),
                                       .clients = clients_,
                                       .offloads = &offloads_,
                                       .copy_bytes_max = 16u << 10};
  std::array<Client, 2> callers_{Client{'a'}, Client{'b'}};
  rpc::ReplyBuffer reply_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  World world;
  rpc::XdrReader in(std::as_bytes(std::span(data, size)));
  while (in.left() > 0) {
    const std::uint32_t control = in.u32();
    const std::uint32_t length = in.u32();
    world.take(control, in.left() < length ? in.rest() : in.fixed(length));
    if (!in.ok()) break;
  }
  return 0;
}
