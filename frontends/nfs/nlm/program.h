// NLM version 4 as an RPC program: byte-range locks and share reservations of NFSv3 clients, in the table of all
// protocols.
#pragma once

#include <condition_variable>

#include "base/metrics.h"
#include "core/api/file_handle.h"
#include "core/api/namespace.h"
#include "frontends/nfs/export_access.h"
#include "frontends/nfs/nlm/hosts.h"
#include "frontends/nfs/nlm/messages.h"
#include "frontends/nfs/nlm/waiting_locks.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::nlm {

class NlmProgram final : public nfs::Program {
 public:
  // Ends expired clients of other versions: true when there were any.
  struct EndExpired {
    std::function<bool(core::FileId)> of_file;      // that have state of it
    std::function<bool(core::HolderId)> with_lock;  // this one
  };
  // The dialer of `caller` must have been stopped before this goes.
  // `clock`: for the activity of clients; null: the steady clock.
  NlmProgram(core::Namespace& ns, core::StateTable& state, const core::HandleCodec& handles, rpc::RemoteCaller& caller,
             EndExpired end_expired, MetricRegistry& metrics, std::function<Clock::time_point()> clock = nullptr);

  Hosts& hosts() { return hosts_; }
  // A client with a connection is alive, and need not be called; null: unknown. When it returns, the previous function
  // is not used any more.
  void know_connections(std::function<bool(const Address&)> connected);

  std::uint32_t number() const override { return kNlmProgram; }
  std::string_view name() const override { return "nlm4"; }
  std::uint32_t version_low() const override { return kNlmVersion; }
  std::uint32_t version_high() const override { return kNlmVersion; }
  std::span<const rpc::Procedure> procedures() const override;
  rpc::CostClass cost_class(const rpc::CallHeader& header) const override;
  rpc::Outcome run(const nfs::Call& call, rpc::Reply& reply) override;
  void encode_not_durable(const rpc::CallHeader& header, Errc why, rpc::XdrWriter& out) override;

 private:
  // The procedures, as far as they are the same with and without a reply of their own: arguments in, results out.
  bool test(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out);
  bool lock(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out, bool monitored);
  bool cancel(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out);
  bool unlock(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out);
  bool granted(rpc::XdrReader& in, rpc::XdrWriter& out);
  bool share(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out, bool wanted);
  bool run(std::uint32_t procedure, const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out);

  // An answer to a message is a call, and a forged datagram can direct it to any address. So it goes only to known
  // hosts, and to those that a rule of the handle's export admits.
  bool deserves_answer(const nfs::Call& message);

  NlmStatus test(const nfs::Call& call, const Request& asked, std::optional<core::HeldLock>& held);
  NlmStatus lock(const nfs::Call& call, const Request& asked, bool monitored);
  NlmStatus share(const nfs::Call& call, const ShareRequest& asked);
  NlmStatus unshare(const nfs::Call& call, const ShareRequest& asked);

  // A description for audit.
  static std::string request_of(const nfs::Call& call, const core::Export& of);
  // The file to lock, under the rules of the export that the handle names. Also for callers without the flavor that the
  // export requires (ExportAccess::flavor_allowed()): their claims then count for nothing.
  Result<core::FileId> lockable(const nfs::Call& call, Netobj handle, std::uint32_t access, bool reclaim);
  // kGranted: the request may be made now.
  NlmStatus check_grace(const nfs::Call& call, std::string_view caller_name, bool reclaim);
  // The host, recorded when it is monitored.
  Result<HostRef> enrol(const nfs::Call& call, std::string_view caller_name, std::uint32_t monitor_state,
                        bool monitored);
  void keep(const std::stop_token& stop);
  // Looks for a sign of life. By the keeper.
  void look_for(const HostRef& host);

  core::Namespace& ns_;
  core::StateTable& state_;
  const core::HandleCodec& handles_;
  rpc::RemoteCaller& caller_;
  const EndExpired end_expired_;
  WaitingLocks waiting_;
  Hosts hosts_;

  std::mutex keeper_mutex_;  // guards connected_; held while the keeper works
  std::function<bool(const Address&)> connected_;
  std::condition_variable_any keeper_wake_;
  std::jthread keeper_;  // last: it goes first
};

}  // namespace stoa::nlm
