#include "appliance/stores/usable_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace stoa::appliance {
namespace {

// Of control groups version 2: the line that begins with "0::".
std::string control_group(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return "/";
}

}  // namespace

std::uint64_t usable_memory(const std::string& root) {
  std::uint64_t bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  // A limit of any group above binds, too. In a container the visible root is the container's own group.
  for (std::string group = control_group(root);; group.resize(group.rfind('/'))) {
    std::uint64_t limit = 0;
    if (std::ifstream(root + "/sys/fs/cgroup" + group + "/memory.max") >> limit)
      bytes = std::min(bytes, limit);  // "max" is no number
    if (group.empty() || group == "/") return bytes;
  }
}

}  // namespace stoa::appliance
