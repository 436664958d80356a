#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <mutex>

#include "base/clock.h"

namespace stoa {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};
std::mutex g_mutex;  // guards g_fd against a change of file while a line is written
int g_fd = STDERR_FILENO;

constexpr std::string_view kLevelNames[] = {"debug", "info", "warning", "error"};

void append_value(std::string& line, std::string_view value) {
  bool plain = !value.empty();
  for (const char c : value) {
    const auto u = static_cast<unsigned char>(c);
    if (u <= ' ' || u == '"' || u == '=' || u == '\\' || u == 0x7f) plain = false;
  }
  if (plain) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      line += '\\';
      line += c;
    } else if (u < 0x20 || u == 0x7f) {  // a client's bytes must not forge lines
      constexpr char kHex[] = "0123456789abcdef";
      line += "\\x";
      line += kHex[u >> 4];
      line += kHex[u & 15];
    } else {
      line += c;
    }
  }
  line += '"';
}

}  // namespace

bool log_enabled(LogLevel level) {
  return level >= g_level.load(std::memory_order_relaxed);
}
void set_log_level(LogLevel level) {
  g_level.store(level, std::memory_order_relaxed);
}

Status set_log_file(const std::string& path) {
  int fd = STDERR_FILENO;
  if (!path.empty()) {
    fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0) return fail_errno(errno, "open log file " + path);
  }
  const std::lock_guard lock(g_mutex);
  if (g_fd != STDERR_FILENO) close(g_fd);
  g_fd = fd;
  return {};
}

void log_event(LogLevel level, std::string_view component, std::string_view message,
               std::initializer_list<LogField> fields) {
  if (!log_enabled(level)) return;
  const Timestamp now = wall_now();
  const std::time_t seconds = now.seconds();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char stamp[64];
  const std::size_t length = std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%06uZ", now.nanoseconds() / 1000);

  std::string line = "time=";
  line.append(stamp, length).append(fraction);
  line.append(" level=").append(kLevelNames[static_cast<std::size_t>(level)]);
  line.append(" component=").append(component);
  line += " msg=";
  append_value(line, message);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    append_value(line, field.value);
  }
  line += '\n';

  const std::lock_guard lock(g_mutex);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t n = write(g_fd, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // A full log disk must not stop the server.
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace stoa
