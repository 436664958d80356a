// The files of the audit log: DAY.jsonl and DAY.summary.json in one folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/api/audit_log.h"

namespace stoa::appliance {

struct LogFolder {
  std::string path;
  std::string volume{};  // the label of the one that is asked about; empty: its lines have none
  std::string day_file(std::string_view day) const { return path + "/" + std::string(day) + ".jsonl"; }
  std::string summary_file(std::string_view day) const {
    return path + "/" + std::string(day) + behind_dot() + ".summary.json";
  }
  // What directories held when the present day began (directory_usage.h).
  std::string directories_file() const { return path + "/directories" + behind_dot() + ".lines"; }

  // Whether the line is of the volume.
  bool has(std::string_view line) const;

  // Beside the folder: removing it or restoring an older one leaves this file.
  std::string end_file() const { return path + ".end"; }

  // The days that have a file, oldest first.
  Result<std::vector<std::string>> days() const;

 private:
  std::string behind_dot() const { return volume.empty() ? "" : "." + volume; }
};

// Calls `line` for each complete line of the file, up to `bytes_max` bytes, until it returns false. Returns how many
// bytes there are behind the last complete line (a torn one). kNotFound, kIo.
Result<std::uint64_t> each_line(const std::string& file, std::uint64_t bytes_max,
                                const std::function<bool(std::string_view)>& line);
inline constexpr std::uint64_t kWholeFile = ~std::uint64_t{0};

// The last known end of the log.
struct KnownEnd {
  std::string day;
  std::uint64_t bytes = 0;  // of that day's file
  std::string hash;         // of the last line
};
// Follows the chain through the days, which are all of the folder.
Result<core::AuditVerdict> verify_log(const LogFolder& folder, const std::vector<std::string>& days,
                                      const KnownEnd& end);

Result<core::AuditLines> query_log(const LogFolder& folder, const core::AuditQuery& query);

// The usage of the volume.
struct VolumeUsage {
  std::int64_t bytes = 0;
  std::int64_t files = 0;
};
// The summary of a day as JSON. `directories`: the member of that name (directory_usage.h), or null. `now`: while the
// day goes on.
Result<std::string> summarise(const LogFolder& folder, const std::string& day, std::string_view directories,
                              std::optional<VolumeUsage> now = {});

}  // namespace stoa::appliance
