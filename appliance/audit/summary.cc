#include <algorithm>
#include <map>
#include <ranges>

#include "appliance/audit/audit_line.h"
#include "appliance/audit/log_folder.h"

namespace stoa::appliance {
namespace {

constexpr std::size_t kTop = 10;
// Listed separately in a report; more users are in the totals only.
constexpr std::size_t kUsersMax = 100'000;

// Counts by user, where the key is the JSON of the user as in the lines.
class Ranking {
 public:
  void add(std::string_view user, std::uint64_t count) {
    if (count == 0) return;
    total_ += count;
    const auto known = counts_.find(user);
    if (known != counts_.end()) {
      known->second += count;
    } else if (counts_.size() < kUsersMax) {
      counts_.emplace(user, count);
    }
  }
  std::uint64_t total() const { return total_; }
  // `amount`: name of the count.
  std::string json(std::string_view amount = "count") const {
    std::vector<std::pair<std::uint64_t, std::string_view>> sorted;
    for (const auto& [user, count] : counts_) sorted.emplace_back(count, user);
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::string text = "[";
    for (const auto& [count, user] : sorted | std::views::take(kTop)) {
      text.append(text.size() > 1 ? "," : "")
          .append("{\"user\":")
          .append(user)
          .append(",\"")
          .append(amount)
          .append("\":")
          .append(std::to_string(count))
          .append("}");
    }
    return text + "]";
  }

 private:
  std::map<std::string, std::uint64_t, std::less<>> counts_;
  std::uint64_t total_ = 0;
};

std::string_view user_of(std::string_view line) {
  constexpr std::string_view kUser = "\"user\":";
  const std::size_t at = line.find(kUser);
  if (at == std::string_view::npos) return "null";
  const std::string_view rest = line.substr(at + kUser.size());
  return rest.substr(0, rest.find('}') + 1);
}

// "users":[{"user":{..},"read":1,"written":2},..]
void add_transfers(std::string_view line, Ranking& read, Ranking& written) {
  constexpr std::string_view kOne = "{\"user\":";
  for (std::size_t at = line.find(kOne); at != std::string_view::npos; at = line.find(kOne, at + 1)) {
    const std::string_view one = line.substr(at);
    read.add(user_of(one), number_of(one, "read").value_or(0));
    written.add(user_of(one), number_of(one, "written").value_or(0));
  }
}

}  // namespace

Result<std::string> summarise(const LogFolder& folder, const std::string& day, std::string_view directories,
                              std::optional<VolumeUsage> now) {
  Ranking users, deletes, denials, bytes_read, bytes_written;
  std::map<std::string, std::uint64_t, std::less<>> operations;
  std::uint64_t lost = 0;
  std::optional<VolumeUsage> begin, end;
  const auto read = each_line(folder.day_file(day), kWholeFile, [&](std::string_view line) {
    if (!folder.has(line)) return true;
    const std::string_view operation = text_of(line, "operation").value_or("");
    if (const auto bytes = number_of(line, "bytes")) {
      end = {static_cast<std::int64_t>(*bytes), static_cast<std::int64_t>(number_of(line, "files").value_or(0))};
      if (!begin) begin = end;
    }
    const auto result = text_of(line, "result");
    if (operation == "transferred") add_transfers(line, bytes_read, bytes_written);
    if (operation == "lost") lost += number_of(line, "count").value_or(0);
    if (!result) return true;  // bookkeeping
    const std::uint64_t count = operation == "omitted" ? number_of(line, "count").value_or(0) : 1;
    const std::string_view user = user_of(line);
    if (*result != "ok") {
      denials.add(user, count);
      return true;
    }
    users.add(user, count);
    const auto known = operations.find(operation);
    if (known != operations.end()) {
      ++known->second;
    } else {
      operations.emplace(operation, 1);
    }
    if (operation == "remove" || operation == "rmdir") deletes.add(user, 1);
    return true;
  });
  if (!read) return fail(read.error());
  if (now) end = now;
  std::string by_operation = "{";
  for (const auto& [operation, count] : operations) {
    by_operation.append(by_operation.size() > 1 ? "," : "")
        .append(json_text(operation))
        .append(":")
        .append(std::to_string(count));
  }
  std::string text = "{\"day\":" + json_text(day) + ",\"records\":" + std::to_string(users.total() + denials.total()) +
                     ",\"operations\":" + by_operation + "},\"users\":" + users.json() +
                     ",\"deletes\":{\"total\":" + std::to_string(deletes.total()) + ",\"users\":" + deletes.json() +
                     "},\"denials\":{\"total\":" + std::to_string(denials.total()) + ",\"users\":" + denials.json() +
                     "},\"written\":{\"total\":" + std::to_string(bytes_written.total()) +
                     ",\"users\":" + bytes_written.json("bytes") +
                     "},\"read\":{\"total\":" + std::to_string(bytes_read.total()) +
                     ",\"users\":" + bytes_read.json("bytes") + "},\"lost\":" + std::to_string(lost) + ",\"growth\":";
  if (begin) {
    text += "{\"bytes\":" + std::to_string(end->bytes - begin->bytes) +
            ",\"files\":" + std::to_string(end->files - begin->files) + "}";
  } else {
    text += "null";
  }
  return text.append(",\"directories\":").append(directories).append("}");
}

}  // namespace stoa::appliance
