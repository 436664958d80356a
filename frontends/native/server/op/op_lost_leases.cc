#include "frontends/native/server/op/operations.h"

namespace stoa::native {

WireStatus op_lost_leases(OperationRun& run, const Nothing&, LostLeasesReply& out) {
  run.session.leases.find_lapsed(run.state, SessionLeases::Clock::now());
  constexpr std::size_t kLostLeaseBytes = 16;
  Bytes records;
  for (const U64 number : run.session.leases.take_lost(run.room() / kLostLeaseBytes)) {
    append_record(records, 0, LostLease{.lease = number});
    ++out.count;
  }
  run.text.assign(reinterpret_cast<const char*>(records.data()), records.size());
  out.leases = run.text;
  return WireStatus::ok;
}

}  // namespace stoa::native
