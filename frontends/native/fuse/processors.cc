#include "frontends/native/fuse/processors.h"

#include <charconv>
#include <fstream>
#include <string>

namespace stoa::native::fuse {
namespace {

constexpr std::uint32_t kProcessorsMost = 65536;  // a queue's number has 16 bits

std::vector<std::uint32_t> read_processors(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return parse_processors(line);
}

}  // namespace

std::vector<std::uint32_t> parse_processors(std::string_view list) {
  std::vector<std::uint32_t> found;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    std::uint32_t first = 0;
    auto number = std::from_chars(at, end, first);
    std::uint32_t last = first;
    if (number.ec == std::errc{} && number.ptr != end && *number.ptr == '-') {
      number = std::from_chars(number.ptr + 1, end, last);
    }
    if (number.ec != std::errc{} || last < first || last >= kProcessorsMost) return {};
    for (std::uint32_t one = first; one <= last; ++one) found.push_back(one);
    at = number.ptr;
    if (at == end) break;
    if (*at != ',' || ++at == end) return {};
  }
  return found;
}

Processors processors() {
  const auto possible = read_processors("/sys/devices/system/cpu/possible");
  return {.possible = static_cast<std::uint32_t>(possible.size()),
          .running = read_processors("/sys/devices/system/cpu/online")};
}

}  // namespace stoa::native::fuse
