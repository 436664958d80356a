// Errors as the person at a terminal reads them.
#pragma once

#include <string>

#include "base/error.h"

namespace stoa::cli {

// The sentence of the cause; without one the detail, or the code and the system's text. One line without a full stop.
std::string terminal_text(const Error& error);

// "PROGRAM: text", and in a second line the remedy of the cause, to the standard error. `from_server`: a server
// answered so, and the remedy of the code is told where there is no cause.
void complain(const char* program, const Error& error, bool from_server = false);

}  // namespace stoa::cli
