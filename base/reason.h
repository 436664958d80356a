// The part of an error that reports may show: health, checks, disks.
#pragma once

#include <string>

#include "base/error.h"

namespace stoa {

// The system's text, or else the word of the cause or code. Never the detail, which is for the log.
std::string reason(const Error& error);

}  // namespace stoa
