#include "frontends/nfs/mount/program.h"

#include <algorithm>
#include <array>

namespace stoa::mount3 {
namespace {

enum class MountStatus : std::uint32_t {
  kOk = 0,
  kPerm = 1,
  kNoEnt = 2,
  kIo = 5,
  kAccess = 13,
  kNotDir = 20,
  kInval = 22,
  kNameTooLong = 63,
  kNotSupp = 10004,
  kServerFault = 10006,
};

enum : std::uint32_t { kNull = 0, kMnt = 1, kDump = 2, kUmnt = 3, kUmntAll = 4, kExport = 5 };

constexpr std::array<rpc::Procedure, 6> kProcedures{{{"null"}, {"mnt"}, {"dump"}, {"umnt"}, {"umntall"}, {"export"}}};

MountStatus to_mount_status(Errc code) {
  switch (code) {
    case Errc::kNotFound:
    case Errc::kStale:
      return MountStatus::kNoEnt;
    case Errc::kAccess:
      return MountStatus::kAccess;
    case Errc::kNotOwner:
      return MountStatus::kPerm;
    case Errc::kNotDirectory:
      return MountStatus::kNotDir;
    case Errc::kInvalid:
      return MountStatus::kInval;
    case Errc::kNameTooLong:
      return MountStatus::kNameTooLong;
    case Errc::kIo:
    case Errc::kCorrupt:
      return MountStatus::kIo;
    case Errc::kNotSupported:
      return MountStatus::kNotSupp;
    default:
      return MountStatus::kServerFault;
  }
}

rpc::Outcome garbage() {
  return {.accept = rpc::AcceptStatus::kGarbageArguments};
}

}  // namespace

std::span<const rpc::Procedure> MountProgram::procedures() const {
  return kProcedures;
}

rpc::Outcome MountProgram::run(const nfs::Call& call, rpc::Reply& reply) {
  switch (call.header.procedure) {
    case kMnt:
      return mnt(call, reply.out);
    case kDump:
      return dump(reply.out);
    case kUmnt:
      return umnt(call);
    case kUmntAll:
      return umntall(call);
    case kExport:
      return list_exports(call, reply.out);
    default:
      return {};
  }
}

void MountProgram::encode_not_durable(const rpc::CallHeader&, Errc, rpc::XdrWriter& out) {
  out.u32(static_cast<std::uint32_t>(MountStatus::kIo));
}

rpc::Outcome MountProgram::mnt(const nfs::Call& call, rpc::XdrWriter& out) {
  rpc::XdrReader in(call.header.arguments);
  const auto path = in.string(kPathBytesMax);
  if (!in.ok()) return garbage();
  const auto dir = nfs::find_directory(call, ns_, "MNT", path);
  if (!dir) {
    out.u32(static_cast<std::uint32_t>(to_mount_status(dir.error().code)));
    return {.failed = true};
  }
  nfs::ExportAccess& access = call.scope;
  out.u32(static_cast<std::uint32_t>(MountStatus::kOk));
  out.opaque(handles_.encode({dir->id, dir->generation, access.entered().id}));
  // RFC 2623 2.3.1, 2.7: the client goes on with these; the flavor of this call does not matter.
  const auto flavors = nfs::flavors_of(access.entered(), access.rules());
  const bool none = std::ranges::find(flavors, core::SecurityFlavor::kSys) != flavors.end();
  out.u32(static_cast<std::uint32_t>(flavors.size() + (none ? 1 : 0)));
  for (const core::SecurityFlavor flavor : flavors) out.u32(nfs::pseudo_flavor(flavor));
  if (none) out.u32(static_cast<std::uint32_t>(rpc::AuthFlavor::kNone));
  mounts_.add({call.peer.text, std::string(path)});
  return {};
}

rpc::Outcome MountProgram::dump(rpc::XdrWriter& out) {
  for (const MountEntry& entry : mounts_.entries()) {
    out.boolean(true);
    out.string(entry.client);
    out.string(entry.path);
  }
  out.boolean(false);
  return {};
}

rpc::Outcome MountProgram::umnt(const nfs::Call& call) {
  rpc::XdrReader in(call.header.arguments);
  const auto path = in.string(kPathBytesMax);
  if (!in.ok()) return garbage();
  mounts_.remove({call.peer.text, std::string(path)});
  return {};
}

rpc::Outcome MountProgram::umntall(const nfs::Call& call) {
  mounts_.remove_all(call.peer.text);
  return {};
}

rpc::Outcome MountProgram::list_exports(const nfs::Call& call, rpc::XdrWriter& out) {
  nfs::ExportAccess& access = call.scope;
  for (const core::Export& entry : access.snapshot().exports()) {
    if (!entry.nfs) continue;
    out.boolean(true);
    out.string("/" + entry.name);
    for (const core::ClientRule& rule : entry.clients) {
      out.boolean(true);
      out.string(rule.network.to_text());
    }
    out.boolean(false);
  }
  out.boolean(false);
  return {};
}

}  // namespace stoa::mount3
