#include "core/inode/name_fold.h"

#include <algorithm>

#include "base/utf8.h"
#include "core/inode/name_fold_table.h"

namespace stoa::core {
namespace {

void append_character(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

std::uint32_t fold(std::uint32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code;
  const auto* const run =
      std::ranges::upper_bound(kFoldRuns, code, {}, &FoldRun::first) - 1;  // the first run begins below 0x80
  if (code > run->last || (code - run->first) % run->step != 0) return code;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(code) + run->delta);
}

bool is_plain_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80 && (c < 'A' || c > 'Z');
}

}  // namespace

std::string fold_name(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  while (!raw.empty()) {
    const Utf8Character next = first_utf8(raw);
    if (next.bytes == 0) {
      out += raw[0];
      raw.remove_prefix(1);
      continue;
    }
    append_character(out, fold(next.code));
    raw.remove_prefix(next.bytes);
  }
  return out;
}

bool is_folded(std::string_view raw) {
  auto at = std::ranges::find_if_not(raw, is_plain_ascii);
  while (at != raw.end()) {
    const Utf8Character next = first_utf8({at, raw.end()});
    if (next.bytes != 0 && fold(next.code) != next.code) return false;
    at += static_cast<std::ptrdiff_t>(std::max<std::size_t>(next.bytes, 1));
  }
  return true;
}

}  // namespace stoa::core
