#include "frontends/nfs/nsm/restart_notice.h"

#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "frontends/nfs/nsm/program.h"

namespace stoa::nsm {
namespace {

constexpr std::chrono::seconds kPauseMax{30};
constexpr std::chrono::milliseconds kTick{500};
constexpr int kRefusedMax = 16;  // in one round: it may have been for their hosts alone

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

RestartNotice::RestartNotice(std::vector<Address> clients, std::uint32_t state, rpc::RemoteCaller& caller)
    : state_(state), caller_(caller) {
  std::ranges::sort(clients);
  const auto same = std::ranges::unique(clients);
  clients.erase(same.begin(), same.end());
  const std::string name = host_name();
  for (const Address& client : clients) {
    if (const auto address = rpc::local_address_towards(client)) notices_.push_back({client, *address});
    notices_.push_back({client, name});
  }
  if (!notices_.empty()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void RestartNotice::run(const std::stop_token& stop) {
  const auto end = Clock::now() + kTime;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto now = Clock::now();
    const auto left = static_cast<std::size_t>(std::ranges::count(notices_, false, &Notice::told));
    if (left == 0) return;
    if (now >= end) {
      log_warning("nsm", "some clients could not be told that their locks have to be reclaimed", {{"notices", left}});
      return;
    }
    call_due(now);
    if (wake_.wait_for(lock, stop, kTick, [&] { return stop.stop_requested(); })) return;
  }
}

void RestartNotice::call_due(Clock::time_point now) {
  std::vector<Notice*> due;
  for (Notice& notice : notices_) {
    if (!notice.told && !notice.under_way && now >= notice.due) due.push_back(&notice);
  }
  std::ranges::sort(due, {}, &Notice::due);
  int refused = 0;
  for (Notice* const notice : due) {
    if (call(*notice)) {
      notice->under_way = true;
    } else if (++refused == kRefusedMax) {
      return;
    }
  }
}

bool RestartNotice::call(Notice& notice) {
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.string(notice.from);
  out.u32(state_);
  return caller_.call({.address = notice.to,
                       .program = kNsmProgram,
                       .version = kNsmVersion,
                       .procedure = kNotifyProcedure,
                       .arguments = {buffer.bytes().begin(), buffer.bytes().end()}},
                      [this, &notice](const Result<std::span<const std::byte>>& reply) {
                        const std::lock_guard guard(mutex_);
                        notice.under_way = false;
                        notice.told = reply.has_value();
                        notice.due = Clock::now() + notice.pause;
                        notice.pause = std::min(notice.pause * 2, kPauseMax);
                      });
}

}  // namespace stoa::nsm
