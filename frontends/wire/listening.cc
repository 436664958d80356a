#include "frontends/wire/listening.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.h"

namespace stoa::wire {

Listening::~Listening() {
  for (const Listener& listener : listeners_) ::close(listener.fd);
}

Status Listening::listen(const std::vector<Endpoint>& endpoints) {
  for (const Endpoint& endpoint : endpoints) {
    STOA_TRY(listener, listen_tcp(endpoint));
    listeners_.push_back(listener);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.u64 = kFirstKey + listeners_.size() - 1;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, listener.fd, &event) != 0) return fail_errno(errno, "epoll of a listener");
  }
  return {};
}

std::vector<std::uint16_t> Listening::ports() const {
  std::vector<std::uint16_t> ports;
  for (const Listener& listener : listeners_) ports.push_back(listener.port);
  return ports;
}

void Listening::arm(std::size_t index) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = kFirstKey + index;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, listeners_[index].fd, &event);  // Fails once it was stopped.
}

bool Listening::accept(std::uint64_t key, const std::function<void(int fd)>& admit) {
  constexpr int kAcceptsMax = 64;  // then others get a turn
  const std::size_t index = key - kFirstKey;
  bool paused = false;
  for (int i = 0; i < kAcceptsMax; ++i) {
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return true;
    }
    const int fd = accept4(listeners_[index].fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      admit(fd);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    paused = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (paused) log_warning(name_, "no descriptors left to accept a connection", {{"errno", errno}});
    break;
  }
  if (!paused) {
    arm(index);
    return true;
  }
  // To try at once would spin.
  const std::lock_guard lock(mutex_);
  paused_.push_back(index);
  return false;
}

bool Listening::paused() const {
  const std::lock_guard lock(mutex_);
  return !paused_.empty();
}

void Listening::resume() {
  std::vector<std::size_t> paused;
  {
    const std::lock_guard lock(mutex_);
    paused.swap(paused_);
  }
  for (const std::size_t index : paused) arm(index);
}

void Listening::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const Listener& listener : listeners_) epoll_ctl(epoll_, EPOLL_CTL_DEL, listener.fd, nullptr);
}

}  // namespace stoa::wire
