#include "appliance/daemon/notifier.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/log.h"

namespace stoa::appliance {

Notifier::Notifier() {
  if (const char* socket = std::getenv("NOTIFY_SOCKET"); socket != nullptr && (socket[0] == '/' || socket[0] == '@'))
    socket_ = socket;
  const char* period = std::getenv("WATCHDOG_USEC");
  const char* pid = std::getenv("WATCHDOG_PID");
  const bool for_us = pid == nullptr || std::strtol(pid, nullptr, 10) == getpid();
  if (period != nullptr && for_us) {
    const long long microseconds = std::strtoll(period, nullptr, 10);
    if (microseconds > 0) watchdog_period_ = std::chrono::milliseconds(std::max(1LL, microseconds / 2000));
  }
  // A child must not speak for us.
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
}

void Notifier::send(const std::string& state) const {
  if (socket_.empty()) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = 0;  // the abstract namespace (unix(7))
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  if (sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address), size) < 0) {
    log_warning("service", "the service manager could not be told",
                {{"state", state}, {"error", std::strerror(errno)}});
  }
  close(fd);
}

void Notifier::ready(std::string_view status) const {
  send("READY=1\nSTATUS=" + std::string(status) + "\nMAINPID=" + std::to_string(getpid()));
}

void Notifier::reloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long microseconds = now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

void Notifier::stopping() const {
  send("STOPPING=1");
}
void Notifier::alive() const {
  send("WATCHDOG=1");
}

}  // namespace stoa::appliance
