#include "frontends/s3/flow_gate.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "frontends/s3/http/connections.h"
#include "frontends/s3/op/call.h"

namespace stoa::s3 {
namespace {

// Clients give up after 60 s without an answer, or without progress.
constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(40);

// What the thread that waits and the one that resumes it share.
struct Turn {
  std::mutex mutex;  // guards `granted`
  std::condition_variable come;
  std::optional<bool> granted;
};

}  // namespace

void close_gates(Services& services) {
  services.stopping.store(true);
  if (services.options.scheduler != nullptr) services.options.scheduler->refuse(&services);
}

void FlowGate::enter(const Call& call) {
  const core::FlowTable* table = call.registry->flows();
  if (services_.options.scheduler == nullptr || table == nullptr) return;
  std::vector<core::FileId> directories{core::kRootId};
  if (table->has_directories() && call.bucket != nullptr) {
    // A directory that is gone is the operation's to tell.
    auto above = call.ns().ancestors(call.ctx, {.id = call.root(), .key = call.route.key});
    if (above) directories = std::move(above->directories);
  }
  core::FlowCaller caller{.door = core::Door::kS3, .address = call.request.address, .cred = &call.ctx.cred};
  if (call.bucket != nullptr) caller.through = call.bucket->id;
  table->find_path(caller, directories, path_);
  for (qos::Flow* flow : path_) flows_.push_back(flow->shared_from_this());
}

Outcome<void> FlowGate::begin(const qos::Price& price) { return wait(price, false); }
Outcome<void> FlowGate::go_on(const qos::Price& price) { return wait(price, true); }

Outcome<void> FlowGate::wait(const qos::Price& price, bool pass_at_last) {
  if (path_.empty()) return {};
  qos::Scheduler& scheduler = *services_.options.scheduler;
  if (scheduler.admit(path_, price)) return {};
  const auto turn = std::make_shared<Turn>();
  const std::int64_t began = qos::steady_ns();
  const qos::Verdict verdict = scheduler.park(path_, price,
                                              {.deadline = began + kPatience.count(),
                                               .grant_at_deadline = pass_at_last,
                                               .owner = &services_,
                                               .resume = [turn](bool granted) {
                                                 const std::lock_guard lock(turn->mutex);
                                                 turn->granted = granted;
                                                 turn->come.notify_one();
                                               }});
  if (verdict == qos::Verdict::kGranted) return {};
  if (verdict == qos::Verdict::kBusy) return refuse(Code::kSlowDown);
  if (services_.stopping.load()) scheduler.refuse(&services_);
  // The client owes nothing meanwhile.
  const std::int64_t deadline = connection_ != nullptr ? connection_->deadline_ns.exchange(INT64_MAX) : INT64_MAX;
  std::unique_lock lock(turn->mutex);
  turn->come.wait(lock, [&] { return turn->granted.has_value(); });
  if (deadline != INT64_MAX) connection_->deadline_ns.store(deadline + (qos::steady_ns() - began));
  if (!*turn->granted) return refuse(Code::kSlowDown);
  return {};
}

}  // namespace stoa::s3
