#include "frontends/native/server/op/operations.h"

namespace stoa::native {

namespace {

bool is_lease_wish(const LeaseArgs& in) {
  const bool bits = in.lease_bits != 0 && (in.lease_bits & ~std::uint32_t{core::kAllCaching}) == 0 &&
                    ((in.lease_bits & core::kWriteCaching) == 0 || (in.lease_bits & core::kReadCaching) != 0);
  return bits && in.lease != 0 && in.kind <= 1;
}

}  // namespace

WireStatus op_lease(OperationRun& run, const LeaseArgs& in, LeaseReply& out) {
  if (!is_lease_wish(in)) return WireStatus::invalid;
  // A handle alone would get reading later, beside a change in progress.
  if ((in.lease_bits & core::kReadCaching) == 0) return WireStatus::ok;
  STOA_NATIVE_TRY(file, run.file(in.file));
  const core::LeaseKind kind = in.kind == 1 ? core::LeaseKind::kFiles : core::LeaseKind::kCache;
  const bool reclaim = in.reclaim != 0;
  // Who may not search a directory is told nothing of what happens in it.
  // And who may not read a file, or change it, hinders nobody who does.
  const auto may =
      run.ns.access(run.ctx, {.id = file, .wanted = core::kAccessLookup | core::kAccessRead | core::kAccessModify});
  std::uint32_t bits = in.lease_bits;
  if (may) {
    const bool directory = may->attr.type == core::FileType::kDirectory;
    if (kind == core::LeaseKind::kFiles && !directory) return WireStatus::not_directory;
    if ((may->granted & (directory ? core::kAccessLookup : core::kAccessRead)) == 0) return WireStatus::ok;
    if (run.ctx.read_only || (may->granted & core::kAccessModify) == 0) bits &= ~std::uint32_t{core::kWriteCaching};
  } else {
    // After a restart looks at a file wait for those who may have written to it, of whom this may be one.
    const bool asks_back = reclaim && kind == core::LeaseKind::kCache && may.error().code == Errc::kRecallPending;
    if (!asks_back) return run.failed(may.error());
  }
  const bool now = reclaim ? run.check_grace(true) == WireStatus::ok : !run.state.in_grace();
  if (!now) return WireStatus::ok;

  SessionLeases& leases = run.session.leases;
  leases.find_lapsed(run.state, SessionLeases::Clock::now());
  if (!leases.ask(in.lease, file, kind)) return WireStatus::ok;
  std::optional<core::GrantedLease> granted;
  // After a restart it is waited for, whatever it cached: a lease that is asked back promises that nothing was changed.
  if (run.native.sessions.remember_writer(run.session))
    granted =
        run.state.grant_lease(file, {.holder = run.session.holder}, {.bits = bits, .kind = kind, .reclaim = reclaim});
  if (!granted) {
    out.lease_bits = leases.refused(in.lease);
    if (const auto old = leases.find(in.lease); old && run.state.lease_revoked(*old)) out.lease_bits = 0;
    return WireStatus::ok;
  }
  bool recalled = false;
  if (!leases.granted(in.lease, *granted, recalled)) {
    run.state.return_lease(granted->id);
    return WireStatus::ok;
  }
  if (recalled) run.native.sessions.send_recalls(run.session);
  out.lease_bits = granted->bits;
  return WireStatus::ok;
}

}  // namespace stoa::native
