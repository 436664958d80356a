#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_write(OperationRun& run, const WriteArgs& in, WriteReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  const auto bytes = run.data(in.data_at, in.data_bytes);
  if (!bytes) return WireStatus::malformed;
  if (in.offset > core::kFileBytesMax || in.data_bytes > core::kFileBytesMax - in.offset)
    return WireStatus::file_too_big;
  STOA_NATIVE_OK(run.through(in.open, file, kOpenWrite));
  STOA_NATIVE_OK(run.cached(in.lease));
  STOA_NATIVE_CHECK(run.state.check_denied(file, run.ctx.open, core::kShareWrite));
  run.ctx.durability = in.stable != 0 ? core::Durability::kDurable : core::Durability::kApplied;
  const std::span<const std::byte> data[] = {*bytes};
  core::WriteRequest request{.id = file, .offset = in.offset, .data = data};
  if (run.memory != nullptr && *run.memory) request.memory = run.memory->lend(data[0]);
  STOA_NATIVE_TRY(written, run.with_open_rights(file, OpenRight::kModify, [&](const core::OpContext& ctx) {
    return run.ns.write(ctx, request);
  }));
  out = {.length = written.length, .verifier = written.verifier, .attr = to_wire(written.attr)};
  return WireStatus::ok;
}

}  // namespace stoa::native
