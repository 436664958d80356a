#include "core/inode/posix_name.h"

#include <charconv>

#include "base/siphash.h"
#include "core/api/ids.h"

namespace stoa::core {
namespace {

constexpr std::string_view kEscape = "%S3-";
constexpr std::string_view kDot = "%S3-DOT";
constexpr std::string_view kDotDot = "%S3-DOTDOT";
constexpr std::string_view kEmpty = "%S3-EMPTY";
constexpr std::string_view kHex = "%S3-HEX-";
constexpr std::string_view kLong = "%S3-LONG-";
constexpr std::string_view kLiteral = "%S3-LITERAL-";
constexpr std::string_view kObject = "%S3-OBJECT";
constexpr std::size_t kHexBytesMax = 120;
constexpr std::size_t kLongPrefixBytes = 160;
constexpr std::size_t kHashDigits = 16;

std::string hex64(std::uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(kHashDigits, '0');
  for (std::size_t i = kHashDigits; i-- > 0; value >>= 4) text[i] = kDigits[value & 15];
  return text;
}

std::uint64_t hash_of(std::string_view raw, bool hidden_by_directory) {
  // A fixed key: clients remember aliases, so it must never change.
  return siphash({hidden_by_directory ? 1u : 0u, 0x53746f614e616d65}, std::as_bytes(std::span(raw)));
}

std::string long_alias(std::string_view raw, bool hidden_by_directory) {
  std::string_view prefix = raw.substr(0, kLongPrefixBytes);
  prefix = prefix.substr(0, prefix.find('\0'));
  return std::string(kLong) + hex64(hash_of(raw, hidden_by_directory)) + (hidden_by_directory ? "+" : "-") +
         std::string(prefix);
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.empty() || digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16);
    if (error != std::errc{} || end != digits.data() + i + 2) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  return bytes;
}

}  // namespace

bool is_plain_name(std::string_view raw) {
  return !raw.empty() && raw.size() <= kNameBytesMax && raw != "." && raw != ".." &&
         raw.find('\0') == std::string_view::npos && !raw.starts_with(kEscape) && !raw.ends_with(kObject);
}

std::string posix_name_of(std::string_view raw, bool hidden_by_directory) {
  // One alias on top of another would be ambiguous.
  if (hidden_by_directory && !is_plain_name(raw)) return long_alias(raw, hidden_by_directory);
  std::string name;
  if (is_plain_name(raw)) {
    name = raw;
  } else if (raw.empty()) {
    name = kEmpty;
  } else if (raw == ".") {
    name = kDot;
  } else if (raw == "..") {
    name = kDotDot;
  } else if (raw.size() > kNameBytesMax) {
    return long_alias(raw, hidden_by_directory);
  } else if (raw.find('\0') != std::string_view::npos) {
    if (raw.size() > kHexBytesMax) return long_alias(raw, hidden_by_directory);
    name = kHex;
    constexpr char kDigits[] = "0123456789abcdef";
    for (const char c : raw) {
      name += kDigits[static_cast<unsigned char>(c) >> 4];
      name += kDigits[static_cast<unsigned char>(c) & 15];
    }
  } else {
    name = std::string(kLiteral) + std::string(raw);
  }
  if (hidden_by_directory) name += kObject;
  if (name.size() > kNameBytesMax) return long_alias(raw, hidden_by_directory);
  return name;
}

Result<PosixName> parse_posix_name(std::string_view name) {
  if (name.empty() || name == "." || name == "..") return fail(Errc::kInvalid, "name");
  if (name.size() > kNameBytesMax) return fail(Errc::kNameTooLong);
  if (name.find('/') != std::string_view::npos || name.find('\0') != std::string_view::npos) {
    return fail(Errc::kInvalid, "name with '/' or NUL");
  }
  if (is_plain_name(name)) return PosixName{.raw = std::string(name)};

  PosixName parsed;
  std::string_view body = name;
  if (body.starts_with(kLong)) {
    body.remove_prefix(kLong.size());
    if (body.size() <= kHashDigits || (body[kHashDigits] != '-' && body[kHashDigits] != '+')) {
      return fail(Errc::kInvalid, "alias");
    }
    const auto [end, error] = std::from_chars(body.data(), body.data() + kHashDigits, parsed.long_hash, 16);
    if (error != std::errc{} || end != body.data() + kHashDigits) return fail(Errc::kInvalid, "alias");
    parsed.file_beside_directory = body[kHashDigits] == '+';
    parsed.long_prefix = std::string(body.substr(kHashDigits + 1));
    return parsed;
  }
  if (body.ends_with(kObject) && !body.starts_with(kEscape)) {
    parsed.file_beside_directory = true;
    body.remove_suffix(kObject.size());
  }
  if (body == kEmpty) {
    parsed.raw = "";
  } else if (body == kDot) {
    parsed.raw = ".";
  } else if (body == kDotDot) {
    parsed.raw = "..";
  } else if (body.starts_with(kHex)) {
    auto bytes = from_hex(body.substr(kHex.size()));
    if (!bytes) return fail(Errc::kInvalid, "alias");
    parsed.raw = std::move(*bytes);
  } else if (body.starts_with(kLiteral)) {
    parsed.raw = std::string(body.substr(kLiteral.size()));
  } else {
    parsed.raw = std::string(body);
  }
  // Only results of posix_name_of() are aliases; anything else would be a second name of the same file.
  if (posix_name_of(parsed.raw, parsed.file_beside_directory) != name) return fail(Errc::kInvalid, "alias");
  return parsed;
}

bool matches_long_alias(std::string_view raw, bool hidden_by_directory, const PosixName& name) {
  return hidden_by_directory == name.file_beside_directory && hash_of(raw, hidden_by_directory) == name.long_hash &&
         posix_name_of(raw, hidden_by_directory).starts_with(kLong);
}

}  // namespace stoa::core
