#include <algorithm>

#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_read(OperationRun& run, const ReadArgs& in, ReadReply& out) {
  STOA_NATIVE_TRY(file, run.file(in.file));
  STOA_NATIVE_OK(run.through(in.open, file, kOpenRead));
  if (in.offset > core::kFileBytesMax) return WireStatus::invalid;
  STOA_NATIVE_CHECK(run.state.check_denied(file, run.ctx.open, core::kShareRead));
  const U32 at = run.payload_end();
  const std::size_t length = std::min<std::size_t>(in.length, run.room());
  if (length == 0 && in.length != 0) return WireStatus::too_large;
  Result<core::ReadReply> reply = fail(Errc::kInvalid);
  run.add_payload(length, [&](std::span<std::byte> into) {
    reply = run.with_open_rights(file, OpenRight::kRead, [&](const core::OpContext& ctx) {
      return run.ns.read(ctx, {.id = file, .offset = in.offset, .into = into});
    });
    return reply ? reply->length : 0;
  });
  if (!reply) return run.failed(reply.error());
  out = {.data_at = at,
         .data_bytes = static_cast<U32>(reply->length),
         .end_of_file = reply->end_of_file,
         .attr = to_wire(reply->attr)};
  return WireStatus::ok;
}

}  // namespace stoa::native
