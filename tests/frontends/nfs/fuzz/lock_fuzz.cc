// NLM and NSM calls of two machines on a small tree that is made anew for every input. The input is a list of
// records: a word (lowest byte: the procedure, of NSM from 24 on; the byte above: the machine), its length, its
// bytes.
#include <array>
#include <cstring>
#include <optional>

#include "base/assert.h"
#include "frontends/nfs/nlm/program.h"
#include "frontends/nfs/nsm/program.h"
#include "tests/frontends/nfs/fuzz/kept_volume.h"

namespace {

using namespace stoa;

class World {
 public:
  World() {
    core::Namespace& ns = kept_.ns();
    const auto file = ns.create({}, {.parent = kept_.root(), .name = "f", .set = {.mode = 0666}});
    const auto other = ns.create({}, {.parent = kept_.root(), .name = "g", .set = {.mode = 0600}});
    STOA_ASSERT(file && other);
    handles_ = {kept_.root_handle(), kept_.handle_of(file->attr), kept_.handle_of(other->attr)};
    nlm_.emplace(ns, kept_.volume().state(), kept_.volume().handles(), caller_,
                 nlm::NlmProgram::EndExpired{.of_file = [](core::FileId) { return false; },
                                             .with_lock = [](core::HolderId) { return false; }},
                 kept_.metrics());
    nsm_.emplace(1, [this](const rpc::Peer& peer, std::string_view name, std::uint32_t state) {
      nlm_->hosts().restarted(peer.address, name, state);
    });
  }
  ~World() { dialer_.stop(); }

  void take(std::uint32_t control, std::span<const std::byte> bytes) {
    std::vector<std::byte> record(bytes.begin(), bytes.end());
    put_real_handles(record);
    const std::uint32_t number = (control & 0xff) % 31;
    nfs::Program& program = number < 24 ? static_cast<nfs::Program&>(*nlm_) : *nsm_;
    rpc::CallHeader header{
        .program = program.number(), .version = program.version_low(), .procedure = number < 24 ? number : number - 24};
    if (program.procedures()[header.procedure].name.empty()) return;
    header.credential = {.sys = true, .uid = control >> 16 & 0xff};
    header.arguments = record;
    core::PendingDurability pending;
    // An address of no link in particular: it cannot be called.
    rpc::Peer peer{.text = "fuzz"};
    peer.address[0] = 0xfe;
    peer.address[1] = 0x80;
    peer.address[15] = static_cast<std::uint8_t>(control >> 8 & 1);
    kept_.access().refresh();
    const nfs::Call call{{header, peer, 1, std::chrono::steady_clock::now(), &pending}, kept_.access()};
    rpc::ReplyBuffer buffer;
    rpc::Reply reply{rpc::XdrWriter(buffer)};
    program.cost_class(header);
    const rpc::Outcome outcome = program.run(call, reply);
    kept_.access().hand_over(pending);
    STOA_ASSERT(kept_.ns().sync({}, pending));
    STOA_ASSERT(buffer.size() % 4 == 0);
    if (outcome.accept != rpc::AcceptStatus::kSuccess)
      STOA_ASSERT(outcome.accept == rpc::AcceptStatus::kGarbageArguments);
  }

 private:
  // The fuzzer cannot guess a keyed checksum, so one of our handles is put where 36 bytes of a handle may
  // stand.
  void put_real_handles(std::vector<std::byte>& record) const {
    constexpr unsigned char kAsk[] = {0, 0, 0, core::kHandleBytes};
    for (std::size_t i = 0; i + 4 + core::kHandleBytes <= record.size(); i += 4) {
      if (std::memcmp(record.data() + i, kAsk, 4) != 0) continue;
      const auto& handle = handles_[std::to_integer<std::size_t>(record[i + 4]) % handles_.size()];
      std::memcpy(record.data() + i + 4, handle.data(), handle.size());
      i += handle.size();
    }
  }

  test::KeptVolume& kept_ = test::KeptVolume::next();
  std::array<core::HandleBytes, 3> handles_{};
  rpc::Dialer dialer_;
  rpc::RemoteCaller caller_{dialer_};
  std::optional<nlm::NlmProgram> nlm_;
  std::optional<nsm::NsmProgram> nsm_;
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
