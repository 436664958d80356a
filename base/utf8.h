// UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stoa {

bool is_utf8(std::string_view text);

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with a character
};
Utf8Character first_utf8(std::string_view text);

}  // namespace stoa
