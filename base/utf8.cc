#include "base/utf8.h"

#include <cstddef>

namespace stoa {

bool is_utf8(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto lead = static_cast<unsigned char>(s[i]);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xc2 && lead < 0xe0 ? 1
                             : (lead & 0xf0) == 0xe0       ? 2
                             : lead >= 0xf0 && lead < 0xf5 ? 3
                                                           : 4;
    if (more == 4 || i + more >= s.size()) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      const auto c = static_cast<unsigned char>(s[i + k]);
      if ((c & 0xc0) != 0x80) return false;
      if (k > 1) continue;
      if ((lead == 0xe0 && c < 0xa0) || (lead == 0xed && c > 0x9f)) return false;
      if ((lead == 0xf0 && c < 0x90) || (lead == 0xf4 && c > 0x8f)) return false;
    }
    i += more + 1;
  }
  return true;
}

}  // namespace stoa
