#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_exchange(OperationRun& run, const ExchangeArgs& in, RenameReply& out) {
  STOA_NATIVE_TRY(from, run.file(in.from_parent));
  STOA_NATIVE_TRY(to, run.file(in.to_parent));
  STOA_NATIVE_CHECK(check_name(in.from_name));
  STOA_NATIVE_CHECK(check_name(in.to_name));
  STOA_NATIVE_TRY(
      done,
      run.ns.rename(
          run.ctx,
          {.from_parent = from, .from_name = in.from_name, .to_parent = to, .to_name = in.to_name, .exchange = true}));
  out = {.moved = static_cast<U64>(done.moved), .from = to_wire(done.from), .to = to_wire(done.to)};
  return WireStatus::ok;
}

}  // namespace stoa::native
