#include "appliance/audit/log_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "appliance/audit/audit_line.h"

namespace stoa::appliance {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Result<std::vector<std::string>> LogFolder::days() const {
  std::vector<std::string> days;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (at->path().extension() == ".jsonl" && is_day(at->path().stem().native())) days.push_back(at->path().stem());
  }
  if (error) return fail_errno(error.value(), "the audit log in " + path);
  std::ranges::sort(days);
  return days;
}

bool LogFolder::has(std::string_view line) const {
  return text_of(line, "volume").value_or("") == volume;
}

Result<std::uint64_t> each_line(const std::string& file, std::uint64_t bytes_max,
                                const std::function<bool(std::string_view)>& line) {
  const std::unique_ptr<std::FILE, CloseFile> open(std::fopen(file.c_str(), "re"));
  if (!open) return fail_errno(errno, file);
  std::string buffer;
  std::string part(256u << 10, '\0');
  std::uint64_t left = bytes_max;
  for (;;) {
    const std::size_t got = std::fread(part.data(), 1, std::min<std::uint64_t>(part.size(), left), open.get());
    if (got == 0) {
      if (std::ferror(open.get()) != 0) return fail_errno(errno, file);
      return buffer.size();
    }
    left -= got;
    buffer.append(part, 0, got);
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = buffer.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (!line(std::string_view(buffer).substr(begin, end - begin))) return 0;
    }
    buffer.erase(0, begin);
  }
}

}  // namespace stoa::appliance
