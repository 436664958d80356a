#include "appliance/audit/audit_line.h"

#include <openssl/evp.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>

#include "base/utf8.h"

namespace stoa::appliance {
namespace {

constexpr std::string_view kPrevious = ",\"previous\":\"";
constexpr std::string_view kHash = ",\"hash\":\"";
constexpr std::size_t kHashDigits = 64;
constexpr std::int64_t kSecondsOfDay = 86400;

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return out;
}

// Length of the valid UTF-8 sequence at the begin of `rest`; 0: none.
std::size_t sequence_length(std::string_view rest) {
  for (std::size_t length = 1; length <= 4 && length <= rest.size(); ++length) {
    if (is_utf8(rest.substr(0, length))) return length;
  }
  return 0;
}

constexpr char kHexDigits[] = "0123456789abcdef";

bool is_plain(char c) {
  return c >= 0x20 && c != 0x7f && c != '"' && c != '\\';
}

void append_json_text(std::string& out, std::string_view value) {
  out += '"';
  if (std::ranges::all_of(value, is_plain)) {
    out.append(value).append("\"");
    return;
  }
  const bool clean = is_utf8(value);
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u == 0x7f) {
      out.append("\\u00").append(1, kHexDigits[u >> 4]).append(1, kHexDigits[u & 15]);
    } else if (u < 0x80 || clean) {
      out += c;
    } else if (const std::size_t length = sequence_length(value.substr(i)); length > 0) {
      out.append(value.substr(i, length));
      i += length - 1;
    } else {
      out.append("\xEF\xBF\xBD");
    }
  }
  out += '"';
}

void append_number(std::string& out, std::int64_t value) {
  char text[20];
  const auto [end, error] = std::to_chars(std::begin(text), std::end(text), value);
  out.append(text, end);
}

void append_user(std::string& out, std::uint32_t uid, const std::string* name) {
  out.append("{\"uid\":");
  append_number(out, uid);
  out.append(",\"name\":");
  if (name != nullptr) {
    append_json_text(out, *name);
  } else {
    out.append("null");
  }
  out += '}';
}

// `value` with this number of decimal digits. Returns the place behind them.
char* put_digits(char* at, std::uint32_t value, std::size_t digits) {
  for (std::size_t i = digits; i > 0; --i, value /= 10) at[i - 1] = static_cast<char>('0' + value % 10);
  return at + digits;
}

char* put_day(char* at, std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  at = put_digits(at, static_cast<std::uint32_t>(static_cast<int>(date.year())), 4);
  *at++ = '-';
  at = put_digits(at, static_cast<unsigned>(date.month()), 2);
  *at++ = '-';
  return put_digits(at, static_cast<unsigned>(date.day()), 2);
}

// Its context lives as long as the thread: making one costs more than hashing a line.
class Sha256 {
 public:
  Sha256() { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  // In hex.
  void of(std::string_view bytes, std::string& out) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestInit_ex(context_.get(), nullptr, nullptr);
    EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
    EVP_DigestFinal_ex(context_.get(), digest, &size);
    out.resize(std::size_t{2} * size);
    for (unsigned i = 0; i < size; ++i) {
      out[2 * i] = kHexDigits[digest[i] >> 4];
      out[2 * i + 1] = kHexDigits[digest[i] & 15];
    }
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

void hash_to(std::string_view bytes, std::string& out) {
  thread_local Sha256 hasher;
  hasher.of(bytes, out);
}

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The begin of a top-level member's value. LineWriter escapes quotation marks, so `"NAME":` is in no value;
// members of nested objects have names of their own.
std::size_t value_of(std::string_view line, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":";
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? at : at + key.size();
}

}  // namespace

std::string json_text(std::string_view value) {
  std::string out;
  append_json_text(out, value);
  return out;
}

std::string json_user(std::uint32_t uid, const std::string* name) {
  std::string out;
  append_user(out, uid, name);
  return out;
}

std::string json_bytes(std::string_view name, std::string_view value) {
  std::string text = "\"" + std::string(name) + "\":" + json_text(value);
  if (!is_utf8(value)) text.append(",\"").append(name).append("_base64\":\"").append(base64(value)).append("\"");
  return text;
}

void LineWriter::member(std::string_view name) {
  if (out_.size() > begin_ + 1) out_ += ',';
  out_.append("\"").append(name).append("\":");
}

LineWriter& LineWriter::text(std::string_view name, std::string_view value) {
  member(name);
  append_json_text(out_, value);
  return *this;
}

LineWriter& LineWriter::bytes(std::string_view name, std::string_view value) {
  text(name, value);
  if (!is_utf8(value)) text(std::string(name) + "_base64", base64(value));
  return *this;
}

LineWriter& LineWriter::number(std::string_view name, std::int64_t value) {
  member(name);
  append_number(out_, value);
  return *this;
}

LineWriter& LineWriter::json(std::string_view name, std::string_view value) {
  member(name);
  out_.append(value);
  return *this;
}

LineWriter& LineWriter::user(std::uint32_t uid, const std::string* name) {
  member("user");
  append_user(out_, uid, name);
  return *this;
}

std::string_view LineWriter::finish(std::string& previous) {
  out_.append(kPrevious).append(previous).append("\"");
  hash_to(std::string_view(out_).substr(begin_), previous);
  out_.append(kHash).append(previous).append("\"}\n");
  return std::string_view(out_).substr(begin_, out_.size() - begin_ - 1);
}

std::string sha256(std::string_view bytes) {
  std::string text;
  hash_to(bytes, text);
  return text;
}

std::optional<Chained> chain_of(std::string_view line) {
  const std::size_t tail = kPrevious.size() + kHashDigits + 1 + kHash.size() + kHashDigits + 2;
  if (!line.starts_with('{') || line.size() < tail || !line.ends_with("\"}")) return std::nullopt;
  std::string_view end = line.substr(line.size() - tail);
  if (!end.starts_with(kPrevious)) return std::nullopt;
  const std::string_view previous = end.substr(kPrevious.size(), kHashDigits);
  end.remove_prefix(kPrevious.size() + kHashDigits + 1);
  if (!end.starts_with(kHash)) return std::nullopt;
  const std::string_view hash = end.substr(kHash.size(), kHashDigits);
  if (!is_hash(previous) || !is_hash(hash)) return std::nullopt;
  return Chained{previous, hash};
}

std::optional<Chained> check_line(std::string_view line) {
  const auto chain = chain_of(line);
  if (!chain) return std::nullopt;
  const std::string_view covered = line.substr(0, line.size() - kHash.size() - kHashDigits - 2);
  return sha256(covered) == chain->hash ? chain : std::nullopt;
}

std::optional<std::uint64_t> number_of(std::string_view line, std::string_view name) {
  const std::size_t at = value_of(line, name);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

std::optional<std::string_view> text_of(std::string_view line, std::string_view name) {
  const std::size_t at = value_of(line, name);
  if (at == std::string_view::npos || at >= line.size() || line[at] != '"') return std::nullopt;
  std::size_t end = at + 1;
  while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
  if (end >= line.size()) return std::nullopt;
  return line.substr(at + 1, end - at - 1);
}

std::string iso_time(Timestamp time) {
  const std::chrono::sys_seconds at{std::chrono::seconds(time.seconds())};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const auto second = static_cast<std::uint32_t>((at - day).count());
  std::string text(kDayDigits + 20, '\0');
  char* out = put_day(text.data(), day);
  *out++ = 'T';
  out = put_digits(out, second / 3600, 2);
  *out++ = ':';
  out = put_digits(out, second / 60 % 60, 2);
  *out++ = ':';
  out = put_digits(out, second % 60, 2);
  *out++ = '.';
  out = put_digits(out, time.nanoseconds(), 9);
  *out = 'Z';
  return text;
}

std::string day_of(Timestamp time) {
  const std::chrono::sys_seconds at{std::chrono::seconds(time.seconds())};
  std::string text(kDayDigits, '\0');
  put_day(text.data(), std::chrono::floor<std::chrono::days>(at));
  return text;
}

bool is_day(std::string_view text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}

Timestamp begin_of_next_day(Timestamp time) {
  std::int64_t day = time.seconds() / kSecondsOfDay;
  return Timestamp::from((day + 1) * kSecondsOfDay, 0);
}

}  // namespace stoa::appliance
