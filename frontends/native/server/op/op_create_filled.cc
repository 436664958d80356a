#include "frontends/native/server/op/made.h"

namespace stoa::native {

WireStatus op_create_filled(OperationRun& run, const CreateFilledArgs& in, MadeReply& out) {
  STOA_NATIVE_TRY(parent, run.file(in.parent));
  STOA_NATIVE_TRY(set, to_core(in.set));
  STOA_NATIVE_CHECK(check_name(in.name));
  const auto bytes = run.data(in.data_at, in.data_bytes);
  if (!bytes) return WireStatus::malformed;
  // A file that is there never gets the content.
  if (in.mode != kCreateGuarded && in.mode != kCreateExclusive) return WireStatus::invalid;
  const bool guarded = in.mode == kCreateGuarded;
  return made(run,
              run.ns.create(run.ctx, {.parent = parent,
                                      .name = in.name,
                                      .mode = guarded ? core::CreateMode::kGuarded : core::CreateMode::kExclusive,
                                      .set = set,
                                      .verifier = in.verifier,
                                      .bytes = *bytes}),
              out);
}

}  // namespace stoa::native
