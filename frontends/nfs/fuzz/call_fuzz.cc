// RPC headers, credentials and the arguments of all procedures of NFSv3, MOUNT and RQUOTA, on an empty namespace. Every
// decoder runs, every handle that the fuzzer finds is real, and each reply must be well formed.
#include <cstring>

#include "base/assert.h"
#include "frontends/nfs/export_access.h"
#include "frontends/nfs/fuzz/empty_namespace.h"
#include "frontends/nfs/mount/program.h"
#include "frontends/nfs/rquota/program.h"
#include "frontends/nfs/v3/program.h"

namespace {

using namespace stoa;

struct World {
  test::EmptyNamespace ns;
  test::OneExport registry;
  core::HandleCodec handles{1, {7, 7}};
  nfs3::Nfs3Program nfs3{ns, handles};
  mount3::MountProgram mount3{ns, handles};
  rquota::RquotaProgram rquota{ns};
  nfs::ExportAccess scope{registry};
};

// The fuzzer cannot guess a keyed checksum, so a handle is written over the first 36 bytes with a marker.
std::vector<std::byte> with_real_handles(const World& world, std::span<const std::byte> data) {
  std::vector<std::byte> record(data.begin(), data.end());
  const auto handle = world.handles.encode({core::FileId{5}, 1, core::ExportId{1}});
  constexpr unsigned char kAsk[] = {0, 0, 0, core::kHandleBytes};
  for (std::size_t i = 24; i + 4 + handle.size() <= record.size(); i += 4) {
    if (std::memcmp(record.data() + i, kAsk, 4) == 0) {
      std::memcpy(record.data() + i + 4, handle.data(), handle.size());
      i += handle.size();
    }
  }
  return record;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static World world;
  const std::vector<std::byte> record = with_real_handles(world, std::as_bytes(std::span(data, size)));
  nfs3::write_payload_offset(record);
  rpc::CallHeader header;
  if (!rpc::decode_call(record, header) || header.auth != rpc::AuthStatus::kOk) return 0;
  const bool mount = header.program == world.mount3.number();
  nfs::Program& program = mount                                     ? static_cast<nfs::Program&>(world.mount3)
                          : header.program == world.rquota.number() ? static_cast<nfs::Program&>(world.rquota)
                                                                    : world.nfs3;
  header.procedure %= program.procedures().size();

  world.scope.refresh();
  const rpc::Peer peer{.text = "fuzz"};
  core::PendingDurability pending;
  const nfs::Call call{{header, peer, 1, std::chrono::steady_clock::now(), &pending}, world.scope};
  rpc::ReplyBuffer buffer;
  rpc::Reply reply{rpc::XdrWriter(buffer)};
  program.cost_class(header);
  const rpc::Outcome outcome = program.run(call, reply);
  world.scope.hand_over(pending);
  STOA_ASSERT(buffer.size() % 4 == 0);
  if (outcome.accept == rpc::AcceptStatus::kSuccess && header.procedure != 0 && !mount) {
    STOA_ASSERT(buffer.size() >= 4);
  }
  return 0;
}
