#include "frontends/nfs/v4/compound.h"

#include <algorithm>

#include "frontends/nfs/v4/operation_table.h"

namespace stoa::nfs4 {

bool takes_wrong_security(std::uint32_t operation) {
  enum : std::uint32_t {
    kLookup = 15,
    kLookupp = 16,
    kOpen = 18,
    kPutfh = 22,
    kPutpubfh = 23,
    kPutrootfh = 24,
    kRestorefh = 31,
    kSecinfo = 33,
    kSecinfoNoName = 52,
  };
  switch (operation) {
    case kLookup:
    case kLookupp:
    case kOpen:
    case kPutfh:
    case kPutpubfh:
    case kPutrootfh:
    case kRestorefh:
    case kSecinfo:
    case kSecinfoNoName:
      return true;
    default:
      return false;
  }
}

Stateid read_stateid(rpc::XdrReader& in) {
  Stateid stateid{.seqid = in.u32()};
  const auto other = in.fixed(stateid.other.size());
  std::ranges::copy(other, stateid.other.begin());
  return stateid;
}

void write_stateid(rpc::XdrWriter& out, const Stateid& stateid) {
  out.u32(stateid.seqid);
  out.fixed(stateid.other);
}

Nfs4Status Compound::set_current(const Handle& handle) {
  if (!handle.pseudo_root()) {
    if (const Status entered = access.enter(call, handle.ref.scope); !entered) {
      if (entered.error().code == Errc::kAccess) report_refused(*access.snapshot().find_export(handle.ref.scope));
      return to_nfs4_status(entered.error().code);
    }
    ctx.holder = holder;
    wrong_security = !access.flavor_allowed();
    rpc::XdrReader next = in;
    if (wrong_security && !last && !takes_wrong_security(next.u32())) return Nfs4Status::kWrongSec;
  } else {
    wrong_security = false;
  }
  current = handle;
  has_current_stateid = false;
  return Nfs4Status::kOk;
}

void Compound::report_refused(const core::Export& by) const {
  const OperationEntry* entry = find_operation(operation, minor);
  access.report_refused(call, ns, by, "nfs4 " + std::string(entry != nullptr ? entry->name : "") + " /" + by.name);
}

void Compound::set_current_file(const core::Attributes& attr) {
  current = Handle{{attr.id, attr.generation, access.entered().id}};
  has_current_stateid = false;
}

bool Compound::promise(const core::PendingDurability& pending) {
  if (call.pending == nullptr) return pending.empty() || ns.sync({}, pending).has_value();
  ctx.pending.merge(pending);
  return true;
}

Compound::File Compound::file(Nfs4Status pseudo_root) {
  if (!current) return {Nfs4Status::kNoFileHandle, core::kNoFile};
  if (current->pseudo_root()) return {pseudo_root, core::kNoFile};
  if (wrong_security) return {Nfs4Status::kWrongSec, core::kNoFile};
  return {Nfs4Status::kOk, current->ref.id};
}

Compound::File Compound::saved_file() {
  if (!current || !saved) return {Nfs4Status::kNoFileHandle, core::kNoFile};
  if (saved->ref.scope != current->ref.scope) return {Nfs4Status::kXDev, core::kNoFile};
  if (saved->pseudo_root()) return {Nfs4Status::kRoFs, core::kNoFile};
  return {Nfs4Status::kOk, saved->ref.id};
}

void Compound::encode_handle(const core::Attributes& attr) {
  out.opaque(env.handles.encode({attr.id, attr.generation, access.entered().id}));
}

Nfs4Status check_name(std::string_view name) {
  if (name.empty()) return Nfs4Status::kInval;
  if (name.size() > core::kNameBytesMax) return Nfs4Status::kNameTooLong;
  if (name == "." || name == "..") return Nfs4Status::kBadName;
  if (name.find('/') != name.npos || name.find('\0') != name.npos) return Nfs4Status::kBadChar;
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4
