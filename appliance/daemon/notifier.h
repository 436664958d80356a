// The service protocol of systemd (sd_notify(3)), spoken over its socket without its library.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace stoa::appliance {

// Does nothing when the process was not started by a service manager.
class Notifier {
 public:
  Notifier();  // reads and clears NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID
  void ready(std::string_view status) const;
  void reloading() const;
  void stopping() const;
  void alive() const;  // feeds the watchdog
  // The interval for calls of alive(), with a margin of two; empty when there is no watchdog.
  std::optional<std::chrono::milliseconds> watchdog_period() const { return watchdog_period_; }

 private:
  void send(const std::string& state) const;

  std::string socket_;
  std::optional<std::chrono::milliseconds> watchdog_period_;
};

}  // namespace stoa::appliance
