// The memory that the process may use: that of the machine, or less where its control group has a limit.
#pragma once

#include <cstdint>
#include <string>

namespace stoa::appliance {

// `root`: prefix of /proc and /sys, for tests.
std::uint64_t usable_memory(const std::string& root = "");

}  // namespace stoa::appliance
