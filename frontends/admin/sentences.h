// Sentences for errors: the only text about an error that leaves the server.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa::admin {

// For people, in English, without a full stop: that of the cause with its arguments, or that of the code alone, and
// the system's text for `sys_errno`. Never `detail`, never a command.
std::string sentence(const Error& error);

// The cause's word, or the code's where there is no cause. Stable.
std::string_view cause_word(const Error& error);

// With "{1}" for the first argument, and so on.
std::string_view sentence_template(Cause cause);
std::string_view sentence_template(Errc code);
// `text` with the arguments in their places; a place without an argument stays empty.
std::string fill(std::string_view text, const std::vector<std::string>& arguments);

}  // namespace stoa::admin
