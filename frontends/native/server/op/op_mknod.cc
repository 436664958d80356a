#include "frontends/native/server/op/made.h"

namespace stoa::native {

namespace {

std::optional<core::FileType> special_type(U32 type) {
  switch (type) {
    case kBlockDevice:
      return core::FileType::kBlockDevice;
    case kCharDevice:
      return core::FileType::kCharDevice;
    case kSocket:
      return core::FileType::kSocket;
    case kFifo:
      return core::FileType::kFifo;
    default:
      return std::nullopt;
  }
}

}  // namespace

WireStatus op_mknod(OperationRun& run, const MknodArgs& in, MadeReply& out) {
  STOA_NATIVE_TRY(parent, run.file(in.parent));
  STOA_NATIVE_TRY(set, to_core(in.set));
  STOA_NATIVE_CHECK(check_name(in.name));
  const auto type = special_type(in.type);
  if (!type) return WireStatus::invalid;
  return made(
      run,
      run.ns.mknod(
          run.ctx,
          {.parent = parent, .name = in.name, .type = *type, .device = {in.device_major, in.device_minor}, .set = set}),
      out);
}

}  // namespace stoa::native
