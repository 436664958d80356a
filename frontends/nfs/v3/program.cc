#include "frontends/nfs/v3/program.h"

#include <algorithm>
#include <array>

namespace stoa::nfs3 {
namespace {

using rpc::Weight;

struct Entry {
  rpc::Procedure procedure;
  Weight weight;
  rpc::Outcome (*run)(Operation&);
  int absent_words;  // a failure without attributes: this many absent optional values behind the status
};

constexpr bool kIdempotent = true;
constexpr bool kOnce = false;
constexpr std::array<Entry, 22> kTable{{
    {{"null", kIdempotent}, Weight::kMemory, op_null, 0},
    {{"getattr", kIdempotent}, Weight::kMemory, op_getattr, 0},
    {{"setattr", kOnce}, Weight::kChange, op_setattr, 2},
    {{"lookup", kIdempotent}, Weight::kMemory, op_lookup, 1},
    {{"access", kIdempotent}, Weight::kMemory, op_access, 1},
    {{"readlink", kIdempotent}, Weight::kMemory, op_readlink, 1},
    {{"read", kIdempotent}, Weight::kData, op_read, 1},
    {{"write", kIdempotent}, Weight::kData, op_write, 2},
    {{"create", kOnce}, Weight::kChange, op_create, 2},
    {{"mkdir", kOnce}, Weight::kChange, op_mkdir, 2},
    {{"symlink", kOnce}, Weight::kChange, op_symlink, 2},
    {{"mknod", kOnce}, Weight::kChange, op_mknod, 2},
    {{"remove", kOnce}, Weight::kChange, op_remove, 2},
    {{"rmdir", kOnce}, Weight::kChange, op_rmdir, 2},
    {{"rename", kOnce}, Weight::kChange, op_rename, 4},
    {{"link", kOnce}, Weight::kChange, op_link, 3},
    {{"readdir", kIdempotent}, Weight::kData, op_readdir, 1},
    {{"readdirplus", kIdempotent}, Weight::kData, op_readdirplus, 1},
    {{"fsstat", kIdempotent}, Weight::kMemory, op_fsstat, 1},
    {{"fsinfo", kIdempotent}, Weight::kMemory, op_fsinfo, 1},
    {{"pathconf", kIdempotent}, Weight::kMemory, op_pathconf, 1},
    {{"commit", kIdempotent}, Weight::kSync, op_commit, 2},
}};

constexpr auto kProcedures = [] {
  std::array<rpc::Procedure, kTable.size()> procedures{};
  for (std::size_t i = 0; i < kTable.size(); ++i) procedures[i] = kTable[i].procedure;
  return procedures;
}();

Weight weigh_read(const rpc::CallHeader& header) {
  rpc::XdrReader in(header.arguments);
  in.opaque(kHandleBytesMax);
  in.u64();
  return in.u32() > kCopiedReadBytesMax ? Weight::kHeavy : Weight::kData;
}

Weight weigh_write(const rpc::CallHeader& header) {
  if (header.arguments.size() > kCopiedReadBytesMax) return Weight::kHeavy;
  rpc::XdrReader in(header.arguments);
  in.opaque(kHandleBytesMax);
  in.u64();
  in.u32();
  return in.u32() == 0 ? Weight::kData : Weight::kSync;
}

void encode_failure(const rpc::CallHeader& header, NfsStatus status, rpc::XdrWriter& out) {
  out.u32(static_cast<std::uint32_t>(status));
  for (int i = 0; i < kTable[header.procedure].absent_words; ++i) out.boolean(false);
}

}  // namespace

std::span<const rpc::Procedure> Nfs3Program::procedures() const {
  return kProcedures;
}

rpc::Weight Nfs3Program::weigh(const rpc::CallHeader& header) const {
  if (header.procedure == kReadProcedure) return weigh_read(header);
  if (header.procedure == kWriteProcedure) return weigh_write(header);
  return kTable[header.procedure].weight;
}

rpc::Outcome Nfs3Program::run(const nfs::Call& call, rpc::Reply& reply) {
  const Entry& entry = kTable[call.header.procedure];
  Operation op(environment_, call, reply, entry.procedure.name);
  return entry.run(op);
}

void Nfs3Program::charge(const nfs::Call& call, rpc::Charge& charge) {
  if (call.header.procedure == kNullProcedure) return;
  // All others begin with the handle of the file, or of the directory with the name.
  rpc::XdrReader in(call.header.arguments);
  const auto ref = environment_.handles.decode(in.opaque(kHandleBytesMax));
  if (!ref) return;
  call.scope.find_flows(call, *ref, environment_.ns, charge.path);
  if (charge.path.empty()) return;
  if (call.header.procedure == kReadProcedure) {
    in.u64();  // offset
    charge.price = qos::Price::read(std::min(in.u32(), kIoBytesMax));
  } else if (call.header.procedure == kWriteProcedure) {
    in.u64();  // offset
    in.u32();  // count
    in.u32();  // stable
    charge.price = qos::Price::write(std::min<std::size_t>(in.u32(), in.left()));
  } else {
    charge.price = qos::Price::metadata();
  }
}

void Nfs3Program::encode_busy(const rpc::CallHeader& header, rpc::XdrWriter& out) {
  encode_failure(header, NfsStatus::kJukebox, out);
}

void Nfs3Program::encode_not_durable(const rpc::CallHeader& header, Errc why, rpc::XdrWriter& out) {
  encode_failure(header, why == Errc::kNoSpace ? NfsStatus::kNoSpc : NfsStatus::kIo, out);
}

std::size_t write_payload_offset(std::span<const std::byte> prefix) {
  rpc::CallHeader header;
  if (!rpc::decode_call(prefix, header) || header.auth != rpc::AuthStatus::kOk) return 0;
  if (header.program != kNfsProgram || header.version != kNfsVersion || header.procedure != kWriteProcedure) return 0;
  rpc::XdrReader in(header.arguments);
  in.opaque(kHandleBytesMax);
  in.u64();  // offset
  in.u32();  // count
  in.u32();  // stable
  in.u32();  // length of the data
  return in.ok() ? prefix.size() - in.left() : 0;
}

}  // namespace stoa::nfs3
