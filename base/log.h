// Structured log lines: one line an event, logfmt, to standard error (which systemd hands to the journal) or a file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

// One key=value of a line. Values are quoted where needed.
struct LogField {
  std::string_view key;
  std::string value;
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  template <class Integer>
    requires std::is_integral_v<Integer>
  LogField(std::string_view k, Integer v) : key(k), value(std::to_string(v)) {}
};

// Thread-safe; never throws. `component` is a front end or a core module ("nfs", "s3", "gc").
void log_event(LogLevel level, std::string_view component, std::string_view message,
               std::initializer_list<LogField> fields = {});

inline void log_debug(std::string_view c, std::string_view m, std::initializer_list<LogField> f = {}) {
  log_event(LogLevel::kDebug, c, m, f);
}
inline void log_info(std::string_view c, std::string_view m, std::initializer_list<LogField> f = {}) {
  log_event(LogLevel::kInfo, c, m, f);
}
inline void log_warning(std::string_view c, std::string_view m, std::initializer_list<LogField> f = {}) {
  log_event(LogLevel::kWarning, c, m, f);
}
inline void log_error(std::string_view c, std::string_view m, std::initializer_list<LogField> f = {}) {
  log_event(LogLevel::kError, c, m, f);
}

// True when a line of this level would be written; lets hot paths skip building fields.
bool log_enabled(LogLevel level);
void set_log_level(LogLevel level);

// Sends the log to `path` (appended, mode 0640) instead of standard error; empty: standard error. Call again with
// the same path after the file was rotated. Error: the file cannot be opened; the old target stays.
Status set_log_file(const std::string& path);

}  // namespace stoa
