#include "frontends/native/mount/process_status.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "frontends/native/fuse/owned_fd.h"

namespace stoa::native::mount {
namespace {

// 65536 groups of ten digits, and the other lines.
constexpr std::size_t kStatusBytesMost = 1u << 20;
constexpr std::uint64_t kSigKillBit = std::uint64_t{1} << 8;

// The rest of the line that begins with `name`.
std::string_view line_of(std::string_view status, std::string_view name) {
  std::size_t at = 0;
  while (at < status.size()) {
    std::size_t end = status.find('\n', at);
    if (end == std::string_view::npos) end = status.size();
    const std::string_view line = status.substr(at, end - at);
    if (line.starts_with(name)) return line.substr(name.size());
    at = end + 1;
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> parse_groups(std::string_view status) {
  std::vector<std::uint32_t> groups;
  const std::string_view line = line_of(status, "Groups:");
  const char* at = line.data();
  const char* const end = line.data() + line.size();
  while (at < end) {
    std::uint32_t group = 0;
    const auto [next, error] = std::from_chars(at, end, group);
    if (error == std::errc{}) groups.push_back(group);
    at = next == at ? at + 1 : next;
  }
  return groups;
}

bool parse_killed(std::string_view status) {
  std::string_view line = line_of(status, "SigPnd:");
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  std::uint64_t pending = 0;
  std::from_chars(line.data(), line.data() + line.size(), pending, 16);
  return (pending & kSigKillBit) != 0;
}

std::optional<std::string> read_status(std::uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  const fuse::OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t got = ::read(fd.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > kStatusBytesMost) return std::nullopt;
  }
}

bool is_dying(std::uint32_t pid) {
  const auto status = read_status(pid);
  return !status || parse_killed(*status);
}

std::vector<std::uint32_t> ProcessGroups::of(std::uint32_t pid, std::uint32_t uid, std::uint32_t gid) {
  if (pid == 0) return {};
  const Key key{pid, uid, gid};
  const auto now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end() && now < found->second.until) return found->second.groups;
  }
  const auto status = read_status(pid);
  std::vector<std::uint32_t> groups = status ? parse_groups(*status) : std::vector<std::uint32_t>{};
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kEntriesMost) {
    std::erase_if(known_, [&](const auto& entry) { return entry.second.until <= now; });
    if (known_.size() >= kEntriesMost) known_.clear();
  }
  known_[key] = {groups, now + kLife};
  return groups;
}

std::size_t ProcessGroups::size() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

}  // namespace stoa::native::mount
