// One COMPOUND in progress (RFC 8881 2.3, 16.2): the current and saved filehandle and stateid, and the state that every
// operation needs. An operation is a function `Nfs4Status op_NAME(Compound&)`, one file each.
//
// An operation reads its arguments from `in`, all of them, and asks in.ok() once (kBadXdr when not). It writes its
// result behind the status word, which the loop writes. On an error its result is dropped, unless it sets `error_body =
// true` (SETATTR, LOCK, LOCKT and others whose results have a body for an error).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/api/file_handle.h"
#include "core/api/namespace.h"
#include "core/api/state.h"
#include "frontends/nfs/export_access.h"
#include "frontends/nfs/rpc/program.h"
#include "frontends/nfs/v4/stateid_limits.h"
#include "frontends/nfs/v4/status.h"

namespace stoa::nfs4 {

inline constexpr std::size_t kHandleBytesMax = 128;     // NFS4_FHSIZE
inline constexpr std::uint32_t kIoBytesMax = 1u << 20;  // maxread, maxwrite
inline constexpr std::uint32_t kCopiedReadBytesMax =
    64u << 10;                                            // longer reads may go out without a copy, when they come last
inline constexpr std::uint32_t kListBytesMax = 1u << 20;  // of one READDIR reply
inline constexpr std::size_t kTagBytesMax = 1024;         // of a COMPOUND
inline constexpr std::size_t kCallHeaderBytes = 40;       // of an RPC call without credentials: counts as request

// stateid4 (RFC 8881 3.3.12, 8.2)
struct Stateid {
  std::uint32_t seqid = 0;
  std::array<std::byte, 12> other{};
  bool operator==(const Stateid&) const = default;
};
Stateid read_stateid(rpc::XdrReader& in);
void write_stateid(rpc::XdrWriter& out, const Stateid& stateid);

// The object of a filehandle: a file through an export, or the pseudo root above all exports (scope 0).
struct Handle {
  core::FileRef ref{};
  bool pseudo_root() const { return ref.scope == core::ExportId{}; }
};

class DelegatedWrites;
class Offloads;     // copies that go on in the background
class ClientTable;  // clients, sessions, owners and stateids of NFSv4
class OperationMetrics;
class OwnerTurn;
struct Client;
struct Session;

// The objects that the program was made with.
struct Environment {
  core::Namespace& ns;
  core::StateTable& state;
  const core::HandleCodec& handles;
  ClientTable& clients;
  Offloads* offloads = nullptr;                 // null: every copy is done when it is answered
  OperationMetrics* metrics = nullptr;          // null: not counted
  DelegatedWrites* delegated_writes = nullptr;  // null: there are none
  StateidLimits stateids{};
  std::chrono::seconds lease{90};
  std::uint64_t copy_bytes_max = 16u << 20;  // of one COPY before it is answered
};

class Compound {
 public:
  Compound(const Environment& environment, const nfs::Call& rpc_call, rpc::Reply& rpc_reply)
      : env(environment),
        ns(environment.ns),
        access(rpc_call.scope),
        ctx(access.context()),
        call(rpc_call),
        in(rpc_call.header.arguments),
        out(rpc_reply.out),
        reply(rpc_reply) {}

  const Environment& env;
  core::Namespace& ns;
  nfs::ExportAccess& access;
  core::OpContext& ctx;  // valid once there is a current filehandle that is not the pseudo root
  const nfs::Call& call;
  rpc::XdrReader in;
  rpc::XdrWriter& out;
  rpc::Reply& reply;

  std::uint32_t minor = 0;
  bool last = false;           // no operation follows this one: bytes may leave without a copy (Reply::slices)
  bool error_body = false;     // set by an operation: its output belongs to its error
  Session* session = nullptr;  // of SEQUENCE; null in minor version 0
  // Of the session; in minor version 0 of the clientid or stateid of the operation (caller.h).
  std::shared_ptr<Client> client;
  core::HolderId holder = core::kNoHolder;

  // --- the operation that is being run
  std::uint32_t operation = 0;
  std::span<const std::byte> arguments;   // from its own on
  std::shared_ptr<OwnerTurn> turn;        // minor version 0: of the owner that it numbers (seqid_slot.h)
  core::FileId recalled = core::kNoFile;  // whose lease is in its way
  // The status of an error of the core, by which an operation ends that has changed nothing. Where a lease is in the
  // way, the COMPOUND may wait for it.
  Nfs4Status status_of(const Error& error) {
    if (error.code == Errc::kRecallPending) recalled = core::FileId{error.subject};
    return to_nfs4_status(error.code);
  }

  // The reply will promise that this is durable. False: it cannot.
  bool promise(const core::PendingDurability& pending);
  // The pending durability of this COMPOUND.
  const core::PendingDurability& pending() const { return ctx.pending; }

  // --- prices paid before the call was run, and not used yet (io_price.h)
  struct Prepaid {
    core::FileRef file{};
    qos::Price left{};
  };
  std::optional<Prepaid> prepaid;
  bool paid = false;         // something that was not foreseen
  bool paid_before = false;  // that was paid before the COMPOUND waited for a recall

  // --- filehandles
  std::optional<Handle> current, saved;
  Stateid current_stateid{}, saved_stateid{};
  bool has_current_stateid = false, has_saved_stateid = false;
  // The current filehandle lies in an export that refuses this security flavor. takes_wrong_security() lists the
  // operations allowed with it, and file() returns NFS4ERR_WRONGSEC.
  bool wrong_security = false;
  // Makes `handle` current, under the rules of its export: sets `ctx`. kBadHandle, kStale, kAccess, kWrongSec.
  // kWrongSec is deferred if the next operation reports it itself or returns the right flavors (RFC 8881 2.6.3.1.1).
  Nfs4Status set_current(const Handle& handle);
  // Tells audit that the export does not take the operation that is being run (nfs::ExportAccess::report_refused).
  void report_refused(const core::Export& by) const;
  // Another file of the export of the current filehandle. As with set_current, the current stateid is cleared.
  void set_current_file(const core::Attributes& attr);
  void set_current_stateid(const Stateid& stateid) {
    current_stateid = stateid;
    has_current_stateid = true;
  }
  // The current file. kNoFileHandle; `pseudo_root`: the status for the pseudo root.
  struct File {
    Nfs4Status status;
    core::FileId id;
  };
  File file(Nfs4Status pseudo_root = Nfs4Status::kRoFs);
  // The saved file, for operations on two: kXDev when it lies in another export.
  File saved_file();
  void encode_handle(const core::Attributes& attr);  // as opaque, through the current export

  // Any length that came: too long a name is an error of the operation, not of the encoding.
  std::string_view read_name() { return in.string(~std::size_t{0} >> 1); }
  // change_info4, atomic with the operation.
  void change_info(const core::BeforeAttributes& before, const core::Attributes& after) {
    out.boolean(true);
    out.u64(before.change);
    out.u64(after.change);
  }
};

// Operations that replace the filehandle, that look up a name and return NFS4ERR_WRONGSEC themselves, or that return
// the right flavors (RFC 8881 2.6.3.1.1).
bool takes_wrong_security(std::uint32_t operation);

// Checks a name (RFC 8881 14.5 and the operations): empty is kInval, longer than 255 bytes kNameTooLong, "." and ".."
// kBadName, '/' and NUL kBadChar.
Nfs4Status check_name(std::string_view name);

// Whether this stateid allows the I/O on this file: RFC 8881 8.2.2 to 8.2.5, special stateids included. Sets
// ctx.holder. `write`: kShareWrite is needed, else kShareRead.
Nfs4Status check_io_stateid(Compound& c, const Stateid& stateid, core::FileId file, bool write);

}  // namespace stoa::nfs4
