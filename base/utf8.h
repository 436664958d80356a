#pragma once

#include <string_view>

namespace stoa {

// RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace stoa
