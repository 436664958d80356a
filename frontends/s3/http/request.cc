#include "frontends/s3/http/request.h"

#include <strings.h>

#include <algorithm>

#include "frontends/s3/http/range.h"

namespace stoa::s3 {
namespace {

constexpr std::array<bool, 256> make_token_characters() {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr auto kTokenCharacters = make_token_characters();

bool is_token(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return kTokenCharacters[static_cast<unsigned char>(c)]; });
}

}  // namespace

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

bool head_is_doubtful(const Request& request) {
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t codings = 0;
  for (const Header& header : request.headers) {
    if (!is_token(header.name)) return true;
    if (equal_names(header.name, "host")) {
      ++hosts;
    } else if (equal_names(header.name, "content-length")) {
      ++lengths;
      if (!parse_decimal(header.value)) return true;
    } else if (equal_names(header.name, "transfer-encoding")) {
      ++codings;
      if (!equal_names(header.value, "chunked")) return true;
    }
  }
  return hosts > 1 || lengths + codings > 1;
}

}  // namespace stoa::s3
