// A sender of audit log lines to a syslog server (RFC 5424 over UDP, RFC 5426) or to that of this machine (/dev/log).
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/metrics.h"

namespace stoa::appliance {

// Thread-safe. Never blocks the caller: lines beyond the queue, or refused by the network, are dropped and counted.
class SyslogSender {
 public:
  static constexpr std::size_t kQueuedMax = 8192;

  // `where`: "local", or ADDRESS:PORT. kInvalid.
  static Result<std::unique_ptr<SyslogSender>> open(const std::string& where, MetricRegistry& metrics);
  ~SyslogSender();

  void offer(std::string_view time, std::string_view line);

 private:
  SyslogSender(std::string where, bool local, MetricRegistry& metrics);
  void send_all(const std::stop_token& stop);
  bool connect();

  const std::string where_;
  const bool local_;
  std::string host_;
  Counter& dropped_;
  int fd_ = -1;       // of the sending thread
  std::mutex mutex_;  // guards the queue
  std::condition_variable_any offered_;
  std::deque<std::string> queue_;
  std::jthread sender_;
};

}  // namespace stoa::appliance
