#include "backends/kv/rocksdb/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.h"

namespace stoa::kv {
namespace {

constexpr std::int64_t kLookPeriodNs = 20'000'000;
constexpr auto kTakeBackPeriod = std::chrono::seconds(1);
constexpr std::uint64_t kPieceBytes = 1u << 20;  // given away at least

// Coarse: read for each change that grows.
std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace

std::uint64_t file_system_bytes(const std::string& path) {
  struct statvfs info{};
  if (::statvfs(path.c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.f_blocks) * info.f_frsize;
}

DiskReserve::DiskReserve(const std::string& folder, const SpacePlan& plan)
    : folder_(folder), path_(folder + "/RESERVE"), plan_(plan) {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  {
    const std::lock_guard lock(mutex_);
    struct stat info{};
    // The reserve of an earlier run. The blocks that a file system did not give are no reserve.
    if (fd_ >= 0 && ::fstat(fd_, &info) == 0)
      held_ = std::min<std::uint64_t>(static_cast<std::uint64_t>(info.st_size),
                                      static_cast<std::uint64_t>(info.st_blocks) * 512);
    if (held_ > plan_.reserve()) resize_locked(plan_.reserve());
    measure_locked();
    const std::uint64_t spare = free_ > 2 * plan_.margin() ? free_ - 2 * plan_.margin() : 0;
    if (held_ < plan_.reserve() && spare > 0) resize_locked(std::min(plan_.reserve(), held_ + spare));
    look_locked();
  }
  keeper_ = std::jthread([this](const std::stop_token& stop) { keep_whole(stop); });
}

DiskReserve::~DiskReserve() {
  keeper_.request_stop();
  if (keeper_.joinable()) keeper_.join();
  if (fd_ >= 0) ::close(fd_);
}

bool DiskReserve::resize_locked(std::uint64_t to) {
  if (fd_ < 0) return false;
  if (to < held_) {
    if (::ftruncate(fd_, static_cast<off_t>(to)) != 0) return false;
    // Journaling file systems give freed blocks out again only when that is in their log.
    ::fsync(fd_);
  } else if (::fallocate(fd_, 0, 0, static_cast<off_t>(to)) != 0) {
    can_hold_ = errno != EOPNOTSUPP;
    if (::ftruncate(fd_, static_cast<off_t>(held_)) != 0)
      log_warning("rocksdb", "the reserve could not be cut", {{"file", path_}});
    return false;
  }
  held_ = to;
  return true;
}

void DiskReserve::measure_locked() {
  struct statvfs info{};
  if (::statvfs(folder_.c_str(), &info) != 0) return;
  total_ = static_cast<std::uint64_t>(info.f_blocks) * info.f_frsize;
  free_ = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

void DiskReserve::look_locked() {
  measure_locked();
  const bool was_low = low_.load(std::memory_order_relaxed);
  const bool whole = held_ >= plan_.reserve() || !can_hold_;
  const bool low = !whole || free_ < (was_low ? 2 : 1) * plan_.margin();
  if (low == was_low) return;
  low_.store(low, std::memory_order_release);
  if (low) {
    log_warning("rocksdb", "the disk of the metadata is nearly full; nothing may grow",
                {{"folder", folder_}, {"free", free_}, {"reserve", held_}});
    wanted_.notify_all();
  } else {
    log_info("rocksdb", "the disk of the metadata has room again", {{"folder", folder_}, {"free", free_}});
  }
}

bool DiskReserve::make_room(std::uint64_t bytes, Urgency urgency) {
  const std::lock_guard lock(mutex_);
  look_locked();
  const std::uint64_t needed = promised_.load(std::memory_order_relaxed) + bytes;
  // A compaction leaves the free space to the others, too.
  if (urgency == Urgency::kCompaction && free_ + held_ < needed + plan_.recovery()) return false;
  // Other processes may take freed space before it is used: then more is freed.
  for (std::uint64_t piece = kPieceBytes; free_ < needed + kPieceBytes && held_ != 0; piece *= 2) {
    const std::uint64_t missing = needed + kPieceBytes - free_;
    if (!resize_locked(held_ - std::min(held_, std::max(missing, piece)))) break;
    look_locked();
  }
  if (free_ < needed) return false;
  promised_.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

bool DiskReserve::has_room() {
  const std::int64_t now = now_ns();
  std::int64_t due = look_due_.load(std::memory_order_relaxed);
  if (now >= due && look_due_.compare_exchange_strong(due, now + kLookPeriodNs, std::memory_order_relaxed)) {
    const std::lock_guard lock(mutex_);
    look_locked();
  }
  return !low_.load(std::memory_order_acquire);
}

DiskReserve::State DiskReserve::state() {
  const std::lock_guard lock(mutex_);
  look_locked();
  return {.total = total_,
          .free = free_,
          .held = held_,
          .wanted = plan_.reserve(),
          .low = low_.load(std::memory_order_relaxed)};
}

bool DiskReserve::wait_until_low(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wanted_.wait(lock, stop, [this] { return low_.load(std::memory_order_relaxed); });
  return !stop.stop_requested();  // a wait whose condition holds does not report a stop
}

void DiskReserve::keep_whole(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wanted_.wait(lock, stop, [this] { return low_.load(std::memory_order_relaxed); }) && !stop.stop_requested()) {
    look_locked();
    const std::uint64_t spare = free_ > plan_.margin() ? free_ - plan_.margin() : 0;
    if (held_ < plan_.reserve() && spare >= kPieceBytes)
      resize_locked(std::min(plan_.reserve(), held_ + spare / kPieceBytes * kPieceBytes));
    look_locked();
    // Only while the disk is full: at rest the thread sleeps.
    wanted_.wait_for(lock, stop, kTakeBackPeriod, [] { return false; });
  }
}

}  // namespace stoa::kv
