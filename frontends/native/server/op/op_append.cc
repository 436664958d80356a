#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_append(OperationRun& run, const AppendArgs& in, AppendReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  const auto bytes = run.data(in.data_at, in.data_bytes);
  if (!bytes) return WireStatus::malformed;
  STOA_NATIVE_OK(run.through(in.open, file, kOpenWrite));
  STOA_NATIVE_CHECK(run.state.check_denied(file, run.ctx.open, core::kShareWrite));
  run.ctx.durability = in.stable != 0 ? core::Durability::kDurable : core::Durability::kApplied;
  const std::span<const std::byte> data[] = {*bytes};
  // In grace, appends that a power cut has undone are being written again by their clients, at the offsets that they
  // had: nothing is appended before. What was done is answered.
  const bool grace = run.state.in_grace();
  core::WriteRequest request{.id = file, .offset = 0, .data = data, .append = true, .only_again = grace};
  if (run.memory != nullptr && *run.memory) request.memory = run.memory->lend(data[0]);
  const auto written = run.with_open_rights(file, OpenRight::kModify,
                                            [&](const core::OpContext& ctx) { return run.ns.write(ctx, request); });
  if (!written && grace && written.error().code == Errc::kBusy) return WireStatus::grace;
  if (!written) return run.failed(written.error());
  out = {.offset = written->offset,
         .length = written->length,
         .verifier = written->verifier,
         .attr = to_wire(written->attr)};
  return WireStatus::ok;
}

}  // namespace stoa::native
