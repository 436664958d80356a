#include "frontends/nfs/v3/program.h"

#include <algorithm>
#include <array>

namespace stoa::nfs3 {
namespace {

using rpc::CostClass;

struct Entry {
  rpc::Procedure procedure;
  CostClass cost_class;
  rpc::Outcome (*run)(Operation&);
  int absent_words;  // a failure without attributes: this many absent optional values behind the status
};

constexpr bool kIdempotent = true;
constexpr bool kOnce = false;
constexpr std::array<Entry, 22> kTable{{
    {{"null", kIdempotent}, CostClass::kMemory, op_null, 0},
    {{"getattr", kIdempotent}, CostClass::kMemory, op_getattr, 0},
    {{"setattr", kOnce}, CostClass::kChange, op_setattr, 2},
    {{"lookup", kIdempotent}, CostClass::kMemory, op_lookup, 1},
    {{"access", kIdempotent}, CostClass::kMemory, op_access, 1},
    {{"readlink", kIdempotent}, CostClass::kMemory, op_readlink, 1},
    {{"read", kIdempotent}, CostClass::kData, op_read, 1},
    {{"write", kIdempotent}, CostClass::kData, op_write, 2},
    {{"create", kOnce}, CostClass::kChange, op_create, 2},
    {{"mkdir", kOnce}, CostClass::kChange, op_mkdir, 2},
    {{"symlink", kOnce}, CostClass::kChange, op_symlink, 2},
    {{"mknod", kOnce}, CostClass::kChange, op_mknod, 2},
    {{"remove", kOnce}, CostClass::kChange, op_remove, 2},
    {{"rmdir", kOnce}, CostClass::kChange, op_rmdir, 2},
    {{"rename", kOnce}, CostClass::kChange, op_rename, 4},
    {{"link", kOnce}, CostClass::kChange, op_link, 3},
    {{"readdir", kIdempotent}, CostClass::kData, op_readdir, 1},
    {{"readdirplus", kIdempotent}, CostClass::kData, op_readdirplus, 1},
    {{"fsstat", kIdempotent}, CostClass::kMemory, op_fsstat, 1},
    {{"fsinfo", kIdempotent}, CostClass::kMemory, op_fsinfo, 1},
    {{"pathconf", kIdempotent}, CostClass::kMemory, op_pathconf, 1},
    {{"commit", kIdempotent}, CostClass::kSync, op_commit, 2},
}};

constexpr auto kProcedures = [] {
  std::array<rpc::Procedure, kTable.size()> procedures{};
  for (std::size_t i = 0; i < kTable.size(); ++i) procedures[i] = kTable[i].procedure;
  return procedures;
}();

CostClass cost_class_of_read(const rpc::CallHeader& header) {
  rpc::XdrReader in(header.arguments);
  in.opaque(kHandleBytesMax);
  in.u64();
  return in.u32() > kCopiedReadBytesMax ? CostClass::kHeavy : CostClass::kData;
}

CostClass cost_class_of_write(const rpc::CallHeader& header) {
  if (header.arguments.size() > kCopiedReadBytesMax) return CostClass::kHeavy;
  rpc::XdrReader in(header.arguments);
  in.opaque(kHandleBytesMax);
  in.u64();
  in.u32();
  return in.u32() == 0 ? CostClass::kData : CostClass::kSync;
}

void encode_failure(const rpc::CallHeader& header, NfsStatus status, rpc::XdrWriter& out) {
  out.u32(static_cast<std::uint32_t>(status));
  for (int i = 0; i < kTable[header.procedure].absent_words; ++i) out.boolean(false);
}

}  // namespace

std::span<const rpc::Procedure> Nfs3Program::procedures() const {
  return kProcedures;
}

rpc::CostClass Nfs3Program::cost_class(const rpc::CallHeader& header) const {
  if (header.procedure == kReadProcedure) return cost_class_of_read(header);
  if (header.procedure == kWriteProcedure) return cost_class_of_write(header);
  return kTable[header.procedure].cost_class;
}

rpc::Outcome Nfs3Program::run(const nfs::Call& call, rpc::Reply& reply) {
  const Entry& entry = kTable[call.header.procedure];
  Operation op(environment_, call, reply, entry.procedure.name);
  rpc::Outcome outcome = entry.run(op);
  // Each procedure is one call of the core, so what met a recall has left no trace.
  if (outcome.failed && call.may_wait) outcome.waits_for = op.recalled();
  return outcome;
}

void Nfs3Program::charge(const nfs::Call& call, rpc::Charge& charge) {
  if (call.header.procedure == kNullProcedure) return;
  // All others begin with the handle of the file, or of the directory with the name.
  rpc::XdrReader in(call.header.arguments);
  const auto ref = environment_.handles.decode(in.opaque(kHandleBytesMax));
  if (!ref) return;
  call.scope.find_qos_classes(call, *ref, environment_.ns, charge.path);
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
