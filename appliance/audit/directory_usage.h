// How much is in the directories that somebody looks after, and how that grew: for the report of a day.
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

// Each directory that has a quota, a policy of audit or of the recycle bin, or is the root of an export; and those of
// `before`, where they are gone as empty. By id. Blocks as long as that takes: a look at each.
Result<std::vector<DirectoryUsage>> directories_now(core::Volume& volume, const std::vector<DirectoryUsage>& before);

// What was when a day began: one file in the folder of the log, that of the present day.
struct DayBegin {
  std::string day;  // empty: there is none
  std::vector<DirectoryUsage> directories;
};
Result<DayBegin> read_day_begin(const LogFolder& folder);
Status keep_day_begin(const LogFolder& folder, const DayBegin& begin);

// The member "directories" of the report: those that grew or shrank most.
std::string growth_json(const std::vector<DirectoryUsage>& before, const std::vector<DirectoryUsage>& now);

}  // namespace stoa::appliance
