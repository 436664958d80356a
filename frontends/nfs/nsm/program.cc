#include "frontends/nfs/nsm/program.h"

namespace stoa::nsm {
namespace {

enum : std::uint32_t { kNull = 0, kStat, kMon, kUnmon, kUnmonAll, kSimulateCrash, kNotify };
enum : std::uint32_t { kStatFail = 1 };
constexpr std::size_t kNameBytesMax = 1024;  // SM_MAXSTRLEN
constexpr std::size_t kPrivateBytes = 16;

constexpr std::array<rpc::Procedure, 7> kProcedures{
    {{"null"}, {"stat"}, {"mon"}, {"unmon"}, {"unmon_all"}, {"simu_crash"}, {"notify"}}};

void read_my_id(rpc::XdrReader& in) {
  in.string(kNameBytesMax);
  in.u32();  // program, version and procedure to call
  in.u32();
  in.u32();
}

}  // namespace

std::span<const rpc::Procedure> NsmProgram::procedures() const {
  return kProcedures;
}

rpc::CostClass NsmProgram::cost_class(const rpc::CallHeader& header) const {
  return header.procedure == kNotify ? rpc::CostClass::kChange : rpc::CostClass::kMemory;
}

rpc::Outcome NsmProgram::run(const nfs::Call& call, rpc::Reply& reply) {
  rpc::XdrReader in(call.header.arguments);
  std::string_view name;
  std::uint32_t state = 0;
  switch (call.header.procedure) {
    case kStat:
      in.string(kNameBytesMax);
      break;
    case kMon:
      in.string(kNameBytesMax);
      read_my_id(in);
      in.fixed(kPrivateBytes);
      break;
    case kUnmon:
      in.string(kNameBytesMax);
      read_my_id(in);
      break;
    case kUnmonAll:
      read_my_id(in);
      break;
    case kNotify:
      name = in.string(kNameBytesMax);
      state = in.u32();
      break;
    default:
      break;  // NULL, and SIMU_CRASH, which we do not play
  }
  if (!in.ok()) return {.accept = rpc::AcceptStatus::kGarbageArguments};
  switch (call.header.procedure) {
    case kStat:
    case kMon:
      reply.out.u32(kStatFail);
      reply.out.u32(state_);
      return {.failed = true};
    case kUnmon:
    case kUnmonAll:
      reply.out.u32(state_);
      return {};
    case kNotify:
      restarted_(call.peer, name, state);
      return {};
    default:
      return {};
  }
}

}  // namespace stoa::nsm
