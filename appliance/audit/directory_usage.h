// Usage of managed directories, and its growth: for the daily report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "appliance/audit/log_folder.h"
#include "core/volume/volume.h"

namespace stoa::appliance {

struct DirectoryUsage {
  core::FileId id = core::kNoFile;
  std::string path;  // as members of a JSON object: "path":"/a"
  std::int64_t bytes = 0;
  std::int64_t files = 0;
};

// Each directory that has a quota, an audit or recycle policy, or is the root of an export; and those of `before`, as
// empty when they are gone. By id. Blocks as long as that takes: a look at each.
Result<std::vector<DirectoryUsage>> directories_now(core::Volume& volume, const std::vector<DirectoryUsage>& before);

// The state at the begin of a day: one file in the folder of the log, for the present day.
struct DayBegin {
  std::string day;  // empty: there is none
  std::vector<DirectoryUsage> directories;
};
Result<DayBegin> read_day_begin(const LogFolder& folder);
Status keep_day_begin(const LogFolder& folder, const DayBegin& begin);

// The member "directories" of the report: those that grew or shrank most.
std::string growth_json(const std::vector<DirectoryUsage>& before, const std::vector<DirectoryUsage>& now);

}  // namespace stoa::appliance
