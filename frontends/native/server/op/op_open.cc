#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

namespace {

std::optional<core::OpenDisposition> disposition_of(U32 how) {
  switch (how) {
    case kOpenExisting:
      return core::OpenDisposition::kOpen;
    case kOpenCreate:
      return core::OpenDisposition::kCreate;
    case kOpenOrCreate:
      return core::OpenDisposition::kOpenOrCreate;
    case kOpenTruncate:
      return core::OpenDisposition::kOverwrite;
    case kOpenTruncateOrCreate:
      return core::OpenDisposition::kOverwriteOrCreate;
    case kOpenExclusive:
      return core::OpenDisposition::kCreateExclusive;
    case kOpenNameless:
      return core::OpenDisposition::kCreateNameless;
    default:
      return std::nullopt;
  }
}

// What is asked for, but the place.
std::optional<core::OpenRequest> request_of(const OpenArgs& in, const core::SetAttributes& set) {
  const auto disposition = disposition_of(in.disposition);
  constexpr U32 kBits = kOpenRead | kOpenWrite;
  if (!disposition || in.open == 0 || (in.access & kBits) == 0 || ((in.access | in.deny) & ~kBits) != 0)
    return std::nullopt;
  if (in.reclaim != 0 && (in.file == File{} || *disposition != core::OpenDisposition::kOpen)) return std::nullopt;
  return core::OpenRequest{.disposition = *disposition,
                           .access = in.access,
                           .deny = in.deny,
                           .reclaim = in.reclaim != 0,
                           .set = set,
                           .verifier = in.verifier};
}

}  // namespace

WireStatus op_open(OperationRun& run, const OpenArgs& in, OpenReply& out) {
  STOA_NATIVE_TRY(set, to_core(in.set));
  auto request = request_of(in, set);
  if (!request) return WireStatus::invalid;
  if (in.file != File{}) {
    STOA_NATIVE_TRY(file, run.file(in.file));
    request->id = file;
  } else {
    STOA_NATIVE_TRY(parent, run.file(in.parent));
    if (in.disposition != kOpenNameless) STOA_NATIVE_CHECK(check_name(in.name));
    request->parent = parent;
    request->name = in.name;
  }
  // Asked back twice, as its reply was lost.
  if (const auto known = run.session.find_open(in.open); known && known->file == request->id) {
    STOA_NATIVE_TRY(now, run.ns.getattr(run.ctx, {.id = known->file}));
    out.attr = to_wire(now.attr);
    return WireStatus::ok;
  }
  // A file that is made now cannot have been open before the restart. And what was made, and not answered, is sent
  // again in grace: only as the same message, which the core knows, is it answered as made, so it must not be put off.
  const bool makes =
      in.disposition == kOpenCreate || in.disposition == kOpenExclusive || in.disposition == kOpenNameless;
  if (!makes || !run.state.in_grace()) STOA_NATIVE_OK(run.check_grace(request->reclaim));
  STOA_NATIVE_CHECK(run.native.sessions.remember(run.session));
  STOA_NATIVE_TRY(opened, run.ns.open(run.ctx, *request));
  // A new file is its maker's, whatever its mode says.
  constexpr std::uint32_t kAll = core::kAccessRead | core::kAccessModify;
  std::uint32_t rights = kAll;
  if (!opened.created) {
    const auto granted = run.ns.access(run.ctx, {.id = opened.attr.id, .wanted = kAll});
    rights = granted ? granted->granted : 0;
  }
  if (!run.session.add_open(in.open, {.id = opened.open,
                                      .file = opened.attr.id,
                                      .access = in.access,
                                      .reads = (rights & core::kAccessRead) != 0,
                                      .modifies = (rights & core::kAccessModify) != 0})) {
    run.state.close(opened.open);
    return WireStatus::invalid;
  }
  out = {.created = opened.created,
         .truncated = opened.truncated,
         .attr = to_wire(opened.attr),
         .parent = to_wire(opened.parent)};
  return WireStatus::ok;
}

}  // namespace stoa::native
