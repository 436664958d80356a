// The connections of a session over which the server may speak unasked.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace stoa::wire {
template <class P>
class Connection;
}

namespace stoa::native {

struct NativeProtocol;

inline constexpr std::size_t kPushChannelsMax = 16;  // of one session; the oldest are not used beyond it

// Thread-safe; nothing here blocks.
class PushChannels {
 public:
  using Connection = wire::Connection<NativeProtocol>;
  enum class Sent : unsigned char { kYes, kLater, kNoChannel };

  void add(const std::weak_ptr<Connection>& connection);
  // Over the newest that takes it. kLater: those that are up have replies to take first.
  Sent send(std::span<const std::byte> frame);

 private:
  std::mutex mutex_;  // guards channels_; not held while something is sent
  std::vector<std::weak_ptr<Connection>> channels_;
};

}  // namespace stoa::native
