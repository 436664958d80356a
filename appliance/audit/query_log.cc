#include <set>

#include "appliance/audit/audit_line.h"
#include "appliance/audit/log_folder.h"

namespace stoa::appliance {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;

// Records of the log about itself; shown only when asked for by name.
bool is_bookkeeping(std::string_view operation) {
  return operation == "begin" || operation == "day" || operation == "checkpoint" || operation == "expire" ||
         operation == "transferred";
}

// Lines and the query are escaped alike, so that they can be compared directly.
std::string escaped(std::string_view value) {
  const std::string text = json_text(value);
  return text.substr(1, text.size() - 2);
}

class Filter {
 public:
  explicit Filter(const core::AuditQuery& query) : query_(query) {
    if (query.path) path_ = escaped(*query.path);
    while (path_.ends_with('/')) path_.pop_back();
    if (query.user) user_ = escaped(*query.user);
    if (query.from) from_ = iso_time(*query.from);
    if (query.to) to_ = iso_time(*query.to);
  }

  bool matches(std::string_view line) const {
    const std::string_view operation = text_of(line, "operation").value_or("");
    if (query_.operation ? !is_asked_for(operation) : is_bookkeeping(operation)) return false;
    if (query_.protocol && text_of(line, "protocol") != *query_.protocol) return false;
    if (query_.result && !has_result(text_of(line, "result").value_or(""))) return false;
    if (query_.user && text_of(line, "name") != user_ &&
        std::to_string(number_of(line, "uid").value_or(~0ull)) != *query_.user)
      return false;
    const std::string_view time = text_of(line, "time").value_or("");
    if ((query_.from && time < from_) || (query_.to && time >= to_)) return false;
    return !query_.path || is_below(text_of(line, "path").value_or("")) ||
           is_below(text_of(line, "to_path").value_or(""));
  }

 private:
  bool is_asked_for(std::string_view operation) const {
    if (*query_.operation != "delete") return operation == *query_.operation;
    return operation == "remove" || operation == "rmdir" || operation == "purge";
  }
  bool has_result(std::string_view result) const {
    return *query_.result == "denied" ? result != "ok" : result == *query_.result;
  }
  bool is_below(std::string_view path) const {
    return path.starts_with(path_) && (path.size() == path_.size() || path[path_.size()] == '/') && !path.empty();
  }

  const core::AuditQuery& query_;
  std::string path_, user_, from_, to_;
};

}  // namespace

Result<core::AuditLines> query_log(const LogFolder& folder, const core::AuditQuery& query) {
  core::AuditLines found;
  const Filter filter(query);
  STOA_TRY(days, folder.days());
  std::uint64_t last = 0;
  for (const std::string& day : days) {
    // A record is in the file of its day, or in the next if it was written after midnight.
    if (query.from && day < day_of(*query.from)) continue;
    if (query.to && day > day_of({query.to->ns + kDayNs})) break;
    const auto read = each_line(folder.day_file(day), kWholeFile, [&](std::string_view line) {
      if (!folder.has(line)) return true;
      const std::uint64_t sequence = number_of(line, "sequence").value_or(0);
      // Lines before the first record of the journal have no sequence to go on behind: they are on the first page.
      if ((query.after != 0 && sequence <= query.after) || !filter.matches(line)) return true;
      // Lines of one sequence stay together, or the rest of them would be skipped.
      if (found.lines.size() >= query.limit && sequence != last && last != 0) {
        found.next = last;
        return false;
      }
      found.lines.emplace_back(line);
      last = sequence;
      return true;
    });
    if (!read) return fail(read.error());
    if (found.next) break;
  }
  return found;
}

}  // namespace stoa::appliance
