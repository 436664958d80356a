#include "frontends/s3/http/uri.h"

#include <array>

namespace stoa::s3 {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::array<bool, 256> make_unreserved() {
  std::array<bool, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (const char c : {'-', '.', '_', '~'}) table[static_cast<std::size_t>(c)] = true;
  return table;
}
constexpr auto kUnreserved = make_unreserved();

// Absolute form becomes origin form.
std::string_view without_authority(std::string_view raw) {
  if (!raw.starts_with("http://") && !raw.starts_with("https://")) return raw;
  const std::size_t slash = raw.find_first_of("/?", raw.find("//") + 2);
  return slash == std::string_view::npos ? std::string_view("/") : raw.substr(slash);
}

bool parse_query(std::string_view raw, std::vector<QueryParameter>& out) {
  while (!raw.empty()) {
    const std::size_t end = raw.find('&');
    const std::string_view piece = raw.substr(0, end);
    raw = end == std::string_view::npos ? std::string_view{} : raw.substr(end + 1);
    if (piece.empty()) continue;
    if (out.size() == kQueryParametersMax) return false;
    const std::size_t equals = piece.find('=');
    auto name = percent_decode(piece.substr(0, equals), true);
    if (!name) return false;
    QueryParameter parameter{.name = std::move(*name), .value = {}, .has_value = equals != std::string_view::npos};
    if (parameter.has_value) {
      auto value = percent_decode(piece.substr(equals + 1), true);
      if (!value) return false;
      parameter.value = std::move(*value);
    }
    out.push_back(std::move(parameter));
  }
  return true;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(c == '+' && plus_is_space ? ' ' : c);
    }
  }
  return out;
}

void append_uri_encoded(std::string& out, std::string_view text, bool keep_slash) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::size_t plain = 0;  // begin of the run of unescaped characters
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (kUnreserved[byte] || (byte == '/' && keep_slash)) continue;
    out.append(text, plain, i - plain);
    const char code[] = {'%', kHex[byte >> 4], kHex[byte & 15]};
    out.append(code, sizeof code);
    plain = i + 1;
  }
  out.append(text, plain, text.size() - plain);
}

std::string uri_encode(std::string_view text, bool keep_slash) {
  std::string out;
  out.reserve(text.size() + 16);
  append_uri_encoded(out, text, keep_slash);
  return out;
}

std::string list_encode_least(std::string_view text) {
  std::string out;
  for (const char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool unfit = byte < 0x20 && c != '\t' && c != '\n' && c != '\r';
    if (unfit || c == '%' || c == '+') {
      append_uri_encoded(out, {&c, 1}, false);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

const QueryParameter* Target::find(std::string_view name) const {
  for (const QueryParameter& parameter : query) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

std::optional<std::string_view> Target::value(std::string_view name) const {
  const QueryParameter* found = find(name);
  if (found == nullptr) return std::nullopt;
  return found->value;
}

std::string_view raw_path(std::string_view raw_target) {
  const std::string_view raw = without_authority(raw_target);
  return raw.substr(0, raw.find('?'));
}

std::optional<Target> parse_target(std::string_view raw) {
  raw = without_authority(raw);
  const std::size_t mark = raw.find('?');
  auto path = percent_decode(raw.substr(0, mark), false);
  if (!path) return std::nullopt;
  Target target{.path = std::move(*path), .query = {}};
  if (target.path.empty() && mark == 0) target.path.push_back('/');
  if (target.path.empty() || target.path.front() != '/') return std::nullopt;
  if (target.path.find('\0') != std::string::npos) return std::nullopt;
  if (mark != std::string_view::npos && !parse_query(raw.substr(mark + 1), target.query)) return std::nullopt;
  return target;
}

}  // namespace stoa::s3
