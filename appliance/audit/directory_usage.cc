#include "appliance/audit/directory_usage.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ranges>
#include <set>

#include "appliance/audit/audit_line.h"
#include "appliance/data_folder/small_file.h"

namespace stoa::appliance {
namespace {

constexpr std::size_t kMost = 100;  // in one report
constexpr mode_t kUsageFileMode = 0600;

std::string members(const DirectoryUsage& one) {
  return "\"bytes\":" + std::to_string(one.bytes) + ",\"files\":" + std::to_string(one.files) + "," + one.path;
}

Result<std::set<core::FileId>> looked_after(core::Volume& volume) {
  std::set<core::FileId> ids;
  const auto registry = volume.registry().snapshot();
  for (const core::Export& one : registry->exports()) ids.insert(one.root);
  if (registry->audit() != nullptr) {
    for (const core::AuditPolicy& policy : registry->audit()->policies()) ids.insert(policy.directory);
  }
  if (registry->recycle() != nullptr) {
    for (const auto& [dir, policy] : registry->recycle()->policies()) ids.insert(dir);
  }
  for (core::ListQuotasRequest request;;) {
    STOA_TRY(page, volume.ns().list_quotas({}, request));
    for (const core::QuotaRecord& quota : page.quotas) ids.insert(quota.dir);
    if (!page.truncated || page.quotas.empty()) return ids;
    request.after = page.quotas.back().dir;
  }
}

}  // namespace

Result<std::vector<DirectoryUsage>> directories_now(core::Volume& volume, const std::vector<DirectoryUsage>& before) {
  STOA_TRY(ids, looked_after(volume));
  std::map<core::FileId, std::string> known;
  for (const DirectoryUsage& one : before) {
    ids.insert(one.id);
    known.emplace(one.id, one.path);
  }
  std::vector<DirectoryUsage> all;
  all.reserve(ids.size());
  for (const core::FileId id : ids) {
    const auto used = volume.ns().usage({}, {.dir = id});
    const auto path = volume.ns().path_of({}, {id});
    if (used && path) {
      all.push_back({id, json_bytes("path", path->path), static_cast<std::int64_t>(core::bytes_of(used->usage)),
                     static_cast<std::int64_t>(used->usage.files)});
      continue;
    }
    for (const auto* reply_error : {used ? nullptr : &used.error(), path ? nullptr : &path.error()}) {
      if (reply_error != nullptr && reply_error->code != Errc::kStale && reply_error->code != Errc::kNotFound)
        return fail(*reply_error);
    }
    if (const auto was = known.find(id); was != known.end()) all.push_back({id, was->second});
  }
  return all;
}

Result<DayBegin> read_day_begin(const LogFolder& folder) {
  DayBegin begin;
  const auto read = each_line(folder.directories_file(), kWholeFile, [&](std::string_view line) {
    if (begin.day.empty()) {
      begin.day = text_of(line, "day").value_or("");
      return is_day(begin.day);
    }
    const std::size_t path = line.find("\"path\":");
    const auto id = number_of(line, "id"), bytes = number_of(line, "bytes"), files = number_of(line, "files");
    if (path == std::string_view::npos || !line.ends_with('}') || !id || !bytes || !files) return true;
    begin.directories.push_back({core::FileId{*id}, std::string(line.substr(path, line.size() - path - 1)),
                                 static_cast<std::int64_t>(*bytes), static_cast<std::int64_t>(*files)});
    return true;
  });
  if (!read && read.error().code != Errc::kNotFound) return fail(read.error());
  if (!is_day(begin.day)) return DayBegin{};
  return begin;
}

Status keep_day_begin(const LogFolder& folder, const DayBegin& begin) {
  std::string text = "{\"day\":" + json_text(begin.day) + "}\n";
  for (const DirectoryUsage& one : begin.directories) {
    text.append("{\"id\":")
        .append(std::to_string(static_cast<std::uint64_t>(one.id)))
        .append(",")
        .append(members(one))
        .append("}\n");
  }
  return write_small_file(folder.directories_file(), text, kUsageFileMode);
}

std::string growth_json(const std::vector<DirectoryUsage>& before, const std::vector<DirectoryUsage>& now) {
  std::map<core::FileId, const DirectoryUsage*> known;
  for (const DirectoryUsage& one : before) known.emplace(one.id, &one);
  struct Grown {
    const DirectoryUsage* now;
    bool told;  // its growth
    std::int64_t bytes, files;
  };
  std::vector<Grown> all;
  for (const DirectoryUsage& one : now) {
    const auto was = known.find(one.id);
    const bool told = was != known.end();
    all.push_back({&one, told, told ? one.bytes - was->second->bytes : 0, told ? one.files - was->second->files : 0});
  }
  // Equal ones by directory, the oldest first.
  std::ranges::sort(all, std::ranges::greater(), [](const Grown& one) {
    return std::tuple(one.told, std::llabs(one.bytes), std::llabs(one.files), ~static_cast<std::uint64_t>(one.now->id));
  });
  std::string text = "{\"total\":" + std::to_string(all.size()) + ",\"most\":[";
  const char* comma = "";
  for (const Grown& one : all | std::views::take(kMost)) {
    text.append(comma).append("{").append(members(*one.now)).append(",\"growth\":");
    if (one.told) {
      text.append("{\"bytes\":")
          .append(std::to_string(one.bytes))
          .append(",\"files\":")
          .append(std::to_string(one.files))
          .append("}");
    } else {
      text.append("null");
    }
    text += '}';
    comma = ",";
  }
  return text + "]}";
}

}  // namespace stoa::appliance
