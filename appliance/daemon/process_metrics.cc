#include "appliance/daemon/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

#include "base/clock.h"

namespace stoa::appliance {
namespace {

double resident_bytes() {
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    long total = 0;
    if (std::fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double folder_entries(const char* path) {
  DIR* folder = opendir(path);
  if (folder == nullptr) return 0;
  double count = -2;  // "." and ".."
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

// One reading of the engine serves a whole scrape: dozens of gauges read a number each.
class EngineNumbers {
 public:
  explicit EngineNumbers(core::KvStore& kv) : kv_(kv) {}
  double get(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now - read_at_ > std::chrono::milliseconds(500)) {
      numbers_.clear();
      for (auto& [key, value] : kv_.statistics()) numbers_.insert_or_assign(key, value);
      read_at_ = now;
    }
    const auto it = numbers_.find(name);
    return it == numbers_.end() ? 0 : it->second;
  }

 private:
  core::KvStore& kv_;
  std::mutex mutex_;  // guards the members below
  std::chrono::steady_clock::time_point read_at_{};
  std::map<std::string, double> numbers_;
};

}  // namespace

void register_process_metrics(MetricRegistry& metrics, const std::string& version) {
  metrics.gauge("stoa_build_info", "Always 1; the label tells the version.", {{"version", version}}).set(1);
  metrics.gauge("stoa_process_start_time_seconds", "When the process started, in seconds since 1970.")
      .set(wall_now().seconds());
  metrics.gauge_callback("stoa_process_resident_memory_bytes", "Memory that the process holds in RAM.", {},
                         resident_bytes);
  metrics.gauge_callback("stoa_process_cpu_seconds", "Processor time used so far, user and system.", {}, cpu_seconds);
  metrics.gauge_callback("stoa_process_open_files", "Open file descriptors.", {},
                         [] { return folder_entries("/proc/self/fd"); });
  metrics.gauge_callback("stoa_process_threads", "Threads.", {}, [] { return folder_entries("/proc/self/task"); });
}

void register_store_metrics(MetricRegistry& metrics, core::KvStore& kv, core::BlobStore& blobs) {
  const auto numbers = std::make_shared<EngineNumbers>(kv);
  for (const auto& [name, value] : kv.statistics()) {
    metrics.gauge_callback("stoa_kv_" + name, "A number of the metadata engine.", {},
                           [numbers, key = name] { return numbers->get(key); });
  }
  metrics.gauge_callback("stoa_blob_space_bytes", "Space of the file systems under the blob directories.",
                         {{"kind", "total"}}, [&blobs] { return static_cast<double>(blobs.space().total); });
  metrics.gauge_callback("stoa_blob_space_bytes", "Space of the file systems under the blob directories.",
                         {{"kind", "free"}}, [&blobs] { return static_cast<double>(blobs.space().free); });
  for (const auto& folder : blobs.health()) {
    metrics.gauge_callback("stoa_blob_directory_healthy", "1 when the blob directory works, 0 when it failed.",
                           {{"path", folder.path}}, [&blobs, path = folder.path] {
                             for (const auto& now : blobs.health()) {
                               if (now.path == path) return now.ok ? 1.0 : 0.0;
                             }
                             return 0.0;
                           });
  }
}

}  // namespace stoa::appliance
