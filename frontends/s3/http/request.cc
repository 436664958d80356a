#include "frontends/s3/http/request.h"

#include <strings.h>

namespace stoa::s3 {

bool equal_names(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string utf8_of_latin1(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) out.push_back(static_cast<char>(0xC0 | byte >> 6));
    out.push_back(byte < 0x80 ? c : static_cast<char>(0x80 | (byte & 0x3F)));
  }
  return out;
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  for (const Header& candidate : headers) {
    if (equal_names(candidate.name, name)) return candidate.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Request::filled(std::string_view name) const {
  const auto value = header(name);
  if (!value || value->empty()) return std::nullopt;
  return value;
}

}  // namespace stoa::s3
