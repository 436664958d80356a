#include "frontends/admin/check_job.h"

#include "base/log.h"
#include "frontends/admin/sentences.h"

namespace stoa::admin {

CheckJob::~CheckJob() {
  if (thread_.joinable()) thread_.join();
}

Status CheckJob::start(bool read_data) {
  const std::lock_guard lock(mutex_);
  if (snapshot_.state == State::kRunning) return fail(Cause::kCheckRuns);
  if (thread_.joinable()) thread_.join();  // It has left run(), as the state shows.
  done_ = 0;
  total_ = 0;
  snapshot_ = {.state = State::kRunning, .read_data = read_data, .started = wall_now()};
  thread_ = std::thread([this, read_data] { run(read_data); });
  return {};
}

void CheckJob::run(bool read_data) {
  log_info("check", "started", {{"read_data", read_data}});
  core::CheckOptions options{.read_data = read_data};
  options.progress = [this](std::uint64_t done, std::uint64_t total) {
    done_.store(done, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  };
  auto report = volume_.check(options);

  const std::lock_guard lock(mutex_);
  snapshot_.finished = wall_now();
  if (report) {
    snapshot_.state = State::kDone;
    snapshot_.report = *std::move(report);
    log_event(snapshot_.report.ok() ? LogLevel::kInfo : LogLevel::kError, "check", "finished",
              {{"inodes", snapshot_.report.inodes}, {"problems", snapshot_.report.problem_count}});
  } else {
    snapshot_.state = State::kFailed;
    snapshot_.error = sentence(report.error());
    log_error("check", "failed", {{"error", describe(report.error())}});
  }
}

CheckJob::Snapshot CheckJob::snapshot() const {
  const std::lock_guard lock(mutex_);
  Snapshot copy = snapshot_;
  copy.done = done_.load(std::memory_order_relaxed);
  copy.total = total_.load(std::memory_order_relaxed);
  return copy;
}

}  // namespace stoa::admin
