// Names as POSIX protocols see them. The store keeps the raw components of keys, so that a scan of the entries is S3
// order and every legal key can be stored. Some components are no legal POSIX names, or would stand twice in one
// directory. They are shown under an alias, and can be used by it (reversible):
//
//   raw component of a key           name over a POSIX protocol
//   "." and ".."                     "%S3-DOT" and "%S3-DOTDOT"
//   "" (the key has "//")            "%S3-EMPTY"
//   contains NUL                     "%S3-HEX-" and the bytes in hex (to 120 bytes; longer: as LONG)
//   longer than 255 bytes            "%S3-LONG-", 16 hex digits of its hash, "-" ("+" beside a directory), and
//                                    its first 160 bytes (to a NUL)
//   like an alias itself             "%S3-LITERAL-" and the name (as LONG when that is too long)
//   a file `a` beside a directory    "a%S3-OBJECT" (as LONG when `a` has an alias itself, or is too long)
//
// The object whose key is a directory's name with a trailing "/" (a folder marker) is a file with the empty name in
// that directory. While it is empty, POSIX protocols do not see it: the directory itself represents it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa::core {

// The meaning of a name given by a POSIX protocol.
struct PosixName {
  std::string raw;                     // the stored component; empty when `long_prefix` is set
  bool file_beside_directory = false;  // "%S3-OBJECT": the file form of raw
  // A LONG alias names no component by itself: it means the one with this prefix and this hash.
  std::optional<std::string> long_prefix{};
  std::uint64_t long_hash = 0;
};

// kInvalid: empty, ".", "..", contains '/' or NUL, or looks like an alias that the store would never give out;
// kNameTooLong: more than 255 bytes.
Result<PosixName> parse_posix_name(std::string_view name);

// The stored component as POSIX protocols see it. `hidden_by_directory`: a file beside a directory of the same name.
std::string posix_name_of(std::string_view raw, bool hidden_by_directory);

// Whether the LONG alias means the stored component (which begins with the alias' prefix).
bool matches_long_alias(std::string_view raw, bool hidden_by_directory, const PosixName& name);

// Whether `raw` is shown unchanged.
bool is_plain_name(std::string_view raw);

}  // namespace stoa::core
