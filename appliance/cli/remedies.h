// Remedies for errors, with the commands and configuration keys that they take.
#pragma once

#include <string_view>

#include "base/error.h"

namespace stoa::cli {

// For the person at the terminal, without a full stop. Empty where the sentence says it all.
std::string_view remedy(const Error& error);
// Of a problem of the server's health, by its kind. Empty: a newer server has kinds that are not known here.
std::string_view problem_remedy(std::string_view kind);

}  // namespace stoa::cli
