#include "frontends/nfs/nlm/program.h"

#include "frontends/nfs/nlm/status.h"

namespace stoa::nlm {
namespace {

using rpc::CostClass;

enum : std::uint32_t {
  kNull = 0,
  kTest,
  kLock,
  kCancel,
  kUnlock,
  kGranted,
  kTestMsg,
  kLockMsg,
  kCancelMsg,
  kUnlockMsg,
  kGrantedMsg,
  kTestRes,
  kLockRes,
  kCancelRes,
  kUnlockRes,
  kGrantedRes,
  kShare = 20,
  kUnshare,
  kNonMonitoredLock,
  kFreeAll,
};
constexpr std::uint32_t kMsgToRes = kTestRes - kTestMsg;
constexpr std::uint32_t kMsgToCall = kTestMsg - kTest;

constexpr bool kOnce = false;
constexpr std::array<rpc::Procedure, 24> kProcedures{{
    {"null"},
    {"test"},
    {"lock", kOnce},
    {"cancel", kOnce},
    {"unlock", kOnce},
    {"granted"},
    {"test_msg"},
    {"lock_msg", kOnce},
    {"cancel_msg", kOnce},
    {"unlock_msg", kOnce},
    {"granted_msg"},
    {"test_res"},
    {"lock_res"},
    {"cancel_res"},
    {"unlock_res"},
    {"granted_res"},
    {},
    {},
    {},
    {},
    {"share", kOnce},
    {"unshare", kOnce},
    {"nm_lock", kOnce},
    {"free_all", kOnce},
}};

constexpr std::chrono::seconds kKeeperPeriod{1};

std::string owner_name(std::uint32_t svid, Netobj owner) {
  std::string name(4, '\0');
  rpc::store_be32(reinterpret_cast<std::byte*>(name.data()), svid);
  return name.append(reinterpret_cast<const char*>(owner.data()), owner.size());
}

// Length 0 reaches to the end. kFileTooBig: beyond 2^64-1.
Result<core::LockRange> range_of(const LockArguments& lock) {
  if (lock.length == 0) return core::LockRange{lock.offset, core::LockRange::kToEnd};
  if (lock.length - 1 > ~std::uint64_t{0} - lock.offset) return fail(Errc::kFileTooBig);
  return core::LockRange{lock.offset, lock.length};
}

}  // namespace

NlmProgram::NlmProgram(core::Namespace& ns, core::StateTable& state, const core::HandleCodec& handles,
                       rpc::RemoteCaller& caller, EndExpired end_expired, MetricRegistry& metrics,
                       std::function<Clock::time_point()> clock)
    : ns_(ns),
      state_(state),
      handles_(handles),
      caller_(caller),
      end_expired_(std::move(end_expired)),
      waiting_(state, caller, metrics),
      hosts_(
          state, waiting_, [this](const HostRef& host) { waiting_.drop(host); }, std::move(clock)),
      keeper_([this](const std::stop_token& stop) { keep(stop); }) {
  metrics.gauge_callback("stoa_nfs_lock_hosts", "NFSv3 clients that the lock manager knows", {},
                         [this] { return static_cast<double>(hosts_.size()); });
}

void NlmProgram::keep(const std::stop_token& stop) {
  std::unique_lock sleep(keeper_mutex_);
  while (!keeper_wake_.wait_for(sleep, stop, kKeeperPeriod, [&] { return stop.stop_requested(); })) {
    waiting_.call_due(Clock::now());
    if (waiting_.any()) state_.retry_waits();
    for (const HostRef& host : hosts_.look_after()) look_for(host);
  }
}

void NlmProgram::look_for(const HostRef& host) {
  if (connected_ && connected_(host->address)) return hosts_.heard_of(*host);
  const auto before = hosts_.called_now(*host);
  const bool sent =
      caller_.call({.address = host->address, .program = kNlmProgram, .version = kNlmVersion, .procedure = kNull},
                   [this, host](const Result<std::span<const std::byte>>& answer) {
                     if (answer) hosts_.heard_of(*host);
                   });
  if (!sent) host->called = before;  // it had no chance to answer
}

void NlmProgram::know_connections(std::function<bool(const Address&)> connected) {
  const std::lock_guard lock(keeper_mutex_);
  connected_ = std::move(connected);
}

std::span<const rpc::Procedure> NlmProgram::procedures() const {
  return kProcedures;
}

rpc::CostClass NlmProgram::cost_class(const rpc::CallHeader& header) const {
  switch (header.procedure) {
    case kLock:
    case kLockMsg:
    case kNonMonitoredLock:
    case kShare:
    case kFreeAll:
      return CostClass::kChange;  // a record of a client is written, or removed
    default:
      return CostClass::kMemory;
  }
}

void NlmProgram::encode_not_durable(const rpc::CallHeader& header, Errc, rpc::XdrWriter& out) {
  if (header.procedure != kLock && header.procedure != kNonMonitoredLock && header.procedure != kShare) return;
  rpc::XdrReader in(header.arguments);
  write_answer(out, in.opaque(kNetobjBytesMax), NlmStatus::kFailed);
  if (header.procedure == kShare) out.u32(0);
}

rpc::Outcome NlmProgram::run(const nfs::Call& call, rpc::Reply& reply) {
  constexpr rpc::Outcome kGarbage{.accept = rpc::AcceptStatus::kGarbageArguments};
  const std::uint32_t procedure = call.header.procedure;
  rpc::XdrReader in(call.header.arguments);
  if (procedure < kTestMsg || procedure > kGrantedMsg)
    return run(procedure, call, in, reply.out) ? rpc::Outcome{} : kGarbage;

  // The reply is empty; the results go back in a call of our own.
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  if (!run(procedure - kMsgToCall, call, in, out)) return kGarbage;
  if (!deserves_answer(call)) return {};
  const auto results = buffer.bytes();
  (void)caller_.call({.address = call.peer.address,
                      .program = kNlmProgram,
                      .version = kNlmVersion,
                      .procedure = procedure + kMsgToRes,
                      .arguments = {results.begin(), results.end()},
                      .answer = true},
                     [](const auto&) {});  // lost, as any message may be: the client asks again
  return {};
}

bool NlmProgram::deserves_answer(const nfs::Call& message) {
  if (hosts_.any_at(message.peer.address)) return true;
  rpc::XdrReader in(message.header.arguments);
  Request asked;
  switch (message.header.procedure) {
    case kLockMsg:
      asked = read_lock(in);
      break;
    case kCancelMsg:
      asked = read_cancel(in);
      break;
    case kUnlockMsg:
      asked = read_unlock(in);
      break;
    default:
      asked = read_test(in);
  }
  const auto file = handles_.decode(asked.lock.handle);
  return file && message.scope.enter(message, file->scope);
}

bool NlmProgram::run(std::uint32_t procedure, const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out) {
  switch (procedure) {
    case kTest:
      return test(call, in, out);
    case kLock:
      return lock(call, in, out, true);
    case kCancel:
      return cancel(call, in, out);
    case kUnlock:
      return unlock(call, in, out);
    case kGranted:
      return granted(in, out);
    case kShare:
      return share(call, in, out, true);
    case kUnshare:
      return share(call, in, out, false);
    case kNonMonitoredLock:
      return lock(call, in, out, false);
    case kGrantedRes: {
      const Answer answer = read_answer(in);
      if (in.ok() && answer.cookie.size() == 8) {
        rpc::XdrReader cookie(answer.cookie);
        waiting_.answered(call.peer.address, cookie.u64(), answer.status);
      }
      return in.ok();
    }
    case kFreeAll: {
      const Notification told = read_notification(in);
      if (in.ok()) hosts_.free(call.peer.address, told.name, told.state);
      return in.ok();
    }
    default:
      return true;  // NULL, and unexpected results
  }
}

std::string NlmProgram::request_of(const nfs::Call& call, const core::Export& of) {
  return "nlm4 " + std::string(kProcedures[call.header.procedure].name) + " /" + of.name;
}

Result<core::FileId> NlmProgram::lockable(const nfs::Call& call, Netobj handle, std::uint32_t wanted, bool reclaim) {
  STOA_TRY(ref, handles_.decode(handle));
  nfs::ExportAccess& access = call.scope;
  if (const Status entered = access.enter(call, ref.scope); !entered) {
    if (entered.error().code == Errc::kAccess) {
      const core::Export& by = *access.snapshot().find_export(ref.scope);
      access.report_refused(call, ns_, by, request_of(call, by));
    }
    return fail(entered.error());
  }
  const auto refuse = [&](Errc why, std::string_view reason) {
    access.report_refused(call, ns_, request_of(call, access.entered()), reason);
    return fail(why);
  };
  core::OpContext& ctx = access.context();
  if (ctx.read_only && (wanted & ~core::kAccessRead) != 0)
    return refuse(Errc::kReadOnly, "the export is read-only for this client");
  constexpr std::uint32_t kContent = core::kAccessRead | core::kAccessModify | core::kAccessExtend;
  STOA_TRY(reply, ns_.access(ctx, {.id = ref.id, .wanted = kContent}));
  if (reply.attr.type != core::FileType::kRegular) return fail(Errc::kWrongType);
  // Lock managers use AUTH_SYS regardless of the mount's flavor. Where that is not trusted, rights of the claimed
  // user mean nothing; the user whose machine locks the file was checked when it opened the file. A lock is
  // advisory, and gives no access to the content.
  if (!access.flavor_allowed()) return ref.id;
  // A client that has the file open may lock it, and we do not know how and when it was opened. So any access to the
  // content will do, and the owner needs none (as for reading and writing).
  if (reply.granted == 0 && ctx.cred.uid != reply.attr.uid && !reclaim)
    return refuse(Errc::kAccess, "the user may neither read nor write the file");
  return ref.id;
}

NlmStatus NlmProgram::check_grace(const nfs::Call& call, std::string_view caller_name, bool reclaim) {
  const bool grace = state_.in_grace();
  if (!reclaim) return grace ? NlmStatus::kDeniedGracePeriod : NlmStatus::kGranted;
  return grace && hosts_.may_reclaim(call.peer.address, caller_name) ? NlmStatus::kGranted : NlmStatus::kDenied;
}

Result<HostRef> NlmProgram::enrol(const nfs::Call& call, std::string_view caller_name, std::uint32_t monitor_state,
                                  bool monitored) {
  const HostRef host = hosts_.get(call.peer.address, caller_name, monitor_state);
  if (host == nullptr) return fail(Errc::kBusy, "too many clients of the lock manager");
  if (monitored) STOA_CHECK_OK(hosts_.remember(host));
  return host;
}

// --- TEST

bool NlmProgram::test(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out) {
  const Request asked = read_test(in);
  if (!in.ok()) return false;
  std::optional<core::HeldLock> held;
  const NlmStatus status = test(call, asked, held);
  write_answer(out, asked.cookie, status);
  if (status != NlmStatus::kDenied) return true;
  out.boolean(held->exclusive);
  const bool ours = hosts_.find(held->owner.holder) != nullptr;
  const auto* const name = reinterpret_cast<const std::byte*>(held->owner.name.data());
  out.u32(ours ? rpc::load_be32(name) : 0);
  out.opaque(ours ? std::span(name, held->owner.name.size()).subspan(4) : Netobj{});
  out.u64(held->range.offset);
  out.u64(held->range.length == core::LockRange::kToEnd ? 0 : held->range.length);
  return true;
}

NlmStatus NlmProgram::test(const nfs::Call& call, const Request& asked, std::optional<core::HeldLock>& held) {
  const auto file = lockable(call, asked.lock.handle, core::kAccessRead, false);
  if (!file) return to_nlm_status(file.error().code);
  const auto range = range_of(asked.lock);
  if (!range) return to_nlm_status(range.error().code);
  if (state_.in_grace()) return NlmStatus::kDeniedGracePeriod;
  const HostRef host = hosts_.find(call.peer.address, asked.lock.caller_name);
  const core::LockOwner owner{host == nullptr ? core::kNoHolder : host->holder,
                              owner_name(asked.lock.svid, asked.lock.owner)};
  for (;;) {
    const auto tested = state_.test_lock(*file, owner, *range, asked.exclusive);
    if (!tested) return to_nlm_status(tested.error().code);
    if (!tested->has_value()) return NlmStatus::kGranted;
    if (end_expired_.with_lock((*tested)->owner.holder)) continue;
    held = *tested;
    return NlmStatus::kDenied;
  }
}

// --- LOCK, NM_LOCK

bool NlmProgram::lock(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out, bool monitored) {
  const Request asked = read_lock(in);
  if (!in.ok()) return false;
  write_answer(out, asked.cookie, lock(call, asked, monitored));
  return true;
}

NlmStatus NlmProgram::lock(const nfs::Call& call, const Request& asked, bool monitored) {
  const auto file =
      lockable(call, asked.lock.handle, asked.exclusive ? core::kAccessModify : core::kAccessRead, asked.reclaim);
  if (!file) return to_nlm_status(file.error().code);
  const auto range = range_of(asked.lock);
  if (!range) return to_nlm_status(range.error().code);
  if (const NlmStatus now = check_grace(call, asked.lock.caller_name, asked.reclaim); now != NlmStatus::kGranted)
    return now;
  const auto host = enrol(call, asked.lock.caller_name, asked.state, monitored);
  if (!host) return to_nlm_status(host.error().code);
  const core::LockRequest wanted{
      *file, {(*host)->holder, owner_name(asked.lock.svid, asked.lock.owner)}, *range, asked.exclusive};
  if (asked.block) {
    for (;;) {
      const auto held = state_.test_lock(wanted.file, wanted.owner, wanted.range, wanted.exclusive);
      if (!held || !held->has_value() || !end_expired_.with_lock((*held)->owner.holder)) break;
    }
    return waiting_.ask(*host, wanted, asked.lock);
  }
  for (;;) {
    const auto held = waiting_.lock(wanted);
    if (!held) return to_nlm_status(held.error().code);
    if (!held->has_value()) return NlmStatus::kGranted;
    if (!end_expired_.with_lock((*held)->owner.holder)) return NlmStatus::kDenied;
  }
}

// --- CANCEL, UNLOCK: returning a lock is always allowed, regardless of changed export rules.

bool NlmProgram::cancel(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out) {
  const Request asked = read_cancel(in);
  if (!in.ok()) return false;
  const auto file = handles_.decode(asked.lock.handle);
  const auto range = range_of(asked.lock);
  const HostRef host = hosts_.find(call.peer.address, asked.lock.caller_name);
  NlmStatus status = NlmStatus::kDenied;
  if (!file || !range) {
    status = to_nlm_status(!file ? file.error().code : range.error().code);
  } else if (host != nullptr) {
    const core::LockOwner owner{host->holder, owner_name(asked.lock.svid, asked.lock.owner)};
    if (waiting_.cancel({file->id, owner, *range, asked.exclusive})) status = NlmStatus::kGranted;
  }
  write_answer(out, asked.cookie, status);
  return true;
}

bool NlmProgram::unlock(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out) {
  const Request asked = read_unlock(in);
  if (!in.ok()) return false;
  const auto file = handles_.decode(asked.lock.handle);
  const auto range = range_of(asked.lock);
  const HostRef host = hosts_.find(call.peer.address, asked.lock.caller_name);
  NlmStatus status = NlmStatus::kGranted;
  if (!file || !range) {
    status = to_nlm_status(!file ? file.error().code : range.error().code);
  } else if (host != nullptr) {
    const core::LockOwner owner{host->holder, owner_name(asked.lock.svid, asked.lock.owner)};
    if (const Status unlocked = waiting_.unlock({file->id, owner, *range}); !unlocked)
      status = to_nlm_status(unlocked.error().code);
  }
  write_answer(out, asked.cookie, status);
  return true;
}

// We never wait for a lock of another server.
bool NlmProgram::granted(rpc::XdrReader& in, rpc::XdrWriter& out) {
  const Request asked = read_test(in);
  if (!in.ok()) return false;
  write_answer(out, asked.cookie, NlmStatus::kDenied);
  return true;
}

// --- SHARE, UNSHARE

bool NlmProgram::share(const nfs::Call& call, rpc::XdrReader& in, rpc::XdrWriter& out, bool wanted) {
  const ShareRequest asked = read_share(in);
  if (!in.ok()) return false;
  write_answer(out, asked.cookie, wanted ? share(call, asked) : unshare(call, asked));
  out.u32(0);  // sequence: means nothing any more
  return true;
}

NlmStatus NlmProgram::share(const nfs::Call& call, const ShareRequest& asked) {
  // Their bits are those of the core. Without any access there is nothing to hold.
  if (asked.access == core::kShareNone) return NlmStatus::kFailed;
  const bool writes = (asked.access & core::kShareWrite) != 0;
  const auto file = lockable(call, asked.handle, writes ? core::kAccessModify : core::kAccessRead, asked.reclaim);
  if (!file) return to_nlm_status(file.error().code);
  // Unlike a lock it blocks opens of the file, so the caller must be authenticated.
  nfs::ExportAccess& access = call.scope;
  if (!access.flavor_allowed()) {
    access.report_refused(call, ns_, access.entered(), request_of(call, access.entered()));
    return to_nlm_status(Errc::kAccess);
  }
  if (const NlmStatus now = check_grace(call, asked.caller_name, asked.reclaim); now != NlmStatus::kGranted) return now;
  const auto host = enrol(call, asked.caller_name, 0, true);
  if (!host) return to_nlm_status(host.error().code);
  const std::pair key{*file, owner_name(0, asked.owner)};
  for (bool again = false;; again = true) {
    Errc refused{};
    {
      const std::lock_guard lock((*host)->mutex);
      const auto known = (*host)->shares.find(key);
      if (known != (*host)->shares.end()) {
        const Status changed = state_.change_open(known->second, asked.access, asked.deny);
        if (changed) return NlmStatus::kGranted;
        refused = changed.error().code;
      } else if ((*host)->shares.size() >= Hosts::kSharesPerHost) {
        return NlmStatus::kDeniedNoLocks;
      } else {
        const auto opened = state_.open({*file, (*host)->holder, asked.access, asked.deny});
        if (opened) {
          (*host)->shares.emplace(key, *opened);
          return NlmStatus::kGranted;
        }
        refused = opened.error().code;
      }
    }
    if (again || refused != Errc::kShareConflict || !end_expired_.of_file(*file)) return to_nlm_status(refused);
  }
}

NlmStatus NlmProgram::unshare(const nfs::Call& call, const ShareRequest& asked) {
  const auto file = handles_.decode(asked.handle);
  if (!file) return to_nlm_status(file.error().code);
  const HostRef host = hosts_.find(call.peer.address, asked.caller_name);
  if (host == nullptr) return NlmStatus::kGranted;
  core::OpenId open{};
  {
    const std::lock_guard lock(host->mutex);
    const auto known = host->shares.find({file->id, owner_name(0, asked.owner)});
    if (known == host->shares.end()) return NlmStatus::kGranted;
    open = known->second;
    host->shares.erase(known);
  }
  state_.close(open);
  return NlmStatus::kGranted;
}

}  // namespace stoa::nlm
