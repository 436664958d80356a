#include "frontends/s3/qos_gate.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "frontends/http/connections.h"
#include "frontends/s3/op/call.h"

namespace stoa::s3 {
namespace {

// Clients give up after 60 s without an answer, or without progress.
constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(40);
// The bytes that pass then.
constexpr std::uint64_t kLittle = 1024;
// A piece takes at most the amount that a limit grants in this time: a hundred transfers have their turns
// within kPatience.
constexpr std::chrono::nanoseconds kPieceTime = std::chrono::milliseconds(250);
constexpr std::uint64_t kPieceMin = 4096;

// State shared by the waiting thread and the one that resumes it.
struct Turn {
  std::mutex mutex;  // guards `granted`
  std::condition_variable come;
  std::optional<bool> granted;
};

qos::Price price_of(qos::Resource resource, std::uint64_t bytes) {
  return qos::Price{}.add(resource, bytes);
}

}  // namespace

void close_gates(Services& services) {
  services.stopping.store(true);
  if (services.options.scheduler != nullptr) services.options.scheduler->refuse(&services);
}

QosGate::~QosGate() {
  if (!slow_path_.empty()) services_.slow.remove(slow_path_, slow_kind_);
}

void QosGate::enter(const Call& call) {
  if (services_.options.scheduler == nullptr) return;
  registry_ = call.registry;
  ctx_ = call.ctx;
  caller_ = {.protocol = core::Protocol::kS3, .address = call.request.address, .cred = &ctx_.cred};
  if (call.bucket != nullptr) {
    caller_.through = call.bucket->id;
    root_ = call.root();
    key_ = call.route.key;
  }
  find_path();
}

void QosGate::find_path() {
  path_.clear();
  const core::QosTable* const table = registry_->qos_classes();
  if (table == nullptr) return;
  if (table->has_directories() && root_ != core::kNoFile && directories_.empty()) {
    // A directory that is gone is the operation's to tell.
    begin_core_call(ctx_);
    auto above = services_.ns.ancestors(ctx_, {.id = root_, .key = key_});
    if (above) directories_ = std::move(above->directories);
  }
  static constexpr core::FileId kTop[] = {core::kRootId};
  table->find_path(caller_, directories_.empty() ? std::span<const core::FileId>(kTop) : directories_, path_);
}

bool QosGate::holds_back(qos::Resource resource) const {
  return std::ranges::any_of(
      path_, [&](const qos::QosClass* qos_class) { return qos_class->cost(price_of(resource, kPieceMin)) > 0; });
}

std::uint64_t QosGate::piece_of(qos::Resource resource, std::uint64_t bytes) const {
  std::int64_t longest = 0;
  for (const qos::QosClass* qos_class : path_) longest = std::max(longest, qos_class->cost(price_of(resource, bytes)));
  if (longest <= kPieceTime.count()) return bytes;
  const double share = static_cast<double>(kPieceTime.count()) / static_cast<double>(longest);
  return std::min(bytes, std::max(kPieceMin, static_cast<std::uint64_t>(static_cast<double>(bytes) * share)));
}

Outcome<void> QosGate::begin(const qos::Price& price) {
  if (path_.empty()) return {};
  if (!services_.slow.has_room(path_, price.kind())) return refuse(Code::kSlowDown);
  STOA_TRY(passed, wait(price, std::nullopt));
  static_cast<void>(passed);
  return {};
}

Outcome<std::uint64_t> QosGate::go_on(qos::Resource resource, std::uint64_t bytes) {
  if (registry_ == nullptr) return bytes;
  if (auto now = services_.registry.snapshot(); now != registry_) {
    registry_ = std::move(now);
    find_path();
  }
  if (path_.empty()) return bytes;
  const std::uint64_t piece = piece_of(resource, bytes);
  const std::uint64_t little = std::min(piece, kLittle);
  STOA_TRY(passed, wait(price_of(resource, piece), price_of(resource, little)));
  return passed == Passed::kInTime ? piece : little;
}

void QosGate::count_as_slow(qos::Kind kind) {
  if (!slow_path_.empty()) return;
  slow_path_ = path_;
  slow_kind_ = kind;
  for (qos::QosClass* qos_class : slow_path_) slow_qos_classes_.push_back(qos_class->shared_from_this());
  services_.slow.add(slow_path_, slow_kind_);
}

Outcome<QosGate::Passed> QosGate::wait(const qos::Price& price, const std::optional<qos::Price>& late) {
  qos::Scheduler& scheduler = *services_.options.scheduler;
  if (scheduler.admit(path_, price)) return Passed::kInTime;
  count_as_slow(price.kind());
  const auto turn = std::make_shared<Turn>();
  const std::int64_t began = qos::steady_ns();
  const qos::Verdict verdict = scheduler.park(
      path_, price,
      {.deadline = began + kPatience.count(), .at_deadline = late, .owner = &services_, .resume = [turn](bool granted) {
         const std::lock_guard lock(turn->mutex);
         turn->granted = granted;
         turn->come.notify_one();
       }});
  if (verdict == qos::Verdict::kGranted) return Passed::kInTime;
  if (verdict == qos::Verdict::kBusy) return refuse(Code::kSlowDown);
  if (services_.stopping.load()) scheduler.refuse(&services_);
  // The client owes nothing meanwhile.
  const std::int64_t deadline = connection_ != nullptr ? connection_->deadline_ns.exchange(INT64_MAX) : INT64_MAX;
  std::unique_lock lock(turn->mutex);
  turn->come.wait(lock, [&] { return turn->granted.has_value(); });
  const std::int64_t waited = qos::steady_ns() - began;
  if (deadline != INT64_MAX) connection_->deadline_ns.store(deadline + waited);
  if (!*turn->granted) return refuse(Code::kSlowDown);
  // A request granted just in time, but reported late, has paid more than passes now.
  return waited < kPatience.count() ? Passed::kInTime : Passed::kLate;
}

}  // namespace stoa::s3
