#include "frontends/native/server/push_channels.h"

#include <sys/socket.h>

#include <algorithm>
#include <ranges>

#include "frontends/native/server/native_protocol.h"
#include "frontends/wire/connection.h"

namespace stoa::native {

void PushChannels::add(const std::weak_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  std::erase_if(channels_, [](const auto& known) { return known.expired(); });
  if (channels_.size() >= kPushChannelsMax) channels_.erase(channels_.begin());
  channels_.push_back(connection);
}

PushChannels::Sent PushChannels::send(std::span<const std::byte> frame) {
  std::vector<std::weak_ptr<Connection>> channels;
  {
    const std::lock_guard lock(mutex_);
    channels = channels_;
  }
  Sent sent = Sent::kNoChannel;
  for (const auto& known : std::views::reverse(channels)) {
    const auto channel = known.lock();
    if (channel == nullptr || channel->closed.load() || channel->end_of_input.load()) continue;
    if (channel->output.backlog_high()) {
      sent = Sent::kLater;
      continue;
    }
    if (channel->send(frame)) return Sent::kYes;
    // Broken: its worker closes it when it hears of that.
    ::shutdown(channel->fd, SHUT_RDWR);
  }
  return sent;
}

}  // namespace stoa::native
