#include "frontends/nfs/v4/io_price.h"

#include "frontends/nfs/v4/program.h"
#include "qos/scheduler.h"

namespace stoa::nfs4 {
namespace {

// The worker has priced the call in the same way (Nfs4Program::charge).
Compound::Prepaid prepaid_of(const Compound& c) {
  const CompoundPrice foreseen = price_compound(c.call.header);
  const auto file = c.env.handles.decode(foreseen.handle);
  return file ? Compound::Prepaid{*file, foreseen.price} : Compound::Prepaid{};
}

}  // namespace

Nfs4Status pay_for_io(Compound& c, const qos::Price& price) {
  if (c.call.scheduler == nullptr || !c.access.governs()) return Nfs4Status::kOk;
  if (!c.prepaid) c.prepaid = prepaid_of(c);
  if (c.prepaid->file == c.current->ref && c.prepaid->left.covers(price)) {
    c.prepaid->left -= price;
    return Nfs4Status::kOk;
  }
  // The operation that was waited for pays once.
  if (c.paid_before) {
    c.paid = true;
    c.paid_before = false;
    return Nfs4Status::kOk;
  }
  std::vector<qos::QosClass*> path;
  c.access.find_qos_classes_here(c.call, c.current->ref.id, c.ns, path);
  if (path.empty()) return Nfs4Status::kOk;
  c.paid = c.call.scheduler->admit(path, price);
  return c.paid ? Nfs4Status::kOk : Nfs4Status::kDelay;
}

}  // namespace stoa::nfs4
