#include "backends/kv/rocksdb/info_log.h"

#include <array>
#include <cstdarg>
#include <cstdio>

#include "base/log.h"

namespace stoa::kv {
namespace {

constexpr std::size_t kLineBytesMax = 1024;

class InfoLog final : public rocksdb::Logger {
 public:
  InfoLog() : Logger(rocksdb::WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override { Logv(rocksdb::WARN_LEVEL, format, arguments); }
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel() || level == rocksdb::HEADER_LEVEL) return;
    std::array<char, kLineBytesMax> line;
    std::vsnprintf(line.data(), line.size(), format, arguments);
    log_event(level >= rocksdb::ERROR_LEVEL ? LogLevel::kError : LogLevel::kWarning, "rocksdb", line.data());
  }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> info_log() {
  return std::make_shared<InfoLog>();
}

}  // namespace stoa::kv
