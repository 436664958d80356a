#include "appliance/audit/syslog_sender.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "appliance/config/endpoint.h"

namespace stoa::appliance {
namespace {

// RFC 5424 6.2.1: facility 13 (log audit), severity 6 (informational).
constexpr std::string_view kPriority = "<110>1 ";

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == 0) return "-";
  return name;
}

}  // namespace

Result<std::unique_ptr<SyslogSender>> SyslogSender::open(const std::string& where, MetricRegistry& metrics) {
  const bool local = where == "local";
  if (!local) STOA_CHECK_OK(parse_endpoint(where));
  return std::unique_ptr<SyslogSender>(new SyslogSender(where, local, metrics));
}

SyslogSender::SyslogSender(std::string where, bool local, MetricRegistry& metrics)
    : where_(std::move(where)),
      local_(local),
      host_(host_name()),
      dropped_(metrics.counter("stoa_audit_syslog_dropped_total", "Lines of the audit log that syslog did not take")),
      sender_([this](const std::stop_token& stop) { send_all(stop); }) {}

SyslogSender::~SyslogSender() {
  sender_.request_stop();
  sender_.join();
  if (fd_ >= 0) close(fd_);
}

void SyslogSender::offer(std::string_view time, std::string_view line) {
  // RFC 5424 6.2.3 allows six digits of a second.
  std::string message(kPriority);
  message.append(time.substr(0, 26))
      .append("Z ")
      .append(host_)
      .append(" stoad ")
      .append(std::to_string(getpid()))
      .append(" audit - ")
      .append(line);
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= kQueuedMax) {
    dropped_.add();
    return;
  }
  queue_.push_back(std::move(message));
  offered_.notify_one();
}

bool SyslogSender::connect() {
  if (fd_ >= 0) return true;
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (local_) {
    auto* address = reinterpret_cast<sockaddr_un*>(&storage);
    address->sun_family = AF_UNIX;
    std::strcpy(address->sun_path, "/dev/log");
    size = sizeof *address;
  } else {
    const auto endpoint = parse_endpoint(where_);
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    if (inet_pton(AF_INET, endpoint->host.c_str(), &v4->sin_addr) == 1) {
      v4->sin_family = AF_INET;
      v4->sin_port = htons(endpoint->port);
      size = sizeof *v4;
    } else if (inet_pton(AF_INET6, endpoint->host.c_str(), &v6->sin6_addr) == 1) {
      v6->sin6_family = AF_INET6;
      v6->sin6_port = htons(endpoint->port);
      size = sizeof *v6;
    }
  }
  fd_ = socket(storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd_ >= 0 && ::connect(fd_, reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    close(fd_);
    fd_ = -1;
  }
  return fd_ >= 0;
}

void SyslogSender::send_all(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    // Lines queued at the stop are still sent; nothing below waits for the other side.
    if (!offered_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
    const std::string message = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (!connect() || ::send(fd_, message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      dropped_.add();
      if (fd_ >= 0) close(fd_);
      fd_ = -1;  // the server of this machine may have been started anew
    }
    lock.lock();
  }
}

}  // namespace stoa::appliance
